// shown.mjs - what the timeline holds and draws.
// SPDX-License-Identifier: MIT
import {execFileSync} from 'node:child_process';
import {mkdirSync, renameSync} from 'node:fs';
import {program, folder, must, equal, soon, startProgram, run, view, open,
  quiet, text, dumped, exactly, held, agree, same} from './driver.mjs';

export const tests = {
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
  // to what `recorder sched` says, and are drawn where they were.
  async switches() {
    const page = await open(view(program));
    const table = run('sched', '--json', program).split('\n')
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
    const begin = waits.find(e => e.format.startsWith('>mutex'));
    const end = waits.find(e => e.format.startsWith('<mutex'));
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
    // The critical path of the wait is in the thread that unlocked.
    await page.evaluate(order => window.recorder.select(
      window.recorder.events.order.indexOf(BigInt(order))), String(begin.order));
    // At the end, it may wait already for the thread that it let go on.
    await soon(() => page.evaluate(number => window.recorder.criticalPath()
      .some(({lane}) => lane.thing.number === number), from), true,
      'critical path');
    await soon(() => page.evaluate(() => [...document.querySelectorAll(
      '#record dt')].find(dt => dt.textContent === 'critical path')
      ?.nextSibling.textContent.split(' ')[0]), `T${from}`, 'its first thread');
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
        .filter(e => typeof e.arguments[i] === 'number')
        .sort((a, b) => a.ns < b.ns ? -1 : a.ns > b.ns ? 1 : 0);
      const value = values.find(v => v[0] === name);
      equal(value[1], wanted.map(e => String(e.order)), `${name}, orders`);
      equal(value[2], wanted.map(e => e.arguments[i]), `${name}, values`);
    }
    await page.waitForSelector('#plots .uplot');
    quiet(page);
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
};
