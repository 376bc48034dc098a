// live.mjs - the timeline of a running program.
// SPDX-License-Identifier: MIT
import {connect} from 'node:net';
import {recorder, must, equal, start, startProgram, run, view, open,
  quiet, dumped, held, agree, same} from './driver.mjs';

export const tests = {
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
};

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
