// filter.js - the filter: --where and --grep, parsed and matched as the command
// does (tools/reader/filters.h).
// SPDX-License-Identifier: MIT
'use strict';

// -------------------------------------------------------------------- parse --

const CLASSES = {alpha: 'a-zA-Z', upper: 'A-Z', lower: 'a-z', digit: '0-9',
  alnum: 'a-zA-Z0-9', xdigit: '0-9a-fA-F', space: '\\s', blank: ' \\t',
  punct: '!-/:-@[-`{-~', print: ' -~', graph: '!-~', cntrl: '\\0-\\x1f\\x7f'};
// The inside of a bracket expression of POSIX: a backslash is literal there.
function bracketOf(text, from) {
  let at = from + 1, out = '[';
  if (text[at] === '^') out += text[at++];
  for (const first = at; at === first || text[at] !== ']';) {
    const named = /^\[:(\w+):\]/.exec(text.slice(at));
    if (at >= text.length) throw new Error('Unmatched [');
    if (named && !CLASSES[named[1]])
      throw new Error('Invalid character class name');
    out += named ? CLASSES[named[1]].replace(/[[`]/g, '\\$&')
      : '\\[]^'.includes(text[at]) ? `\\${text[at]}` : text[at];
    at += named ? named[0].length : 1;
  }
  return [`${out}]`, at + 1];
}
// An extended expression of POSIX as one of JavaScript.
function extended(text) {
  let out = '';
  for (let at = 0; at < text.length;) {
    const c = text[at], next = text[at + 1];
    if (c === '[') {
      const [inside, end] = bracketOf(text, at);
      out += inside;
      at = end;
    } else if (c === '\\') {
      if (next === undefined) throw new Error('Trailing backslash');
      out += '<>'.includes(next) ? '\\b' : /[wWsSbB1-9]/.test(next)
        ? `\\${next}` : /\w/.test(next) ? next : `\\${next}`;
      at += 2;
    } else {
      if (c === '(' && next === '?')
        throw new Error('Invalid preceding regular expression');
      out += c;
      at++;
    }
  }
  return out;
}
// Letters match either case, unless one is a capital.
const wordsOf = text => new RegExp(extended(text),
  /[A-Z]/.test(text.replace(/\\./gs, '')) ? 's' : 'is');

const MOST = (1n << 64n) - 1n;
const NUMBER = new RegExp('^([+-]?)(?:(inf(?:inity)?|nan)|0[xX]([\\da-fA-F]+)|' +
  '((?:\\d+\\.?\\d*|\\.\\d+)(?:[eE][+-]?\\d+)?)([kMG]?))');
const TOO_LARGE = 'the number is too large, or is none: whole ones have at ' +
  'most 64 bits, others 60 digits and 1.7e308';
const NO_UNIT =
  'unknown unit: a number may have k, M or G; a text that begins ' +
  'with a digit is written in quotes';
// "1500", 1 and 3 of "1.5e3": 1500n; null: it has a fraction.
function wholeOf(digits, exponent) {
  const [head, tail = ''] = digits.split('.');
  const power = exponent - tail.length, whole = BigInt(head + tail);
  if (power >= 0) return whole * 10n ** BigInt(Math.min(power, 400));
  const part = 10n ** BigInt(Math.min(-power, 999));
  return whole % part ? null : whole / part;
}
// "1000", "-5", "0x1f", "1.5", "10k": {real, integer}; null: no number; a text:
// what is wrong.
function numberOf(text) {
  const digit = /^[+-]?\d/.test(text), found = NUMBER.exec(text);
  if (!found) return digit ? TOO_LARGE : null;
  const [all, sign, word, hex, decimal, unit] = found;
  const negative = sign === '-', rest = text.slice(all.length);
  let integer = null, real = NaN;
  if (word) {
    real = word[0] === 'i' ? Infinity : NaN;
  } else if (hex) {
    integer = BigInt(`0x${hex}`);
    real = Number(integer);
    if (integer > MOST) return TOO_LARGE;
  } else {
    const [digits, power = '0'] = decimal.split(/e/i);
    const exponent = Number(power) + 3 * ' kMG'.indexOf(unit || ' ');
    real = Number(`${digits}e${exponent}`);
    integer = wholeOf(digits, exponent);
    const plain = /^\d+$/.test(decimal) && !unit;
    if (digits.replace('.', '').length > 60 || real === Infinity ||
        plain && integer > MOST) return TOO_LARGE;
    if (integer > MOST) integer = null;
  }
  if (rest) return digit && /^[a-z]+$/i.test(rest) ? NO_UNIT : null;
  return {real: negative ? -real : real,
    integer: integer !== null && negative ? -integer : integer};
}

const IS = 'it should be FIELD OP VALUE: the name that a format gives an ' +
  'argument or its place, 1 to 12; > < >= <= = != & or ~; a number or a text; ' +
  'or "TEXT" or a severity; triggers have COUNTxTIME and after=TIME, too';
// Quoted text: [text, rest].
function readQuoted(text, wrong) {
  const quote = text[0];
  const quoted = new RegExp(`^${quote}((?:\\\\[\\\\${quote}]|[^${quote}])*)${
    quote}`, 's').exec(text);
  if (!quoted) throw new Error(wrong);
  return [quoted[1].replace(new RegExp(`\\\\([\\\\${quote}])`, 'g'), '$1'),
    text.slice(quoted[0].length)];
}
const FIELD = /^([A-Za-z0-9_]*) *(>=|<=|==|=~|!=|[><=&~])? */;
// FIELD OP VALUE, "TEXT" or a severity: [test, rest].
function readTest(text) {
  const [head, field, as] = FIELD.exec(text), part = text.slice(0, 40);
  const how = {'==': '=', '=~': '~'}[as] ?? as;
  const place = /^\d/.test(field);
  const severity = /^(?:[hs]w)?[0-3](?:,(?:[hs]w)?[0-3])*(?=\s|$)/i.exec(text);
  if (text[0] === '"') {
    const [begins, more] = readQuoted(text,
      `${part}: the text has no end, or is the second`);
    return [{begins}, more.trimStart()];
  }
  if (!how && severity && /^[hs]/i.test(text))
    return [{severities: severity[0].toLowerCase().split(',')},
      text.slice(severity[0].length).trimStart()];
  if (!field || !how || place && !/^([1-9]|1[0-2])$/.test(field.replace(/^0+/,
    ''))) throw new Error(`${part || 'nothing'}: ${IS}`);
  let rest = text.slice(head.length), value, number = null;
  const quoted = /^["']/.test(rest);
  if (quoted) {
    [value, rest] = readQuoted(rest, `${part}: a quote has no end`);
  } else {
    [value] = /^\S*/.exec(rest);
    rest = rest.slice(value.length);
    number = numberOf(value);
    if (typeof number === 'string') throw new Error(`${part}: ${number}`);
  }
  const test = {field: place ? null : field, place: place ? field - 1 : -1,
    how, text: value, number,
    regex: how === '~' ? wordsOf(value) : null};
  if (how !== '~' && !number && (/^[<>&]/.test(how) || !value && !quoted))
    throw new Error(`${part}: is compared with no number`);
  if (how === '&' && number.integer === null)
    throw new Error(`${part}: & takes an integer`);
  return [test, rest.trimStart()];
}
// Where names of recorders end: at the last ':' in front of a condition.
function namesEnd(text) {
  let found = -1;
  for (let at = 0; at < text.length && !/["'<>=&~]/.test(text[at]); at++)
    if (text[at] === ':' &&
        (text[at + 1] === ' ' || found < 0 || text[at + 1] !== ']'))
      found = at;
  return found;
}
function readWhere(text) {
  const end = namesEnd(text), tests = [];
  const names = end < 0 ? null
    : new RegExp(`^(?:${extended(text.slice(0, end).trimEnd())})$`, 'i');
  let rest = text.slice(end + 1).trimStart();
  do {
    if (tests.length === 8)
      throw new Error('at most 8 arguments are compared');
    const [test, more] = readTest(rest);
    tests.push(test);
    rest = more;
  } while (rest);
  return {names, tests};
}
// Words as a shell makes them.
function shellWords(text) {
  const words = [];
  for (const [word] of text.matchAll(
    /(?:'[^']*'|"(?:\\.|[^"\\])*"|\\.|[^\s'"\\])+|\S/gs))
    words.push(word.replace(/'([^']*)'|"((?:\\.|[^"\\])*)"|\\(.)/gs,
      (_, plain, quoted, one) => plain ?? one ??
        quoted.replace(/\\(["\\$`])/g, '$1')));
  return words;
}
// "net: bytes>1000", or "--where 'net: bytes>1000' --grep 'timed? out'".
function readFilter(text) {
  const filter = {greps: [], wheres: []};
  if (!/^\s*--?\w/.test(text)) {
    filter.wheres.push(readWhere(text.trim()));
    return filter;
  }
  const words = shellWords(text);
  while (words.length) {
    const [, option, given] = /^--(where|grep)(?:=(.*))?$/s
      .exec(words.shift()) ?? [];
    const value = given ?? words.shift();
    if (!option || value === undefined)
      throw new Error('it should be a condition, net: bytes>1000, or ' +
        '--where CONDITION and --grep REGEX');
    if (option === 'grep') filter.greps.push(wordsOf(value));
    else filter.wheres.push(readWhere(value));
  }
  return filter;
}

