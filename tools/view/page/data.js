// data.js - the events: unpacked from batches (view.h) into columns.
// SPDX-License-Identifier: MIT
'use strict';

const about = JSON.parse(document.getElementById('about').textContent);
// No program ran for 146 years: a greater time is unknown or damaged.
const TIME_MAX = 0x40000000, TIME_UNKNOWN = -(1n << 63n);

// With several sources, each name begins with the source's title: "web1 T1 io".
const titled = (source, text) => about.sources
  ? `${about.sources[source].title} ${text}` : text;

// Columns by row: an event's row is its place in the order. `at` is its time in
// ns since the start as a double, NaN if unknown; `time` has the last bit, too.
const events = {
  count: 0,
  order: new BigUint64Array(0), time: new BigInt64Array(0),
  at: new Float64Array(0), thread: new Uint32Array(0), site: new Uint32Array(0),
  first: Infinity, last: -Infinity, // of all known times
};
const recorders = []; // {name, description, kept, overwritten, lost, oldest...}
const threads = [{number: 0, id: 0, name: '', label: 'T?', source: 0,
  unknown: true, shown: 'T?'}];
const threadIndex = new Map(); // by source and number
const formats = [], callers = [], sites = [];
const values = []; // to plot
const asyncKeys = new Map(); // of rows that say `>>`, `=>` or `<<`: of their id
const hiddenNames = new Set(); // of recorders, also of those to come
let leastSeverity = ''; // that is shown: "2", "hw1"; "": any, or none
// The records that were overwritten before a live page read them: their number,
// and the places of the gaps. Their recorders are unknown.
let missed = 0n, missedRoughly = ''; // '~': an estimate
const late = []; // {at, count}

