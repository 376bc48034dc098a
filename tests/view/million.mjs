// million.mjs - a large timeline.
// SPDX-License-Identifier: MIT
import {statSync} from 'node:fs';
import {recorder, folder, browser, must, equal, start, startProgram, view,
  open, quiet, countOf} from './driver.mjs';

export const tests = {
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
