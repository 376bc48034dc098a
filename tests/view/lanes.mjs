// lanes.mjs - hundreds of threads in the timeline.
// SPDX-License-Identifier: MIT
import {must, equal, soon, startProgram, view, open, quiet, dumped}
  from './driver.mjs';

export const tests = {
  async lanes() {
    const {pid} = await startProgram(), page = await open(view(pid));
    // What the records say of each thread.
    const all = new Map();
    for (const {thread, thread_name: name, ns} of dumped(pid)) {
      if (!all.has(thread)) all.set(thread, {thread, name, count: 0, first: ns});
      const of = all.get(thread);
      of.count++;
      of.first = Math.min(of.first, ns);
    }
    const threads = [...all.values()].filter(({name}) => name !== 'main');
    equal(threads.length, 500, 'threads');
    const lines = () => page.evaluate(() => window.recorder.layout()
      .filter(l => l.lane && l.lane.thing.overwritten === undefined)
      .map(({lane, folds, within}) => [lane.thing.fold ? lane.thing.label
        : lane.thing.name, lane.rows.count, Boolean(folds), within]));
    const sum = of => threads.filter(({name}) => name.startsWith(of))
      .reduce((total, {count}) => total + count, 0);
    const many = of => threads.filter(({name}) => name.startsWith(of)).length;
    const folded = (await lines()).sort((a, b) => b[1] - a[1]);
    equal(folded.slice(0, 2), ['worker-', 'io-'].map(of =>
      [`${of}# \u00d7${many(of)}`, sum(of), true, 0]), 'folded from 40 on');
    equal(folded.length, 2 + 1 + many('alone'), 'folds, main, and the others');
    // A click on its name opens one, and closes it.
    const place = label => page.evaluate(of => {
      const {top} = window.recorder.layout().find(l =>
        l.lane?.thing.label?.startsWith(of));
      return {x: 60, y: 30 + top + 12 - window.recorder.view.scrolled};
    }, label);
    const box = await page.locator('#canvas').boundingBox();
    const click = async label => {
      const {x, y} = await place(label);
      await page.mouse.click(box.x + x, box.y + y);
    };
    await click('io-#');
    equal((await lines()).filter(([, , , within]) => within).length,
      many('io-'), 'an open fold');
    await click('io-#');
    equal((await lines()).length, folded.length, 'closed again');
    // All, in each order.
    await page.locator('#fold-names').click();
    const byName = new Intl.Collator('en', {numeric: true});
    for (const [order, by] of [['number', (a, b) => a.thread - b.thread],
      ['first', (a, b) => a.first - b.first],
      ['name', (a, b) => byName.compare(a.name, b.name)],
      ['events', (a, b) => b.count - a.count]]) {
      await page.locator('#lane-order').selectOption(order);
      const is = (await lines()).map(([name]) => name)
        .filter(name => name !== 'main');
      equal(is.length, 500, `lanes by ${order}`);
      const of = new Map(threads.map(thread => [thread.name, thread]));
      must(is.every((name, i) => !i || by(of.get(is[i - 1]), of.get(name)) <= 0),
        `in order by ${order}: ${is.slice(0, 8)}`);
    }
    // Those that have nothing in view are one line.
    await page.locator('#fold-idle').click();
    const some = [...threads].sort((a, b) => a.first - b.first)[3];
    await page.evaluate(number => {
      const {recorder} = window, {lane} = recorder.layout().find(l =>
        l.lane?.thing.number === number);
      const at = recorder.events.at[lane.rows.list[0]];
      recorder.show(at - 10, at + 10);
    }, some.thread);
    await soon(async () => {
      const is = await lines(), busy = is.filter(([, , fold]) => !fold);
      return [busy.some(([name]) => name === some.name), busy.length < 100,
        is.at(-1)[0] === `${501 - busy.length} idle in view`];
    }, [true, true, true], 'idle ones are one line');
    await page.keyboard.press('0');
    // By name; the link holds it all.
    await page.locator('#lane-filter').fill('alone[a-c]');
    await soon(async () => (await lines()).map(([name]) => name).sort(),
      ['alonea', 'aloneb', 'alonec'], 'filtered');
    must((await page.evaluate(() => window.recorder.layout()[0].title))
      .includes('3 of 501 match'), 'the heading');
    await page.waitForFunction(() => /n=alone.*f=ai/.test(location.hash));
    const again = await open(page.url());
    equal(await again.evaluate(() => window.recorder.link()),
      await page.evaluate(() => window.recorder.link()), 'its link');
    await page.locator('#lane-filter').fill('(');
    await soon(() => page.evaluate(() =>
      document.getElementById('lane-filter').validity.valid), false, 'a wrong one');
    // A selected event is shown where its fold is.
    await page.locator('#lane-filter').fill('');
    await page.locator('#fold-idle').click();
    await page.locator('#fold-names').click();
    await soon(async () => (await lines()).length, folded.length, 'folded');
    quiet(page);
    quiet(again);
  },
};