function bytesOf(base64) {
  if (Uint8Array.fromBase64)
    return Uint8Array.fromBase64(base64);
  return Uint8Array.from(atob(base64), c => c.charCodeAt(0));
}
async function inflate(base64) {
  const stream = new Blob([bytesOf(base64)]).stream()
    .pipeThrough(new DecompressionStream('deflate-raw'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// Reads numbers one after the other.
class Bytes {
  constructor(bytes) {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    this.next = 0;
    this.low = this.high = 0; // of the last number, 32 bits each
  }
  // 7 bits a byte, the lowest first; any 64-bit number, in halves.
  number() {
    const bytes = this.bytes;
    let byte = bytes[this.next++], part = byte & 127, shift = 7;
    this.low = part;
    this.high = 0;
    if (byte < 128) return byte;
    for (; byte & 128; shift += 7) {
      byte = bytes[this.next++];
      part = byte & 127;
      if (shift < 28)
        this.low |= part << shift;
      else if (shift === 28) {
        this.low |= part << 28;
        this.high = part >>> 4;
      } else
        this.high |= part << (shift - 32);
    }
    return this.low >>> 0;
  }
  // The same of either sign: zigzag.
  signed() {
    this.number();
    const sign = -(this.low & 1);
    this.low = (this.low >>> 1 | this.high << 31) ^ sign;
    this.high = this.high >>> 1 ^ sign;
  }
  big() {
    return BigInt(this.high >>> 0) << 32n | BigInt(this.low >>> 0);
  }
  real() {
    this.next += 8;
    return this.view.getFloat64(this.next - 8, true);
  }
  part(size) {
    this.next += size;
    return this.bytes.subarray(this.next - size, this.next);
  }
}

// Sums of differences modulo 2^64 into the 64-bit numbers of `to`.
function readSums(bytes, to, from, count) {
  const halves = new Int32Array(to.buffer);
  let low = 0, high = 0;
  for (let i = 2 * from; i < 2 * (from + count); i += 2) {
    bytes.signed();
    low = (low >>> 0) + (bytes.low >>> 0);
    high = high + bytes.high + (low > 0xffffffff ? 1 : 0) | 0;
    low |= 0;
    halves[i] = low;
    halves[i + 1] = high;
  }
}

function grow(count) {
  if (count <= events.at.length)
    return;
  const room = Math.max(count, Math.ceil(events.at.length * 1.5));
  for (const name of ['order', 'time', 'at', 'thread', 'site']) {
    const column = new events[name].constructor(room);
    column.set(events[name]);
    events[name] = column;
  }
}

function readColumns(packed, count) {
  const bytes = new Bytes(packed), from = events.count, to = from + count;
  grow(to);
  readSums(bytes, events.order, from, count);
  readSums(bytes, events.time, from, count);
  const halves = new Int32Array(events.time.buffer);
  for (let i = from; i < to; i++) {
    const low = halves[2 * i] >>> 0, high = halves[2 * i + 1];
    const at = high >= -TIME_MAX && high < TIME_MAX ? high * 4294967296 + low
      : NaN;
    events.at[i] = at;
    if (at < events.first) events.first = at;
    if (at > events.last) events.last = at;
  }
  for (let i = from; i < to; i++)
    events.thread[i] = bytes.number();
  for (let i = from; i < to; i++)
    events.site[i] = bytes.number();
  for (let i = from; i < to; i++) {
    const key = formatOf(i).step ? bytes.number() : 0;
    if (key) asyncKeys.set(i, key);
  }
  for (const value of values) {
    const some = bytes.number(), first = value.rows.length;
    for (let i = 0, row = from; i < some; i++)
      value.rows.push(row += bytes.number());
    for (let i = 0; i < some; i++) {
      const real = bytes.real(), at = events.at[value.rows[first + i]];
      value.value.push(Number.isFinite(real) ? real : null);
      if (!(at >= (value.at.at(-1) ?? -Infinity))) value.sorted = false;
      value.at.push(at);
    }
  }
  events.count = to;
}

function readTables(batch) {
  newNames.push(...(batch.names ?? []).map(([name, of = 0]) => [name, of]));
  for (const [address, name, description, size, lanes, source = 0] of
    batch.recorders ?? [])
    recorders.push({
      number: recorders.length, address, name, description, lanes, source,
      shown: titled(source, name),
      size: Number(size), kept: 0n, overwritten: 0n, lost: 0n, gap: null,
      hidden: hiddenNames.has(name),
      log: BigInt(address) >> 63n === 1n, // lines of a text, without order
    });
  for (const [recorder, argument, name] of batch.series ?? [])
    values.push({
      recorder: recorders[recorder], argument, name, rows: [], at: [],
      value: [], sorted: true, plot: null,
    });
  for (const row of batch.figures ?? []) {
    const [i, kept, overwritten, lost, estimated, oldest, trigger, wrong] = row;
    const recorder = recorders[i];
    Object.assign(recorder, {
      kept: BigInt(kept), overwritten: BigInt(overwritten), lost: BigInt(lost),
      roughly: estimated ? '~' : '', // the mark of an estimate
      trigger, wrong,
    });
    // A record that a live page has received stays on the page.
    recorder.gap ??= {
      count: recorder.overwritten, roughly: recorder.roughly,
      end: BigInt(oldest) === TIME_UNKNOWN ? NaN : Number(oldest),
    };
  }
  for (const [i, number, id, name, source = 0, ended = 0] of
    batch.threads ?? []) {
    const label = number === null ? name : `T${number} ${name}`;
    if (threads[i] && threads[i].name !== name) forgetFolds();
    threadIndex.set(`${source} ${number}`, i);
    threads[i] = Object.assign(threads[i] ?? {},
      {row: i, number: number ?? Infinity, id, name, label, source,
        ended: ended === 1, unknown: number === null && id === 0,
        shown: titled(source, label)});
  }
  for (const [text, location, severity = null] of batch.formats ?? [])
    formats.push({
      text, location, severity, hidden: isBelow({severity}), name: location.slice(location.lastIndexOf('/') + 1),
      step: /^(>>|=>|<<)/.exec(text ?? '')?.[0] ?? null, // across threads
      opens: /^>(?!>)/.test(text ?? ''), closes: /^<(?!<)/.test(text ?? ''),
      span: spanName(text ?? ''), fields: [],
    });
  for (const [format, ...names] of batch.fields ?? [])
    formats[format].fields = names;
  for (const [address, name] of batch.callers ?? [])
    callers.push({address, name});
  for (const [recorder, format, caller] of batch.sites ?? [])
    sites.push({
      recorder: recorders[recorder], format: formats[format],
      caller: callers[caller],
    });
}

const recorderOf = row => sites[events.site[row]].recorder;
// A line of a log shows "-": it has the number of the record before it.
const orderOf = row => recorderOf(row).log ? '-' : events.order[row];
const formatOf = row => sites[events.site[row]].format;
// True if its recorder or severity is hidden, or the filter rejects it.
const isLeftOut = row => recorderOf(row).hidden || formatOf(row).hidden;
const isHidden = row => isLeftOut(row) || isUnpicked(row);

// True if a format's severity, "sw2" or null, is at least `least`, "sw1" or "1".
const severe = ({severity}, least) => !!severity &&
  severity.startsWith(least.slice(0, -1)) && severity.at(-1) >= least.at(-1);
const isBelow = format => leastSeverity !== '' && !severe(format, leastSeverity);
function setSeverity(least) {
  leastSeverity = /^(hw|sw|)[0-3]$/.test(least) ? least : '';
  for (const format of formats) format.hidden = isBelow(format);
}
// "SW2 ", as in front of a message.
const severityText = ({severity}) => severity
  ? `${severity.toUpperCase()} ` : '';

// Takes batches in. Texts stay packed until they are needed; batches of a
// running program are small, and are joined to blocks.
async function takeBatches(batches) {
  const packed = await Promise.all(batches.map(b => inflate(b.columns)));
  const unpacked = await Promise.all(batches.map(b =>
    about.live ? Promise.all(b.texts.map(inflate)) : []));
  grow(events.count + batches.reduce((sum, b) => sum + b.count, 0));
  for (const [i, batch] of batches.entries()) {
    const from = events.count;
    readTables(batch);
    if (batch.switches) readSwitches(batch.switches,
      await inflate(batch.switches.slices));
    readColumns(packed[i], batch.count);
    const [gone, estimated] = batch.missed;
    if (BigInt(gone) > missed)
      late.push({
        at: batch.count ? events.at[from] : events.last,
        count: BigInt(gone) - missed,
      });
    missed = BigInt(gone);
    missedRoughly = estimated ? '~' : '';
    if (about.live)
      joinTexts(unpacked[i], from);
    else
      for (const [k, text] of batch.texts.entries()) {
        const first = from + k * about.block;
        blocks.push({
          first, count: Math.min(about.block, events.count - first),
          packed: text, messages: null, bytes: null, loading: null,
        });
      }
  }
}

// --------------------------------------------------------------------- text --

// Messages and arguments by block of events, in order. The last ones used stay
// unpacked.
const blocks = [], BLOCKS_UNPACKED = 48, used = new Set();
const utf8 = new TextDecoder();

function blockOf(row) {
  let low = 0, high = blocks.length - 1;
  while (low < high) {
    const middle = low + high + 1 >> 1;
    if (blocks[middle].first <= row) low = middle;
    else high = middle - 1;
  }
  return blocks[low];
}

function unpackText(bytes) {
  const from = new Bytes(bytes), size = from.number();
  const messages = utf8.decode(from.part(size)).split('\n');
  messages.pop();
  return {messages, bytes: bytes.subarray(from.next)};
}

async function load(block) {
  if (block.messages) {
    if (block.packed) { // used last
      used.delete(block);
      used.add(block);
    }
    return block;
  }
  block.loading ??= inflate(block.packed).then(bytes => {
    Object.assign(block, unpackText(bytes));
    block.loading = null;
    used.add(block);
    for (const old of used) {
      if (used.size <= BLOCKS_UNPACKED) break;
      used.delete(old);
      old.messages = old.bytes = null;
    }
  });
  await block.loading;
  return block;
}

function joinTexts(texts, from) {
  for (const text of texts) {
    const {messages, bytes} = unpackText(text), last = blocks.at(-1);
    if (last && last.count + messages.length <= about.block) {
      const joined = new Uint8Array(last.bytes.length + bytes.length);
      joined.set(last.bytes);
      joined.set(bytes, last.bytes.length);
      last.bytes = joined;
      last.count += messages.length;
      for (const message of messages)
        last.messages.push(message);
    } else
      blocks.push({
        first: from, count: messages.length, packed: null, messages, bytes,
        loading: null,
      });
    from += messages.length;
  }
}

// The message, or null while it is unpacked; `later` is called afterwards.
function message(row, later) {
  const block = blockOf(row);
  if (block.messages)
    return block.messages[row - block.first];
  load(block).then(later);
  return null;
}

// The arguments: their kinds as in view.h, and their values, exact.
const KINDS = ['signed', 'unsigned', 'real', 'character', 'string', 'pointer',
  'lost', 'changed'];
function readArguments(from) {
  const list = [];
  for (let left = from.number(); left > 0; left--) {
    const kind = KINDS[from.number()];
    let value = null;
    if (kind === 'signed' || kind === 'character') {
      from.signed();
      value = BigInt.asIntN(64, from.big());
    } else if (kind === 'unsigned' || kind === 'pointer') {
      from.number();
      value = from.big();
    } else if (kind === 'real')
      value = from.real();
    else if (kind === 'string' || kind === 'changed') {
      const plain = utf8.decode(from.part(from.number()));
      list.push({kind: 'string', value: kind === 'changed' ? `~${plain}` : plain,
        plain});
      continue;
    }
    list.push({kind, value});
  }
  return list;
}
function skipArguments(from) {
  for (let left = from.number(); left > 0; left--) {
    const kind = from.number();
    if (kind === 2)
      from.next += 8;
    else if (kind === 4 || kind === 7)
      from.part(from.number());
    else if (kind !== 6)
      from.number();
  }
}
function argumentsOf(block, row) {
  const from = new Bytes(block.bytes);
  for (let at = block.first; at < row; at++) skipArguments(from);
  return readArguments(from);
}

// All that is known of an event.
async function eventOf(row) {
  const block = await load(blockOf(row));
  const {recorder, format, caller} = sites[events.site[row]];
  const timed = events.time[row] !== TIME_UNKNOWN;
  return {
    order: recorder.log ? null : events.order[row],
    ns: timed ? events.time[row] : null,
    realtime: timed && about.start !== '0'
      ? BigInt(about.start) + events.time[row] : null,
    thread: threads[events.thread[row]], recorder: recorder.name,
    severity: format.severity,
    message: block.messages[row - block.first], format: format.text,
    location: format.location, caller: caller.address, function: caller.name,
    arguments: argumentsOf(block, row),
  };
}

// --------------------------------------------------------------------- time --

// "1.000234567" of a row, exact.
function seconds(row) {
  if (events.time[row] === TIME_UNKNOWN)
    return '?';
  const ns = events.time[row], size = ns < 0n ? -ns : ns;
  const digits = String(size).padStart(10, '0');
  return `${ns < 0n ? '-' : ''}${digits.slice(0, -9)}.${digits.slice(-9)}`;
}
// "1.234 ms" of a duration in ns.
function duration(ns) {
  const size = Math.abs(ns);
  const [unit, of] = size < 1e3 ? ['ns', 1] : size < 1e6 ? ['\u00b5s', 1e3]
    : size < 1e9 ? ['ms', 1e6] : ['s', 1e9];
  return `${(ns / of).toFixed(of === 1 ? 0 : 3)} ${unit}`;
}
