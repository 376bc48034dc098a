// drive.mjs - drives the timeline in Chromium, as its users do.
// SPDX-License-Identifier: MIT
//
//     node drive.mjs TEST RECORDER PROGRAM MODULES FOLDER
//
// TEST is one of the functions below; PROGRAM is tests/programs/view.c; MODULES
// holds playwright-core; FOLDER is for what the test writes. Exit status 0:
// what it promises is so.
import {execFileSync, spawn} from 'node:child_process';
import {createRequire} from 'node:module';
import {connect} from 'node:net';
import {createInterface} from 'node:readline';
import {mkdirSync, renameSync, statSync} from 'node:fs';
import {resolve} from 'node:path';

const [test, ...paths] = process.argv.slice(2);
const [recorder, program, modules, folder] = paths.map(path => resolve(path));
const {chromium} = createRequire(`${modules}/`)('playwright-core');
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox'], // CI runs as root
  timeout: 100000,
});
const children = [];

function must(is, words) {
  if (!is) throw new Error(words);
}
function equal(is, wanted, words) {
  const text = value => JSON.stringify(value, (_, v) =>
    typeof v === 'bigint' ? `${v}n` : Object.is(v, -0) ? '-0' : v);
  must(text(is) === text(wanted),
    `${words}: is ${text(is)}, must be ${text(wanted)}`);
}

// What a page shows comes with a frame, sooner or later.
async function soon(look, wanted, words) {
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
async function start(command, ...given) {
  const child = spawn(command, given, {stdio: ['pipe', 'pipe', 'inherit']});
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  children.push(child);
  child.line = async () => (await lines.next()).value;
  child.ended = new Promise(done => child.on('exit', done));
  return child;
}
async function startProgram() {
  const child = await start(program);
  equal(await child.line(), 'ready', 'the program');
  child.more = async count => {
    child.stdin.write(`${count}\n`);
    equal(await child.line(), 'done', 'the program');
  };
  return child;
}
function run(...given) {
  return execFileSync(recorder, given, {maxBuffer: 1e9, encoding: 'utf8'});
}
function view(pid, ...more) {
  const file = `${folder}/view.html`;
  equal(run('view', String(pid), '-o', file, ...more), `${file}\n`, 'stdout');
  return `file://${file}`;
}
// A page that must have no error, ask for nothing and run nothing foreign.
async function open(address, more = {}) {
  const page = await browser.newPage({
    viewport: {width: 1440, height: 900}, ...more});
  page.setDefaultTimeout(100000);
  page.wrong = [];
  page.asked = [];
  page.on('pageerror', error => page.wrong.push(error.stack));
  page.on('console', said => said.type() === 'error' &&
    page.wrong.push(said.text()));
  page.on('request', request => page.asked.push(request.url()));
  await page.goto(address);
  await page.evaluate(() => window.recorder.ready);
  return page;
}
function quiet(page) {
  equal(page.wrong, [], 'errors of the page');
}
const text = (page, selector) => page.locator(selector).textContent();
const countOf = page => page.evaluate(() => window.recorder.events.count);

// JSON with integers as they stand: the large ones as bigint.
function exactly(line) {
  const marked = line.replace(/"(?:[^"\\]|\\.)*"|-?[\d.]+(?:e[-+]?\d+)?/g,
    part => /^-?\d{16,}$/.test(part) ? `"@${part}"` : part);
  return JSON.parse(marked, (_, value) =>
    typeof value === 'string' && /^@-?\d{16,}$/.test(value)
      ? BigInt(value.slice(1)) : value);
}
const dumped = pid => run('dump', '--json', String(pid)).split('\n')
  .filter(line => line).map(exactly);

// What the page has, said as `dump --json` says it.
async function held(page) {
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
async function agree(look) {
  for (let left = 4;; left--)
    try {
      return await look();
    } catch (error) {
      if (!left || !/ns apart/.test(error.message)) throw error;
    }
}
const REALS = new Map([['nan', NaN], ['inf', Infinity], ['-inf', -Infinity]]);
function same(event, json) {
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
      equal(value, (json.may_have_changed.includes(i) ? '~' : '') + wanted,
        name);
    else if (kind === 'pointer')
      equal(`0x${value.toString(16)}`, wanted, name);
    else
      equal(value, kind === 'lost' ? null : BigInt(wanted), name);
  }
}

