// used.mjs - what users do in the timeline.
// SPDX-License-Identifier: MIT
import {statSync} from 'node:fs';
import {folder, must, equal, soon, startProgram, view, open, quiet,
  text, countOf, dumped} from './driver.mjs';

export const tests = {
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
    must(/s, records \d+ to \d+/.test(await text(page, '#record')),
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

  // The strip of the whole recording, and spans, plots and pins by the user.
  async overview() {
    const {pid} = await startProgram(), page = await open(view(pid));
    const seen = () => page.evaluate(() =>
      [window.recorder.view.from, window.recorder.view.to]);
    const all = await seen();
    const [from, to] = await page.evaluate(() => {
      const {events, zoomToSpan, select, spanEnds} = window.recorder;
      const row = [...events.at.keys()].find(row => row < events.count &&
        spanEnds(row));
      select(row);
      zoomToSpan();
      return spanEnds(row).map(end => events.at[end]);
    });
    const near = await seen();
    must(near[0] < from && near[1] > to && near[1] - near[0] < all[1] - all[0],
      'the span fills the view');
    const box = await page.locator('#overview').boundingBox();
    await page.mouse.move(box.x + 300, box.y + 10);
    await page.mouse.down();
    await page.mouse.move(box.x + 1300, box.y + 10);
    await page.mouse.up();
    const moved = await seen();
    must(moved[0] !== near[0] && Math.abs((moved[1] - moved[0]) /
      (near[1] - near[0]) - 1) < 1e-6,
    `the strip moves the view, and keeps its length: ${near}, ${moved}`);
    await page.keyboard.press('p');
    const titles = () => page.evaluate(() => window.recorder.layout()
      .filter(line => line.title).map(line => line.title)[0]);
    equal(await titles(), 'Pinned', 'the first heading');
    const topOf = lane => lane.boundingBox().then(box => box.y);
    const lanes = page.locator('#lanes [role="treeitem"]');
    const tops = async () => [await topOf(lanes.first()),
      await topOf(lanes.last())];
    const {width, height} = page.viewportSize();
    await page.setViewportSize({width, height: 520}); // lanes do not fit
    const before = await tops();
    await page.mouse.move(60, before[0] + 30);
    await page.mouse.wheel(0, 500);
    await page.waitForFunction(() => window.recorder.view.scrolled > 20);
    const after = await tops();
    must(after[0] === before[0] && after[1] < before[1] - 20,
      `pinned ones stay, others scroll: ${before}, ${after}`);
    await page.setViewportSize({width, height});
    await page.keyboard.press('p');
    must(await titles() !== 'Pinned', 'unpinned');
    const key = await page.evaluate(() =>
      document.getElementById('plot').options[1].value);
    await page.evaluate(key => window.recorder.choosePlot(key), key);
    equal(await page.locator('.plot').count(), 1, 'plots');
    const link = await page.evaluate(() => window.recorder.link());
    await page.evaluate(key => window.recorder.choosePlot(key), key);
    equal(await page.locator('.plot').count(), 0, 'removed');
    await page.waitForFunction(link => location.hash !== link, link);
    await page.evaluate(link => { location.hash = link; }, link);
    await page.waitForSelector('.plot');
    await page.evaluate(key => window.recorder.choosePlot(key), key);
    await page.keyboard.press('0');
    await page.locator('#show-spans').click();
    await page.waitForSelector('.flame button');
    const tree = await page.evaluate(() => {
      const check = node => [...node.children.values()].every(child =>
        child.total <= node.total * 1.000001 && check(child));
      const root = window.recorder.flameInView();
      return root.total > 0 && check(root);
    });
    must(tree, 'no span is longer than the span around it');
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