// -------------------------------------------------------------------- match --

function textMeets({how, text, regex}, plain) {
  return how === '~' ? regex.test(plain)
    : /^!?=$/.test(how) && (plain === text) === (how === '=');
}
function numberMeets(test, {kind, value}) {
  const {how, number} = test;
  if (!number || how === '~') return false;
  if (how === '&')
    return kind !== 'real' && (BigInt.asUintN(64, value) &
      BigInt.asUintN(64, number.integer)) !== 0n;
  const is = kind === 'real' ? Number(value) : value; // a BigInt: exact
  const than = kind === 'real' ? number.real : number.integer ?? number.real;
  switch (how) {
  case '>': return is > than;
  case '<': return is < than;
  case '>=': return is >= than;
  case '<=': return is <= than;
  case '=': return is == than;
  default: return is != than;
  }
}
function meets(test, argument) {
  if (!argument || argument.kind === 'lost') return false;
  if (argument.kind === 'string') return textMeets(test, argument.plain);
  if (argument.kind === 'character' && (!test.number || test.how === '~'))
    return textMeets(test, String.fromCharCode(Number(argument.value & 0xffn)));
  return numberMeets(test, argument);
}

// The events that the filter wants. `flags`: by row; null: all.
const picked = {text: '', filter: null, flags: null, upTo: 0, count: 0, run: 0};
const isUnpicked = row => picked.flags !== null && !picked.flags[row];