const tests = {
  async round_trip() {
    const {pid} = await startProgram();
    await agree(async () => {
      const page = await open(view(pid));
      const events = await held(page), json = dumped(pid);
      equal(events.length, json.length, 'events');
      must(json.length > 600, `only ${json.length} events`);
      events.forEach((event, i) => same(event, json[i]));
      quiet(page);
    });
  },

  // PROGRAM is a recording of programs/switches.c: strips and processors add up
  // to what `recorder switches` says, and are drawn where they were.
  async switches() {
    const page = await open(view(program));
    const table = run('switches', '--json', program).split('\n')
      .filter(line => line).map(line => JSON.parse(line));
    const {threads, cpus, tops} = await page.evaluate(() => {
      const {strips, processors, threads, layout, stateAt, toX} =
        window.recorder;
      const sum = ({begin, end}) => end.reduce((all, e, i) =>
        all + e - begin[i], 0);
      const sums = slices => Object.fromEntries(Object.entries(slices)
        .map(([state, list]) => [state, sum(list)]));
      return {
        threads: [...strips].map(([row, slices]) => ({
          label: threads[row].label, ...sums(slices)})),
        cpus: processors.map(cpu => cpu && {
          runs: sum(cpu.runs), idle: sum(cpu.idle), off: sum(cpu.off),
          levels: cpu.levels.map(sum)}),
        tops: layout().filter(l => l.lane).map(({lane, top, height}) => ({
          label: lane.thing.label ?? lane.thing.name, top, height,
          tips: [25000, 50000, 70000].map(ns => stateAt(toX(ns),
            30 + top + (lane.levels ? 10 : height - 3)))})),
      };
    });
    const sorted = list => list.sort((a, b) => a.id - b.id);
    equal(sorted(table.filter(row => 'thread' in row)).map(row =>
      [row.running_ns, row.ready_ns, row.blocked_ns]),
    ['sensor 1', 'encoder', 'sensor 3'].map(label => {
      const found = threads.find(thread => thread.label === label);
      return [found.running, found.ready, found.blocked];
    }), 'strips');
    const [cpu] = table.filter(row => 'cpu' in row);
    equal(cpus[0].runs, cpu.threads_ns, 'runs of CPU 0');
    equal(cpus[0].idle, cpu.idle_ns, 'its sleeps');
    equal(cpus[0].off, cpu.off_ns, 'its time without interrupts');
    equal(cpus[0].levels, [6000, 1000], 'its interrupts, nested');
    equal(tops.slice(0, 2).map(({label}) => label), ['CPU 0', 'T1 it'],
      'lanes');
    equal(tops[0].tips, ['CPU 0: encoder, 20.000 \u00b5s',
      'CPU 0: sensor 1, 20.000 \u00b5s',
      'CPU 0: encoder, 20.000 \u00b5s\nasleep, 20.000 \u00b5s'], 'tips');
    const lane = tops.find(({label}) => label === 'encoder');
    equal(lane.tips, ['encoder: running, 20.000 \u00b5s',
      'encoder: ready, 20.000 \u00b5s', 'encoder: running, 20.000 \u00b5s'],
    'tips of a strip');
    // Where it runs the middle of the strip is full, else it is not.
    const ink = await page.evaluate(([top, height]) =>
      [10000, 30000, 50000, 70000].map(ns => {
        const x = Math.round(window.recorder.toX(ns));
        const data = document.getElementById('canvas').getContext('2d')
          .getImageData(x - 20, 30 + top + height - 6 + 2, 40, 1).data;
        const first = data.slice(0, 3).join();
        return Array.from({length: 40}, (_, i) =>
          data.slice(4 * i, 4 * i + 3).join()).filter(c => c === first).length;
      }), [lane.top, lane.height]);
    equal([ink[0], ink[1], ink[3]], [40, 40, 40], 'even parts of the strip');
    must(ink[2] < 40, 'the ready part is not hatched');
    quiet(page);
  },

  // PROGRAM is what `recorder run` recorded of programs/run_plugin.c: a bar for
  // the wait of a thread, and an arrow to its end from who unlocked.
  async waits() {
    const page = await open(view(program));
    const waits = dumped(program).filter(e => e.recorder === 'lock_wait');
    const begin = waits.find(e => e.message.startsWith('>mutex'));
    const end = waits.find(e => e.message.startsWith('<mutex'));
    const from = Number(end.arguments[2].value ?? end.arguments[2]);
    must(from > 0 && from !== end.thread, `by T${from}: ${end.message}`);
    // On a busy machine other threads wait, too.
    const look = () => page.evaluate(order => window.recorder.releases
      .map(a => ({order: String(window.recorder.events.order[a.row]),
        from: a.from, down: a.top < a.y}))
      .filter(a => a.order === order), String(end.order));
    await soon(look, [{order: String(end.order), from, down: true}], 'arrows');
    const {shaft, bar, back, colours} = await page.evaluate(([b, e]) => {
      const {releases, toX, layout, events} = window.recorder;
      const context = document.getElementById('canvas').getContext('2d');
      const pixel = (x, y) => context.getImageData(x, y, 1, 1).data.slice(0, 3)
        .join();
      const row = order => events.order.indexOf(BigInt(order));
      const arrow = releases.find(a => a.row === row(e));
      const middle = (events.at[row(b)] + events.at[row(e)]) / 2;
      const probe = document.createElement('canvas').getContext('2d');
      const css = getComputedStyle(document.documentElement);
      const dark = css.getPropertyValue('--dark').trim() === '1';
      const painted = colour => {
        probe.fillStyle = colour;
        probe.fillRect(0, 0, 1, 1);
        return probe.getImageData(0, 0, 1, 1).data.slice(0, 3).join();
      };
      return {
        shaft: pixel(arrow.x, (arrow.top + arrow.y) / 2),
        bar: pixel(Math.round(toX(middle)), arrow.y + 4),
        back: pixel(Math.round(toX(middle)) , arrow.y - 20),
        colours: [painted(css.getPropertyValue('--text').trim()),
          painted(dark ? 'hsl(4 62% 64%)' : 'hsl(4 68% 41%)')],
      };
    }, [String(begin.order), String(end.order)]);
    equal([shaft, bar], colours, 'colours of arrow and bar');
    must(back !== bar, 'nothing tells the bar');
    // Zoomed out until the wait is a point, there is none.
    await page.evaluate(() => window.recorder.show(-1e12, 1e12));
    await soon(look, [], 'arrows of points');
    quiet(page);
  },

  // Nothing that was recorded is taken for HTML or script; nothing is loaded.
  async hostile() {
    const {pid} = await startProgram(), address = view(pid);
    const page = await open(address);
    equal(page.asked.filter(url => !url.startsWith('data:')), [address],
      'requests');
    must(/^program \((\d+)\) at 20\d\d-\d\d-\d\d \d\d:\d\d:\d\d UTC \u2013 recorder$/
      .exec(await page.title())?.[1] === String(pid), await page.title());
    const elements = await page.evaluate(() => [
      document.querySelectorAll('script').length - document.querySelectorAll(
        'script.batch').length, document.querySelectorAll('b').length]);
    equal(elements, [3, 0], 'scripts, elements from a format');
    for (let row = 0; row < 14; row++) {
      await page.evaluate(i => window.recorder.select(i), row);
      const {message} = await page.evaluate(async i =>
        ({message: (await window.recorder.eventOf(i)).message}), row);
      await page.waitForFunction(wanted => document.querySelector(
        '#record .message')?.textContent === wanted, message);
    }
    const button = page.locator('#recorders button', {hasText: 'disk'});
    must((await button.getAttribute('title'))
      .includes('</script><b>&amp;"\''), 'the description');
    const foreign = await page.evaluate(async () => {
      const script = document.createElement('script');
      script.textContent = 'window.foreign = true';
      document.body.append(script);
      return [Boolean(window.foreign),
        await fetch('http://127.0.0.1:9/').catch(() => 'refused')];
    });
    equal(foreign, [false, 'refused'], 'the content security policy');
    // A name of a file that would end scripts and titles.
    execFileSync('gcore', ['-o', `${folder}/core`, String(pid)],
      {stdio: 'ignore'});
    const name = `${folder}/</title><b>"'&</script><b>.core`;
    mkdirSync(`${folder}/</title><b>"'&<`, {recursive: true});
    renameSync(`${folder}/core.${pid}`, name);
    const named = await open(view(name));
    const title = await named.title();
    must(title.startsWith(`program (${name}) at 20`)
      && / UTC, read at 20.* UTC \u2013 recorder$/.test(title), title);
    equal(await text(named, '#source'), name, 'name');
    equal(await named.locator('b').count(), 0, 'elements from a name');
    quiet(named);
  },

  // Spans from thread to thread have a lane and arrows; the table has all names
  // of what is in view, as `recorder spans` counts them. PROGRAM: the id of
  // a process of async.c.
  async spans_by_name() {
    const pid = program.replace(/.*\//, ''), page = await open(view(pid));
    const said = () => run('spans', '--json', pid).split('\n')
      .filter(line => line).map(line => JSON.parse(line));
    const wanted = said().filter(({count}) => count)
      .map(s => [`${s.recorder}: ${s.span}${s.by_id ? ' (by id)' : ''}`,
        s.count, s.total_ns, s.median_ns, s.p99_ns, s.longest_ns,
        s.longest_order]);
    const drawn = () => page.evaluate(() => window.recorder.spansInView()
      .map(s => [`${s.recorder.name}: ${s.name}${s.byId ? ' (by id)' : ''}`,
        s.count, s.total, s.median, s.most, s.longest,
        Number(window.recorder.events.order[s.row])]));
    // Two looks at a process: its clock's rate is a little more exact in the
    // second.
    const shown = await drawn();
    const isTime = column => column >= 2 && column <= 5;
    equal(shown.map((s, i) => s.map((x, j) => isTime(j)
      && Math.abs(x - wanted[i]?.[j]) < 100 ? wanted[i][j] : x)),
    wanted, 'spans in view');
    await page.locator('#show-spans').click();
    equal(await page.locator('#spans tbody tr').count(), wanted.length,
      'lines of the table');
    equal((await page.locator('#spans tbody th button').allTextContents()),
      wanted.map(([name]) => name), 'names in the table');
    must(/^[\u2581-\u2588 ]+$/.test(await text(page,
      '#spans tbody tr >> nth=0 >> td.histogram')), 'a histogram');
    await page.locator('#spans tbody button').first().click();
    equal(await page.evaluate(() => Number(window.recorder.events.order[
      window.recorder.view.selected])), wanted[0][6], 'the longest');
    const lanes = await page.evaluate(() => window.recorder.asyncLanes
      .map(({thing, spans}) => [thing.label,
        spans.reduce((sum, {open}) => sum + open.count, 0)]));
    equal(lanes, [['net: request', 4], ['net: named', 1]], 'lanes by id');
    const arrows = await page.evaluate(() => {
      const {arrows: {from, to}, events, threads} = window.recorder;
      const thread = row => threads[events.thread[row]].name;
      return [...from.list.subarray(0, from.count)].map((row, i) =>
        `${thread(row)} ${thread(to.list[i])}`);
    });
    const sorts = list => list.reduce((sum, name) =>
      ({...sum, [name]: (sum[name] ?? 0) + 1}), {});
    equal(sorts(arrows), {'client server': 4, 'server server': 3,
      'client client': 2}, 'arrows');
    await page.evaluate(() => window.recorder.select([...Array(
      window.recorder.events.count).keys()].find(row => window.recorder.sites[
      window.recorder.events.site[row]].format.text.startsWith('=>'))));
    await page.locator('#show-spans').click();
    await soon(() => page.locator('#record dt').allTextContents()
      .then(names => names.filter(name => /^arg|bytes/.test(name))),
    ['argument 1', 'argument 2', 'bytes'], 'names of arguments');
    await page.locator('#show-spans').click();
    // Less in view: fewer spans; the thread that ended ends what it left open.
    await page.evaluate(() => {
      const {recorder} = window, {events} = recorder;
      recorder.show(events.last - 1, events.last + 1);
    });
    equal(await drawn(), [], 'spans at the end');
    await soon(() => text(page, '#spans caption'), 'No span in view', 'table');
    const open_end = await page.evaluate(() => {
      const {recorder} = window;
      const {lane} = recorder.layout().find(l =>
        l.lane?.thing.name === 'server');
      return [lane.thing.ended, lane.open.length,
        lane.last < recorder.events.last];
    });
    equal(open_end, [true, 1, true], 'what an ended thread left open');
    quiet(page);
  },

  // A '<' closes the last span of its thread and recorder, and those within.
  async spans() {
    const {pid} = await startProgram(), page = await open(view(pid));
    const wanted = [], open_by = new Map();
    for (const {order, thread, recorder: of, format} of dumped(pid)) {
      const spans = open_by.get(thread) ?? [];
      open_by.set(thread, spans);
      const last = spans.findLastIndex(span => span.of === of);
      if (format.startsWith('>'))
        spans.push({order, of});
      else if (format.startsWith('<') && last >= 0)
        spans.splice(last).forEach((span, i) =>
          wanted.push([thread, last + i, span.order, order]));
    }
    const left = [...open_by].flatMap(([thread, spans]) =>
      spans.map(({order}, depth) => [thread, depth, order]));
    const [drawn, still] = await page.evaluate(() => {
      const {recorder} = window, closed = [], not = [];
      const order = row => Number(recorder.events.order[row]);
      for (const {lane} of recorder.layout()) {
        for (const [depth, {open, close}] of lane?.spans.entries() ?? [])
          for (let i = 0; i < open.count; i++)
            closed.push([lane.thing.number, depth, order(open.list[i]),
              order(close.list[i])]);
        lane?.open.forEach((row, depth) =>
          not.push([lane.thing.number, depth, order(row)]));
      }
      return [closed, not];
    });
    const sorted = list => list.sort((a, b) => a[0] - b[0] || a[2] - b[2]);
    must(wanted.length === 2 * (100 + 34 + 2), `${wanted.length} spans`);
    equal(sorted(drawn), sorted(wanted), 'spans');
    equal(sorted(still), sorted(left), 'spans that are open');
    equal(left.length, 3, 'spans that are open');
    quiet(page);
  },

  // Selecting by mouse and keys, in the timeline and in the table.
  async click() {
    const {pid} = await startProgram(), page = await open(view(pid));
    const at = await page.evaluate(() => {
      const {recorder} = window, row = recorder.events.count - 1;
      const line = recorder.layout().find(l => l.lane?.thing.name === 'main');
      return {x: recorder.toX(recorder.events.at[row]), y: 30 + line.top + 15,
        order: String(recorder.events.order[row])};
    });
    const box = await page.locator('#canvas').boundingBox();
    await page.mouse.click(box.x + at.x, box.y + at.y);
    await page.waitForSelector('#record .message');
    equal(await text(page, '#record dd >> nth=0'), at.order, 'clicked order');
    equal(await text(page, '#record .message'), '>wait for input', 'message');
    must((await text(page, '#record')).includes('not closed'), 'an open span');
    await soon(() => text(page, '#rows .selected span >> nth=5'),
      '>wait for input', 'the table follows');
    await page.keyboard.press('ArrowUp');
    await page.waitForFunction(() => document.querySelector('#record .message')
      .textContent === '>never closed');
    await page.getByLabel('previous event of this thread').click();
    await page.waitForFunction(() => document.querySelector('#record .message')
      .textContent === '< nothing');
    await page.getByLabel('previous event of this recorder').click();
    await page.waitForFunction(() => document.querySelector('#record .message')
      .textContent === '>inner, closed with outer');
    must(/s, from order \d+ to \d+/.test(await text(page, '#record')),
      'how long the span took');
    await page.locator('#rows .row').nth(1).click();
    await page.waitForFunction(() => document.querySelectorAll('#rows .row')[1]
      .classList.contains('selected'));
    equal(await text(page, '#rows .selected span >> nth=0'),
      await page.evaluate(() => String(window.recorder.events.order[
        window.recorder.view.selected])), 'the row that was clicked');
    quiet(page);
  },

  async zoom() {
    const {pid} = await startProgram(), page = await open(view(pid));
    const seen = () => page.evaluate(() =>
      [window.recorder.view.from, window.recorder.view.to]);
    const span = ([from, to]) => to - from;
    const box = await page.locator('#canvas').boundingBox();
    const whole = await seen();
    await page.mouse.move(box.x + 700, box.y + 60);
    const under = view => view[0] + span(view) * (700 - 208) / (1440 - 208);
    await page.mouse.wheel(0, -400);
    await page.waitForFunction(w => window.recorder.view.to -
      window.recorder.view.from < 0.5 * w, span(whole));
    const near = await seen();
    must(Math.abs(under(near) - under(whole)) < span(whole) / 1000,
      'the wheel keeps what is under it in place');
    await page.keyboard.press('d');
    const right = await seen();
    must(right[0] > near[0] && Math.abs(span(right) - span(near)) < 1,
      'D moves on in time');
    await page.keyboard.press('a');
    await page.keyboard.press('w');
    must(span(await seen()) < span(near), 'W zooms in');
    await page.keyboard.press('s');
    await page.mouse.down();
    await page.mouse.move(box.x + 600, box.y + 60, {steps: 5});
    await page.mouse.up();
    const dragged = await seen();
    must(Math.abs(dragged[0] - near[0] - span(near) * 100 / 1232) <
      span(near) * 0.01, `dragged from ${near} to ${dragged}`);
    await page.waitForFunction(from => { // at the next frame
      const {table, events} = window.recorder, {row} = table.lines[0];
      return row >= 0 && (events.at[row] >= from || // or there are too few
        table.lines.some(line => line.row === events.count - 1));
    }, dragged[0]);
    await page.keyboard.press('0');
    equal(await seen(), whole, '0 shows everything');
    await page.keyboard.down('Shift');
    await page.mouse.move(box.x + 300, box.y + 60);
    await page.mouse.down();
    await page.mouse.move(box.x + 1400, box.y + 60, {steps: 4});
    await page.mouse.up();
    await page.keyboard.up('Shift');
    const wanted = await page.evaluate(() => {
      const {from, to} = window.recorder.view.measure;
      const at = window.recorder.events.at;
      return [...at.subarray(0, window.recorder.events.count)]
        .filter(ns => ns >= from && ns < to).length;
    });
    await page.waitForFunction(n => document.getElementById('status')
      .textContent.replace(/\u2009/g, '').includes(`, ${n} events`), wanted);
    quiet(page);
  },

  async search() {
    const {pid} = await startProgram(), page = await open(view(pid));
    const wanted = dumped(pid).filter(e => /job 1\d of/i.test(e.message));
    must(wanted.length === 20, `${wanted.length} hits`);
    await page.keyboard.press('/');
    await page.keyboard.type('JOB 1\\d of'.toLowerCase());
    await page.waitForFunction(() => document.getElementById('hits')
      .textContent === '20 hits');
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => document.getElementById('hits')
      .textContent === '1 of 20 hits');
    await page.keyboard.press('Escape');
    for (const [key, place] of [['n', 1], ['n', 2], ['Shift+N', 1],
      ['Shift+N', 0], ['Shift+N', 19], ['n', 0]]) {
      await page.keyboard.press(key);
      equal(await page.evaluate(() => Number(window.recorder.events.order[
        window.recorder.view.selected])), wanted[place].order, `after ${key}`);
    }
    const marked = await page.evaluate(() => window.recorder.layout()
      .filter(l => l.lane).reduce((sum, l) => sum + l.lane.hits.count, 0));
    equal(marked, 40, 'marks, in lanes of threads and of recorders');
    await page.evaluate(() => window.recorder.find('JOB'));
    await page.waitForFunction(() => document.getElementById('hits')
      .textContent === '0 hits');
    await page.evaluate(() => window.recorder.find('('));
    equal(await text(page, '#hits'), 'no regular expression', 'a wrong one');
    quiet(page);
  },

  async severity() {
    const {pid} = await startProgram();
    let page = await open(view(pid));
    const json = dumped(pid), box = page.locator('#severity');
    const shown = p => p.evaluate(() => {
      const {recorder} = window, orders = [];
      for (let row = 0; row < recorder.events.count; row++)
        if (!recorder.isHidden(row))
          orders.push(Number(recorder.events.order[row]));
      return orders;
    });
    const marks = level => page.evaluate(l => window.recorder.layout()
      .filter(({lane}) => lane)
      .reduce((sum, {lane}) => sum + lane.severe[l].count, 0), level);
    for (const [least, is] of [['', () => true], ['0', s => s],
      ['2', s => s?.[2] >= '2'], ['3', s => s?.[2] === '3'],
      ['hw1', s => s?.startsWith('hw') && s[2] >= '1'],
      ['sw0', s => s?.startsWith('sw')], ['hw3', () => false],
      ['sw2', s => s?.startsWith('sw') && s[2] >= '2']]) {
      await box.selectOption(least);
      const wanted = json.filter(e => is(e.severity)).map(e => e.order);
      equal(await shown(page), wanted, `from ${least} up`);
      must(least !== '2' || wanted.length === 4, `${wanted.length} are severe`);
      for (const level of ['2', '3']) // each in two lanes
        equal(await marks(level), 2 * json.filter(e => is(e.severity) &&
          e.severity?.[2] === level).length, `marks of ${level}, ${least}`);
    }
    const rows = page.locator('#rows .row:visible');
    await soon(() => rows.count(), 2, 'lines of the table');
    equal(await rows.last().getAttribute('class'), 'row severity3', 'its line');
    must((await rows.last().textContent()).includes('SW3 bad '), 'its text');
    equal(await rows.last().locator('span').last().evaluate(e =>
      getComputedStyle(e).color), 'rgb(179, 38, 30)', 'its colour');
    await rows.last().click();
    await page.waitForFunction(() => document.getElementById('record')
      .textContent.includes('severitysw3'));
    await page.waitForFunction(() => location.hash.includes('v=sw2'));
    page = await open(page.url());
    equal((await shown(page)).length, 2, 'by the link');
    equal(await page.locator('#severity').inputValue(), 'sw2', 'its box');
    page = await open(view(pid, '--severity', 'hw2,sw3'));
    equal(await shown(page), json.filter(e => ['hw2', 'sw3'].includes(
      e.severity)).map(e => e.order), 'by --severity');
    page = await open(view(pid, '--names', 'net'));
    equal(await page.locator('#severity').isVisible(), false, 'of none');
    quiet(page);
  },

  async link() {
    const {pid} = await startProgram(), address = view(pid);
    const low = {viewport: {width: 1440, height: 420}}; // lanes do not fit
    const page = await open(address, low);
    await page.locator('#recorders button', {hasText: 'hostile'}).click();
    await page.evaluate(() => {
      const {recorder} = window, {first, last} = recorder.events;
      recorder.select(20); // which is not in view below
      recorder.show(first + (last - first) * 0.4, first + (last - first) * 0.9);
      recorder.find('seek|</b>&"');
    });
    await page.keyboard.press('e');
    const before = await page.evaluate(() => window.recorder.link());
    await page.waitForFunction(l => location.hash === l, before);
    const again = await open(page.url(), low);
    const times = p => p.evaluate(() =>
      [window.recorder.view.from, window.recorder.view.to]);
    const state = p => p.evaluate(() => [window.recorder.view.selected,
      document.getElementById('search').value, window.recorder.hits.list.length,
      window.recorder.recorders.map(r => r.hidden),
      Math.round(window.recorder.view.scrolled)]);
    must((await state(page)).at(-1) > 0, 'E scrolls the lanes');
    for (const p of [page, again])
      await p.waitForFunction(() => window.recorder.search.searched ===
        window.recorder.events.count);
    await again.waitForFunction(n => window.recorder.hits.list.length === n,
      await page.evaluate(() => window.recorder.hits.list.length));
    equal(await state(again), await state(page), 'what the link holds');
    const [was, is] = [await times(page), await times(again)];
    must(Math.abs(was[0] - is[0]) < 0.01 && Math.abs(was[1] - is[1]) < 0.01,
      `${was} became ${is}`);
    equal(await again.evaluate(() => window.recorder.link()), before, 'link');
    for (const broken of ['#t=5,1&s=99999999999999999999&h=%zz,,net&q=%',
      '#t=NaN,Infinity&s=-1&l=', '#&&==&t']) {
      const hurt = await open(`${address}${broken}`);
      must(await countOf(hurt) > 600, 'a broken link');
      quiet(hurt);
    }
    quiet(page);
    quiet(again);
  },

  // All that the mouse does to see things, but for the tip.
  async keys() {
    const {pid} = await startProgram(), page = await open(view(pid));
    const {keyboard} = page;
    for (const key of ['/', 'j', 'o', 'b', ' ', '7', 'Enter'])
      await keyboard.press(key);
    await page.waitForFunction(() => window.recorder.view.selected >= 0);
    await keyboard.press('Escape');
    for (let i = 0; i < 12; i++)
      await keyboard.press('w');
    const at = () => page.evaluate(() =>
      window.recorder.events.at[window.recorder.view.selected]);
    const from = await at(), seen = await page.evaluate(() =>
      [window.recorder.view.from, window.recorder.view.to]);
    must(seen[0] <= from && seen[1] >= from, 'W keeps the selected in view');
    await keyboard.press('m');
    await keyboard.press('n');
    equal(await page.evaluate(() => [window.recorder.view.measure.from,
      window.recorder.view.measure.to]), [from, await at()], 'M measures');
    await page.waitForFunction(() => document.getElementById('status')
      .textContent.includes('\u0394'));
    await keyboard.press('Escape');
    equal(await page.evaluate(() => [window.recorder.view.measure,
      window.recorder.view.selected]), [null, -1], 'Escape forgets');
    for (const [key, row] of [['End', await countOf(page) - 1], ['Home', 0]]) {
      await keyboard.press(key);
      equal(await page.evaluate(() => window.recorder.view.selected), row, key);
      await keyboard.press('Escape');
    }
    await keyboard.press('?');
    await page.locator('#help').getByText('Keys and mouse').waitFor();
    await keyboard.press('Escape');
    await page.locator('#help').waitFor({state: 'hidden'});
    // From button to button; each shows that it has the focus.
    for (const name of ['Threads', 'disk']) {
      for (let i = 0; i < 20; i++) {
        await keyboard.press('Tab');
        if (await page.evaluate(() => document.activeElement.textContent) ===
          name) break;
      }
      const [style, pressed] = await page.evaluate(() => {
        const {activeElement: it} = document;
        return [getComputedStyle(it).outlineStyle, it.ariaPressed];
      });
      equal([style, pressed], ['solid', 'true'], `the button ${name}`);
      await keyboard.press('Space');
      equal(await page.evaluate(() => document.activeElement.ariaPressed),
        'false', `Space on ${name}`);
    }
    equal(await page.evaluate(() => window.recorder.layout()
      .some(l => l.lane?.thing.name === 'disk')), false, 'a hidden recorder');
    quiet(page);
  },

  // Everything can be reached in a window of half a screen, or less.
  async narrow() {
    const {pid} = await startProgram(), address = view(pid);
    for (const [width, height] of [[600, 700], [420, 500], [900, 600]]) {
      const page = await open(address);
      const bar = await page.locator('#divider').boundingBox();
      await page.mouse.move(bar.x + 200, bar.y + 9);
      await page.mouse.down();
      await page.mouse.move(bar.x + 200, bar.y + 300); // much for the lanes
      await page.mouse.up();
      await page.setViewportSize({width, height});
      await page.evaluate(() => window.recorder.select(20));
      await page.waitForSelector('#record .message');
      await soon(() => page.evaluate(() => {
        const list = [], boxOf = it => it.getBoundingClientRect();
        for (const it of document.querySelectorAll(
          'header button, #search, #canvas, #table, #record, #divider')) {
          const box = boxOf(it);
          if (box.left < 0 || box.right > innerWidth + 1 ||
              box.bottom > innerHeight + 1)
            list.push(`${it.id} is outside`);
        }
        const [table, record] = ['table', 'record'].map(id =>
          boxOf(document.getElementById(id)));
        if (table.right > record.left + 1 && table.bottom > record.top + 1)
          list.push('the record covers the table');
        if (record.height < 40 || table.height < 60)
          list.push(`heights ${record.height} ${table.height}`);
        return list;
      }), [], `at ${width} x ${height}`);
      quiet(page);
      await page.close();
    }
  },

  // Overwritten records are a hatched gap before the oldest that is kept.
  async gaps() {
    const {pid} = await startProgram();
    const page = await open(view(pid, '--value', 'net:1=bytes',
      '--value', 'disk:2=load'));
    const net = await page.evaluate(() => {
      const {recorder} = window;
      const {gap, kept} = recorder.recorders.find(r => r.name === 'net');
      const line = recorder.layout().find(l => l.lane?.thing.name === 'net');
      const first = recorder.events.at[line.lane.rows.list[0]];
      const coloursOf = ({top}) => {
        const {data} = document.getElementById('canvas').getContext('2d')
          .getImageData(0, 30 + top + 5, 1440, 1);
        const colours = new Set();
        for (let x = 212; x < recorder.toX(gap.end) - 130; x++)
          colours.add(data.slice(4 * x, 4 * x + 3).join());
        return colours.size;
      };
      const quiet = recorder.layout().find(l => l.lane?.thing.name === 'quiet');
      return {count: String(gap.count), kept: String(kept), end: gap.end, first,
        colours: [coloursOf(line), coloursOf(quiet)],
        lane: line.lane.rows.count};
    });
    const listed = run('list', '--json', String(pid)).trim().split('\n')
      .map(exactly).find(r => r.recorder === 'net');
    equal([net.count, net.kept], [String(listed.overwritten),
      String(listed.kept)], 'figures of net');
    must(Number(net.count) > 0 && net.end === net.first && net.lane === 64,
      `the gap of ${JSON.stringify(net)} ends at the oldest record`);
    must(net.colours[0] > 1 && net.colours[1] === 1, 'the gap is hatched');
    const values = await page.evaluate(() => window.recorder.values.map(v =>
      [v.name, v.rows.map(row => String(window.recorder.events.order[row])),
        v.value]));
    for (const [name, of, i] of [['bytes', 'net', 0], ['load', 'disk', 1]]) {
      const wanted = dumped(pid).filter(e => e.recorder === of)
        .filter(e => typeof e.arguments[i] === 'number');
      const value = values.find(v => v[0] === name);
      equal(value[1], wanted.map(e => String(e.order)), `${name}, orders`);
      equal(value[2], wanted.map(e => e.arguments[i]), `${name}, values`);
    }
    await page.waitForSelector('#plots .uplot');
    quiet(page);
  },

  // Threads that wait for work, and the kernel's rings: a strip below each, a
  // lane for each processor, and both grow. What is in them programs/view_live.py
  // compares with the records.
  async live_switches() {
    process.env.RECORDER_SWITCHES = '64';
    const child = await startProgram();
    if (run('dump', String(child.pid), '--json', '-e', 'cpu') === '')
      return; // this machine lets nobody see them
    const server = await start(recorder, 'view', '--live', '--no-open',
      String(child.pid));
    const page = await open(await server.line());
    const look = () => page.evaluate(() => {
      const {strips, processors, layout} = window.recorder;
      return {
        ends: [...strips.values()].map(s => Math.max(0, ...s.running.end)),
        sorted: [...strips.values()].every(s => Object.values(s).every(
          ({begin, end}) => begin.every((b, i) => b <= end[i] &&
            (i === 0 || b >= end[i - 1])))),
        runs: processors.reduce((sum, cpu) => sum + cpu.runs.begin.length, 0),
        lanes: layout().filter(l => l.lane && l.lane.levels).length,
      };
    });
    for (let i = 0, before; i < 3; i++) {
      await child.more(300);
      await page.waitForFunction(most => [...window.recorder.strips.values()]
        .some(s => s.running.end.at(-1) > most),
      before ? Math.max(...before.ends) : 0);
      const now = await look();
      must(now.sorted, 'slices of a state do not overlap');
      must(now.lanes >= 1, 'a lane for each processor that ran something');
      must(!before || now.runs > before.runs, 'more runs come');
      before = now;
    }
    await page.evaluate(() => window.recorder.show(
      window.recorder.events.first, window.recorder.events.last));
    quiet(page);
  },

  async live() {
    const child = await startProgram();
    const server = await start(recorder, 'view', '--live', '--no-open',
      String(child.pid));
    const address = await server.line();
    must(/^http:\/\/127\.0\.0\.1:\d+\/[0-9a-f]{32}\/$/.test(address), address);
    const pages = [await open(address), await open(address)];
    const total = dumped(child.pid).length;
    for (const page of pages)
      await page.waitForFunction(n => window.recorder.events.count === n,
        total);
    await hold(address);
    for (const [i, n] of [30, 1, 2000].entries()) {
      await pages[1].evaluate(k => k === 1 && window.recorder.show(
        window.recorder.events.first, window.recorder.events.first + 1000), i);
      const before = await pages[1].evaluate(() => window.recorder.view.from);
      await child.more(n);
      const last = BigInt(dumped(child.pid).at(-1).order);
      for (const page of pages)
        await page.waitForFunction(order => {
          const {events} = window.recorder;
          return events.order[events.count - 1] === order;
        }, last);
      const [follows, stays] = await Promise.all(pages.map(page =>
        page.evaluate(() => Promise.resolve(window.recorder.taking).then(() => [
          window.recorder.view.to >= window.recorder.events.last,
          window.recorder.view.from]))));
      must(follows[0], 'a page follows the newest event');
      must(i === 0 || stays[1] === before, 'but not one that was moved away');
    }
    // The link of a live page, too, holds what is shown.
    await pages[0].locator('#recorders button', {hasText: 'job'}).click();
    await pages[0].waitForFunction(() => location.hash === '#h=job');
    pages.push(await open(pages[0].url()));
    await pages[2].waitForFunction(() => window.recorder.events.count > 0 &&
      window.recorder.recorders.every(r => r.hidden === (r.name === 'job')));
    // What both have of the last records is what the rings hold.
    for (const page of pages.slice(0, 2)) {
      const all = await held(page);
      await agree(() => {
        const json = dumped(child.pid).slice(-50);
        all.slice(-50).forEach((event, i) => same(event, json[i]));
      });
      const missed = await page.evaluate(() => Number(window.recorder.missed));
      const came = all.filter(({message: m}) => / of 2000$/.test(m)).length;
      must(missed > 0 && came + missed === 2000, `${came} came, ${
        missed} were overwritten before they could be read, of 2000`);
    }
    must(await pages[0].evaluate(() => {
      const {late, missed, events} = window.recorder;
      return late.every(({at}) => at > events.first && at <= events.last) &&
        late.reduce((sum, {count: n}) => sum + n, 0n) === missed;
    }), 'and it is marked where');
    child.stdin.end();
    await child.ended;
    for (const page of pages)
      await page.waitForFunction(() => document.getElementById('live')
        .textContent.includes('program') && document.getElementById('live')
        .dataset.state === 'off');
    equal(await server.ended, 0, 'the server ends with the program');
    pages.forEach(quiet);
  },

  // An event without a time is in the table, not on the timeline.
  async timeless() {
    const {pid} = await startProgram(), json = dumped(pid);
    const unknown = json.findIndex(e => e.ns === null);
    must(unknown >= 0 && json.some(e => e.ns !== null), 'times of both kinds');
    const page = await agree(async () => {
      const one = await open(view(pid)), events = await held(one);
      equal(events.length, json.length, 'events');
      dumped(pid).forEach((e, i) => same(events[i], e));
      return one;
    });
    const shown = await page.evaluate(() => window.recorder.layout()
      .reduce((sum, l) => sum + (l.lane?.rows.count ?? 0), 0));
    equal(shown, 2 * json.filter(e => e.ns !== null).length, 'in lanes');
    await page.evaluate(row => window.recorder.select(row), unknown);
    await page.waitForSelector('#record .message');
    must((await text(page, '#record')).includes('timeunknown'), 'the record');
    await soon(() => text(page, '#rows .selected span >> nth=1'), '?',
      'the table');
    await page.keyboard.press('w');
    await page.keyboard.press('0');
    quiet(page);
  },

  async million() {
    const {pid} = await startProgram();
    const begun = performance.now();
    const address = view(pid, '--value', 'alpha:1=request');
    const wrote = performance.now() - begun;
    const {size} = statSync(`${folder}/view.html`);
    // The targets are 1 s and 33 ms. Twice as much is no failure; a busy or slow
    // machine gets more, as much as a small page needs more there in the same
    // minute; best of five.
    const blank = await browser.newPage({viewport: {width: 1440, height: 900}});
    let page, ready = Infinity, ready_limit = 2000;
    for (let i = 0; i < 5 && ready > ready_limit; i++) {
      await page?.close();
      const loop = await blank.evaluate(count);
      page = await open(address);
      ready = Math.min(ready, await page.evaluate(() =>
        performance.getEntriesByName('recorder-ready')[0].startTime));
      ready_limit = Math.min(20000, Math.max(ready_limit, 40 * loop));
    }
    must(await countOf(page) > 999000, `${await countOf(page)} events`);
    const frames = {}, frame_limits = {};
    for (const part of [1, 0.1, 0.01, 0.0001]) {
      frames[part] = Infinity;
      frame_limits[part] = 66;
      for (let i = 0; i < 5 && frames[part] > frame_limits[part]; i++) {
        await blank.bringToFront();
        const least = await blank.evaluate(draw);
        await page.bringToFront();
        frames[part] = Math.min(frames[part], await page.evaluate(pan, part));
        frame_limits[part] = Math.max(frame_limits[part], 3 * least);
      }
    }
    const searched = await page.evaluate(async () => {
      const from = performance.now();
      window.recorder.find('key .*7$');
      while (window.recorder.search.searched < window.recorder.events.count)
        await new Promise(done => setTimeout(done, 5));
      return performance.now() - from;
    });
    console.log(`a million events: written in ${(wrote / 1e3).toFixed(1)} s, ${
      (size / 1e6).toFixed(1)} MB, ready in ${ready.toFixed(0)} ms, ${
      searched.toFixed(0)} ms to search it; a panned frame (median) of all ${
      frames[1].toFixed(1)} ms, 10% ${frames[0.1].toFixed(1)} ms, 1% ${
      frames[0.01].toFixed(1)} ms, 0.01% ${frames[0.0001].toFixed(1)} ms`);
    must(size < 25e6, `${size} bytes`);
    must(ready <= ready_limit, `ready after ${ready} ms, not ${ready_limit}`);
    for (const part in frames)
      must(frames[part] <= frame_limits[part], `a frame of ${part} takes ${
        frames[part]} ms, not ${frame_limits[part]}`);
    quiet(page);
    // A link of a live page waits for all that was there before.
    const server = await start(recorder, 'view', '--live', '--no-open',
      String(pid));
    const [middle, order] = await page.evaluate(() => {
      const {events} = window.recorder, half = events.count >> 1;
      return [Math.round(events.at[half]), String(events.order[half])];
    });
    const live = await open(`${await server.line()}#t=${middle - 5000},${
      middle + 5000}&s=${order}`);
    await live.waitForFunction(() => window.recorder.events.count > 999000 &&
      !window.recorder.taking);
    equal(await live.evaluate(() => {
      const {from, to, selected} = window.recorder.view;
      return [Math.round(from), Math.round(to),
        String(window.recorder.events.order[selected])];
    }), [middle - 5000, middle + 5000, order], 'what the live page shows');
    quiet(live);
  },

  // Of tests/programs/picture.c; kept as docs/view.png.
  async screenshot() {
    const {pid} = await startProgram();
    const page = await open(view(pid, '--value', 'pool:1=KiB in use'), {
      viewport: {width: 1280, height: 800},
      colorScheme: process.env.SCHEME ?? 'light'});
    await page.evaluate(async () => {
      const {recorder} = window, {first, last, count} = recorder.events;
      recorder.find('orders');
      const size = last - first;
      recorder.show(first + size * 0.38, first + size * 0.9);
      for (let row = count - 1; row > 0; row--) {
        const {message} = await recorder.eventOf(row);
        if (recorder.events.at[row] > first + (last - first) * 0.8 ||
            !message.startsWith('> read')) continue;
        recorder.select(row);
        break;
      }
    });
    await page.waitForSelector('#record ol');
    await page.waitForFunction(() =>
      window.recorder.search.searched === window.recorder.events.count);
    const file = `${folder}/view.png`;
    await page.waitForTimeout(300);
    await page.screenshot({path: file});
    const {size} = statSync(file);
    must(size > 20000 && size < 300000, `${size} bytes`);
    quiet(page);
  },
};

