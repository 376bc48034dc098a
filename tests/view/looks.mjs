// looks.mjs - colours, and what is seen before the records are.
// SPDX-License-Identifier: MIT
import {readFileSync} from 'node:fs';
import {createServer} from 'node:http';
import {recorder, folder, must, equal, soon, start, startProgram, view, open,
  quiet, text, dumped} from './driver.mjs';

const rgb = hex => [1, 3, 5].map(i => parseInt(hex.slice(i, i + 2), 16));
const linear = c => c <= 10.31475 ? c / 255 / 12.92
  : ((c / 255 + 0.055) / 1.055) ** 2.4;
// CIE L*a*b* of "#rrggbb", white is D65.
function lab(hex) {
  const [r, g, b] = rgb(hex).map(linear);
  const f = t => t > 216 / 24389 ? Math.cbrt(t) : (24389 / 27 * t + 16) / 116;
  const x = f((0.4124564 * r + 0.3575761 * g + 0.1804375 * b) / 0.95047);
  const y = f(0.2126729 * r + 0.7151522 * g + 0.072175 * b);
  const z = f((0.0193339 * r + 0.119192 * g + 0.9503041 * b) / 1.08883);
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}
// How different two colours look: CIEDE2000. About 1 is just seen side by side.
function difference([L1, a1, b1], [L2, a2, b2]) {
  const rad = Math.PI / 180, seventh = c => Math.sqrt(c ** 7 / (c ** 7 + 25 ** 7));
  const g = (1 - seventh((Math.hypot(a1, b1) + Math.hypot(a2, b2)) / 2)) / 2;
  const [x1, x2] = [a1 * (1 + g), a2 * (1 + g)];
  const [c1, c2] = [Math.hypot(x1, b1), Math.hypot(x2, b2)];
  const hue = (y, x) => (Math.atan2(y, x) / rad + 360) % 360;
  const [h1, h2] = [hue(b1, x1), hue(b2, x2)], grey = c1 * c2 === 0;
  const turn = grey ? 0 : (h2 - h1 + 540) % 360 - 180;
  const dH = 2 * Math.sqrt(c1 * c2) * Math.sin(turn / 2 * rad);
  const L = (L1 + L2) / 2, c = (c1 + c2) / 2;
  const h = grey ? h1 + h2 : (h1 + turn / 2 + 360) % 360;
  const cos = angle => Math.cos(angle * rad);
  const t = 1 - 0.17 * cos(h - 30) + 0.24 * cos(2 * h) + 0.32 * cos(3 * h + 6) -
    0.2 * cos(4 * h - 63);
  const l = (L2 - L1) / (1 + 0.015 * (L - 50) ** 2 /
    Math.sqrt(20 + (L - 50) ** 2));
  const chroma = (c2 - c1) / (1 + 0.045 * c), hues = dH / (1 + 0.015 * c * t);
  const turned = -2 * seventh(c) *
    Math.sin(60 * rad * Math.exp(-(((h - 275) / 25) ** 2)));
  return Math.sqrt(l ** 2 + chroma ** 2 + hues ** 2 + turned * chroma * hues);
}
function contrast(one, other) {
  const [low, high] = [one, other].map(hex => {
    const [r, g, b] = rgb(hex).map(linear);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  }).sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

export const tests = {
  // 32 recorders are told apart, from each other, the background and texts.
  async colours() {
    // As published with the formula (Sharma et al., 2005): two of its pairs.
    const near = (a, b) => Math.abs(a - b) < 1e-4;
    must(near(difference([50, 2.6772, -79.7751], [50, 0, -82.7485]), 2.0425) &&
      near(difference([50, 2.5, 0], [73, 25, -18]), 27.1492), 'CIEDE2000');
    const {pid} = await startProgram();
    const page = await open(view(pid)), said = [];
    for (const theme of ['light', 'dark']) {
      const [list, back, panel, words] = await page.evaluate(of => {
        document.documentElement.dataset.theme = of;
        const style = getComputedStyle(document.documentElement);
        return [window.recorder.PALETTE[of], ...['back', 'panel', 'text']
          .map(name => style.getPropertyValue(`--${name}`).trim())];
      }, theme);
      equal(list.length, 32, `colours in ${theme}`);
      let least = Infinity, ground = Infinity, ratio = Infinity, text = Infinity;
      for (const [i, one] of list.entries()) {
        for (const other of list.slice(0, i))
          least = Math.min(least, difference(lab(one), lab(other)));
        for (const other of [back, panel]) {
          ground = Math.min(ground, difference(lab(one), lab(other)));
          ratio = Math.min(ratio, contrast(one, other));
        }
        text = Math.min(text, Math.max(contrast(one, back),
          contrast(one, words)));
      }
      said.push(`${theme}: ${least.toFixed(1)} apart, ${ground.toFixed(1)
      } from the background, contrast ${ratio.toFixed(2)}, of texts ${
        text.toFixed(2)}`);
      must(least >= 15 && ground >= 20 && ratio >= 3 && text >= 4.5,
        said.at(-1));
    }
    console.log(said.join('\n'));
    // Whatever is chosen, live or not: a recorder has its colour, and its place.
    const looks = of => of.evaluate(() => window.recorder.recorders
      .map(({name, colour}) => [name, colour]).sort());
    const chips = of => of.locator('#recorders button').allTextContents();
    const all = new Map(await looks(page));
    equal(await chips(page), ['disk', 'hostile', 'job', 'net', 'quiet'], 'order');
    equal(new Set(all.values()).size, 5, 'different colours');
    for (const names of ['quiet', 'net|job']) {
      const some = await open(view(pid, '--names', names));
      equal(await looks(some), names.split('|').sort()
        .map(name => [name, all.get(name)]), `colours of ${names}`);
      quiet(some);
    }
    const server = await start(recorder, 'view', '--live', '--no-open',
      String(pid));
    const live = await open(await server.line());
    await live.waitForFunction(() => window.recorder.recorders.length === 5);
    await soon(() => looks(live), [...all], 'colours of a live page');
    equal(await chips(live), await chips(page), 'its order');
    quiet(live);
    // By the names of spans: the bars of one name have one colour, and their own.
    const bars = () => page.evaluate(() => {
      const {threads, layout, painted, sites, events} = window.recorder, is = {};
      for (const {lane} of layout().filter(l => threads.includes(l.lane?.thing)))
        for (const {open} of lane.spans)
          for (const row of open.list.subarray(0, open.count))
            (is[sites[events.site[row]].format.span] ??= new Set())
              .add(painted(row));
      return Object.fromEntries(Object.entries(is).map(([name, list]) =>
        [name, [...list]]));
    });
    const before = await bars();
    equal([before.job, before.seek, before.outer], [[all.get('job')],
      [all.get('job')], [all.get('job')]], 'by recorder');
    await page.keyboard.press('c');
    const {job, seek, outer} = await bars();
    equal([job.length, seek.length, outer.length], [1, 1, 1], 'one for a name');
    equal(new Set([...job, ...seek, ...outer]).size, 3, 'one for each name');
    await page.waitForFunction(() => location.hash === '#c=spans');
    const again = await open(page.url());
    equal(await again.locator('#colour').inputValue(), 'spans', 'by the link');
    quiet(again);
    quiet(page);
  },

  // Times of day, here or in UTC, are those of the records; the zone is said.
  async clock() {
    const {pid} = await startProgram(), address = view(pid);
    const json = dumped(pid);
    for (const [timezoneId, minutes, zone] of [['Asia/Kolkata', 330, 'UTC+5:30'],
      ['America/Phoenix', -420, 'UTC\u22127'], ['UTC', 0, 'UTC']]) {
      const page = await open(address, {timezoneId});
      // As in another reader of the same process, but for what its clock's rate
      // is measured by: tens of nanoseconds.
      const near = async (place, minute) => {
        const cell = (await text(page, `#rows .row >> nth=${place} >> ` +
          'span >> nth=1'));
        const ns = BigInt(json[place].wall_ns) + BigInt(minute) * 60000000000n;
        const wanted = new Date(Number(ns / 1000000n)).toISOString();
        const part = Number(ns % 1000000000n);
        const [, whole, is] = /^(\d\d:\d\d:\d\d)\.(\d{9})$/.exec(cell) ?? [];
        return whole === wanted.slice(11, 19) && Math.abs(is - part) < 1000 ||
          Math.abs(is - part) > 1e9 - 1000 || `${cell} is not ${wanted} ${part}`;
      };
      equal((await text(page, '#rows span >> nth=1'))[1], '.', 'since the start');
      await page.keyboard.press('t');
      await soon(() => near(3, minutes), true, `local in ${timezoneId}`);
      equal(await text(page, '#time-title'), 'local time', 'the heading');
      equal(await page.locator('#clock option:checked').textContent(),
        `Times: local, ${zone} (${await page.evaluate(() =>
          Intl.DateTimeFormat().resolvedOptions().timeZone)})`, 'the zone');
      await page.locator('#rows .row').nth(3).click();
      await page.waitForSelector('#record dl');
      must((await text(page, '#record')).includes(` ${zone}`), 'the record');
      // Steps of the ruler are whole on the wall.
      const ticks = await page.evaluate(() => {
        const {clockTick, clockStep} = window.recorder;
        return [clockStep(7e8), clockStep(2e10), clockStep(4e13),
          clockTick(0, 1e9).length, clockTick(0, 1e3).length];
      });
      equal(ticks, [1e9, 3e10, 4.32e13, 8, 16], 'steps and their texts');
      await page.keyboard.press('t');
      await soon(() => near(3, 0), true, 'UTC');
      await page.waitForFunction(() => location.hash.includes('z=utc'));
      const again = await open(page.url(), {timezoneId});
      equal(await again.locator('#clock').inputValue(), 'utc', 'by the link');
      quiet(page);
      quiet(again);
    }
  },

  // A page that is large says so before it is there; a live one, that it waits.
  async loading() {
    const {pid} = await startProgram();
    view(pid);
    const file = readFileSync(`${folder}/view.html`, 'utf8');
    const cut = file.indexOf('class="batch">') + 1000;
    let go;
    const more = new Promise(done => go = done);
    const server = createServer(async (_, answer) => {
      answer.setHeader('content-type', 'text/html');
      answer.write(file.slice(0, cut));
      await more;
      answer.end(file.slice(cut));
    });
    await new Promise(done => server.listen(0, '127.0.0.1', done));
    const address = `http://127.0.0.1:${server.address().port}/`;
    const page = await open(address, {}, async of => {
      const sign = of.locator('#loading');
      await sign.waitFor();
      must((await sign.textContent()).includes('Loading'), 'its words');
      equal(await sign.getAttribute('role'), 'status', 'its role');
      go();
    });
    must(await page.locator('#loading').isHidden(), 'it goes');
    quiet(page);
    server.close();
    // Of a live page the events are held up.
    const live = await start(recorder, 'view', '--live', '--no-open',
      String(pid));
    const of = await open(await live.line(), {}, null, async one => {
      await one.route('**/events', async route => {
        await one.locator('#loading', {hasText: 'Waiting'}).waitFor();
        await route.continue();
      });
    });
    await of.locator('#loading').waitFor({state: 'hidden'});
    must(await of.evaluate(() => window.recorder.events.count > 0), 'records');
    quiet(of);
    // One that cannot be shown says why.
    const old = await open(view(pid), {}, null, one => one.addInitScript(() =>
      delete window.DecompressionStream)).catch(error => error);
    must(old instanceof Error && /DecompressionStream/.test(old.message), old);
  },
};