// The conditions of each site's events: lists of [place, test].
function planFor({recorder, format}) {
  return picked.filter.wheres.filter(({names}) => !names ||
    recorder.name.length < 64 && names.test(recorder.name.split(' of ')[0]))
    .filter(({tests}) => tests.every(({begins, severities}) =>
      (begins === undefined || format.text?.startsWith(begins)) &&
      (!severities || severities.some(least => severe(format, least)))))
    .map(({tests}) => tests.filter(({how}) => how)
      .map(test => [test.field === null ? test.place
        : format.fields.indexOf(test.field), test]))
    .filter(tests => tests.every(([place]) => place >= 0));
}
// Looks at the events of a block that is unpacked, from a row on.
function pickBlock(block, plans, from) {
  const {greps, wheres} = picked.filter, {flags} = picked;
  const bytes = wheres.length ? new Bytes(block.bytes) : null;
  for (let i = 0; i < block.messages.length; i++) {
    const row = block.first + i, plan = plans[events.site[row]];
    const wanted = row >= from && plan.length > 0;
    const list = bytes && (wanted ? readArguments(bytes) : skipArguments(bytes));
    flags[row] = (!bytes || wanted && plan.some(tests =>
      tests.every(([place, test]) => meets(test, list[place])))) &&
      greps.every(regex => regex.test(block.messages[i])) ? 1 : 0;
    if (row >= from) picked.count += flags[row];
  }
}
function plansNow() {
  return picked.filter.wheres.length ? sites.map(planFor) : sites.map(() => [1]);
}
function roomForFlags(flags) {
  if (flags.length >= events.count) return flags;
  const more = new Uint8Array(Math.ceil(events.count * 1.25));
  more.set(flags);
  return more;
}
// Filters the events of the last batch, whose texts are unpacked.
function pickMore() {
  if (!picked.flags) return;
  const plans = plansNow();
  picked.flags = roomForFlags(picked.flags);
  while (picked.upTo < events.count) {
    const block = blockOf(picked.upTo);
    pickBlock(block, plans, picked.upTo);
    picked.upTo = block.first + block.messages.length;
  }
  showPicked();
}
// Filters block by block, so that the page stays alive, and shows the result at
// the end. Blocks without a site that could match stay packed.
async function pick(text) {
  const run = ++picked.run;
  Object.assign(picked, {text, flags: null, upTo: 0, count: 0,
    filter: parsed($('filter'), text, () => text.trim() ? readFilter(text) : null)});
  remember();
  if (!picked.filter) {
    recordersChanged();
    showPicked();
    return;
  }
  const filter = picked.filter;
  let flags = new Uint8Array(events.count), shown = performance.now(), upTo = 0;
  let count = 0;
  while (upTo < events.count) {
    const block = blockOf(upTo), plans = plansNow();
    const end = block.first + block.count;
    flags = roomForFlags(flags);
    if (events.site.subarray(upTo, end).some(site => plans[site].length)) {
      await load(block);
      if (run !== picked.run) return;
      Object.assign(picked, {flags, count});
      pickBlock(block, plans, upTo);
      ({count} = picked);
      picked.flags = null; // not before all are known
    }
    upTo = end;
    if (performance.now() - shown > 100) {
      showPicked(upTo / events.count);
      await new Promise(done => setTimeout(done));
      if (run !== picked.run) return;
      shown = performance.now();
    }
  }
  Object.assign(picked, {filter, flags, count, upTo});
  recordersChanged();
  showPicked();
}
function showPicked(part) {
  const {validity, validationMessage} = $('filter');
  $('filtered').textContent = !validity.valid ? validationMessage
    : part !== undefined ? `${Math.round(part * 100)} %`
      : picked.flags ? `${group(picked.count)} of ${group(events.count)}` : '';
}