// In a page: how long it takes to count, once that is compiled: a tenth of a
// second on a processor where a million events are ready in one.
function count() {
  let begun, sum = 0;
  for (let round = 0; round < 14; round++) {
    if (round === 4) begun = performance.now();
    for (let i = 0; i < 2e7; i++)
      sum = sum + i * i | 0;
  }
  return sum === 1 ? 0 : performance.now() - begun;
}
// In a page: the median of 40 frames, or of those of 5 s, in which it draws a
// little, or moves what a timeline shows of a part of its time.
async function draw() {
  const canvas = document.createElement('canvas');
  const pen = canvas.getContext('2d'), list = [];
  [canvas.width, canvas.height] = [1440, 500];
  document.body.append(canvas);
  for (let i = 0, from = performance.now(), now = from; i < 40 &&
      now - from < 5000; i++) {
    pen.clearRect(0, 0, 1440, 500);
    for (let k = 0; k < 500; k++)
      pen.fillRect((k * 37 + i * 5) % 1440, k, 20, 10);
    const before = now;
    await new Promise(requestAnimationFrame);
    now = performance.now();
    if (i > 2) list.push(now - before);
  }
  canvas.remove();
  return list.sort((a, b) => a - b)[list.length >> 1];
}
async function pan(of) {
  const {recorder} = window, {first, last} = recorder.events, list = [];
  recorder.show(first, first + (last - first) * of);
  for (let i = 0, from = performance.now(), now = from; i < 40 &&
      now - from < 5000; i++) {
    recorder.pan(i % 20 < 10 ? 0.05 : -0.05);
    const before = now;
    await new Promise(requestAnimationFrame);
    now = performance.now();
    if (i > 2) list.push(now - before);
  }
  return list.sort((a, b) => a - b)[list.length >> 1];
}

