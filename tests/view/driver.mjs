// driver.mjs - a browser, programs and pages for tests of the timeline.
// SPDX-License-Identifier: MIT
import {execFileSync, spawn} from 'node:child_process';
import {createRequire} from 'node:module';
import {createInterface} from 'node:readline';
import {resolve} from 'node:path';

export const [test, ...paths] = process.argv.slice(2);
export const [recorder, program, modules, folder] = paths.map(path =>
  resolve(path));
const {chromium} = createRequire(`${modules}/`)('playwright-core');
export const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox'], // CI runs as root
  timeout: 100000,
});
export const children = [];

export function must(is, words) {
  if (!is) throw new Error(words);
}
export function equal(is, wanted, words) {
  const text = value => JSON.stringify(value, (_, v) =>
    typeof v === 'bigint' ? `${v}n` : Object.is(v, -0) ? '-0' : v);
  must(text(is) === text(wanted),
    `${words}: is ${text(is)}, must be ${text(wanted)}`);
}

// What a page shows comes with a frame, sooner or later.
export async function soon(look, wanted, words) {
  const until = performance.now() + 100000;
  for (;;)
    try {
      return equal(await look(), wanted, words);
    } catch (error) {
      if (performance.now() > until) throw error;
      await new Promise(done => setTimeout(done, 20));
    }
}

// A child whose lines can be waited for.
export async function start(command, ...given) {
  const child = spawn(command, given, {stdio: ['pipe', 'pipe', 'inherit']});
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  children.push(child);
  child.line = async () => (await lines.next()).value;
  child.ended = new Promise(done => child.on('exit', done));
  return child;
}
export async function startProgram() {
  const child = await start(program);
  equal(await child.line(), 'ready', 'the program');
  child.more = async count => {
    child.stdin.write(`${count}\n`);
    equal(await child.line(), 'done', 'the program');
  };
  return child;
}
export function run(...given) {
  return execFileSync(recorder, given, {maxBuffer: 1e9, encoding: 'utf8'});
}
export function view(pid, ...more) {
  const file = `${folder}/view.html`;
  equal(run('view', String(pid), '-o', file, ...more), `${file}\n`, 'stdout');
  return `file://${file}`;
}
// A page that must have no error, ask for nothing and run nothing foreign.
// `before` prepares it, `during` looks at it while it loads.
export async function open(address, more = {}, during = null, before = null) {
  const page = await browser.newPage({
    viewport: {width: 1440, height: 900}, ...more});
  page.setDefaultTimeout(100000);
  page.wrong = [];
  page.asked = [];
  page.on('pageerror', error => page.wrong.push(error.stack));
  page.on('console', said => said.type() === 'error' &&
    page.wrong.push(said.text()));
  page.on('request', request => page.asked.push(request.url()));
  await before?.(page);
  const loaded = page.goto(address);
  await during?.(page);
  await loaded;
  await page.evaluate(() => window.recorder.ready);
  return page;
}
export function quiet(page) {
  equal(page.wrong, [], 'errors of the page');
}
export const text = (page, selector) => page.locator(selector).textContent();
export const countOf = page => page.evaluate(() => window.recorder.events.count);

// JSON with integers as they are: the large ones as bigint.
export function exactly(line) {
  const marked = line.replace(/"(?:[^"\\]|\\.)*"|-?[\d.]+(?:e[-+]?\d+)?/g,
    part => /^-?\d{16,}$/.test(part) ? `"@${part}"` : part);
  return JSON.parse(marked, (_, value) =>
    typeof value === 'string' && /^@-?\d{16,}$/.test(value)
      ? BigInt(value.slice(1)) : value);
}
export const dumped = pid => run('dump', '--json', String(pid)).split('\n')
  .filter(line => line).map(exactly);

// What the page has, said as `dump --json` says it.
export async function held(page) {
  const events = await page.evaluate(async () => {
    const list = [];
    for (let row = 0; row < window.recorder.events.count; row++) {
      const event = await window.recorder.eventOf(row);
      list.push(JSON.stringify(event, (key, value) =>
        typeof value === 'bigint' ? {big: String(value)}
          : typeof value === 'number' && (Object.is(value, -0) ||
            !Number.isFinite(value)) ? {real: Object.is(value, -0) ? '-0'
              : String(value)} : value));
    }
    return list;
  });
  return events.map(line => JSON.parse(line, (_, value) =>
    typeof value?.big === 'string' ? BigInt(value.big)
      : typeof value?.real === 'string' ? Number(value.real) : value));
}
// What two looks at one program measured of its clock differs by less than is
// allowed, unless the machine was busy at that very time: best of five.
export async function agree(look) {
  for (let left = 4;; left--)
    try {
      return await look();
    } catch (error) {
      if (!left || !/ns apart/.test(error.message)) throw error;
    }
}
export const REALS = new Map([['nan', NaN], ['inf', Infinity], ['-inf', -Infinity]]);
export function same(event, json) {
  const where = `event ${json.order}`;
  const number = value => value === null ? null : BigInt(value);
  equal(event.order, number(json.order), where);
  // Each reader of a running program measures anew how fast its ticks run.
  const apart = json.ns === null || event.ns === null
    ? (json.ns === event.ns ? 0n : 1000n) : event.ns - number(json.ns);
  must(apart < 1000n && apart > -1000n, `${where}: ${apart} ns apart`);
  equal(event.realtime, json.wall_ns === null ? null
    : number(json.wall_ns) + apart, `${where}, wall_ns`);
  equal(event.recorder, json.recorder, where);
  equal(event.severity, json.severity, `${where}, severity`);
  equal(event.thread.number, json.thread, `${where}, thread`);
  equal(event.thread.name, json.thread_name, `${where}, thread_name`);
  equal(event.thread.id, json.tid, `${where}, tid`);
  equal(event.location, `${json.file}:${json.line}`, `${where}, location`);
  equal(event.caller, json.caller, `${where}, caller`);
  equal(event.format, json.format, `${where}, format`);
  equal(event.message, json.message, `${where}, message`);
  equal(event.arguments.length, json.arguments.length, `${where}, arguments`);
  for (const [i, {kind, value}] of event.arguments.entries()) {
    const wanted = json.arguments[i], name = `${where}, argument ${i + 1}`;
    if (kind === 'real')
      must(Object.is(value, REALS.get(wanted) ?? Number(wanted)),
        `${name}: is ${value}, must be ${wanted}`);
    else if (kind === 'string') // the page shows the mark, JSON has a field
      equal(value, (json.may_have_changed.includes(i + 1) ? '~' : '') + wanted,
        name);
    else if (kind === 'pointer')
      equal(`0x${value.toString(16)}`, wanted, name);
    else
      equal(value, kind === 'lost' ? null : BigInt(wanted), name);
  }
}