// Requests that nobody should send: each is refused, none holds up the others.
async function hold(address) {
  const {hostname, port, pathname} = new URL(address);
  const ask = (request, wait = true) => new Promise((done, failed) => {
    const socket = connect(Number(port), hostname, () => socket.write(request));
    let got = '';
    socket.on('error', failed);
    socket.on('data', data => got += data);
    socket.on('close', () => done(got.split('\r\n')[0]));
    if (!wait) {
      sockets.push(socket);
      socket.on('connect', () => done(''));
    }
  });
  const sockets = [];
  const get = (path, host = `${hostname}:${port}`, method = 'GET') =>
    `${method} ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`;
  for (const [request, wanted] of [
    [get(pathname), '200 OK'],
    [get('/'), '403 Forbidden'],
    [get(`/${'0'.repeat(32)}/`), '403 Forbidden'],
    [get(`${pathname.slice(0, -2)}/`), '403 Forbidden'],
    [get('/favicon.ico'), '403 Forbidden'],
    [get(`${pathname}../../etc/passwd`), '404 Not Found'],
    [get(pathname, 'evil.example'), '403 Forbidden'],
    [get(pathname, `evil.example:${port}`), '403 Forbidden'],
    [get(pathname, hostname), '403 Forbidden'],
    [`GET ${pathname} HTTP/1.1\r\nX: y\r\n\r\n`, '403 Forbidden'],
    [get(pathname, undefined, 'POST'), '405 Method Not Allowed'],
    ['\r\n\r\n', '400 Bad Request'],
    ['GET\r\n\r\n', '400 Bad Request'],
    [`GET ${pathname}\r\n\r\n`, '400 Bad Request'],
    [`GET ${pathname}\0 HTTP/1.1\r\n\r\n`, '400 Bad Request'],
    [`GET /${'x'.repeat(9000)}`, '431 Request Header Fields Too Large'],
    [`${get(pathname).slice(0, -2)}A: ${'x'.repeat(9000)}\r\n\r\n`,
      '431 Request Header Fields Too Large']])
    equal(await ask(request), `HTTP/1.1 ${wanted}`,
      JSON.stringify(request.slice(0, 60)));
  // Slow ones: half a request; a stream that is never read.
  for (let i = 0; i < 10; i++) {
    await ask('GET / HT', false);
    await ask(get(`${pathname}events`), false);
  }
}

let status = 0;
try {
  await tests[test]();
} catch (error) {
  console.log(`${test}: ${error.stack}`);
  status = 1;
}
await browser.close();
for (const child of children)
  child.kill();
process.exit(status);
