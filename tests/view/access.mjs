// access.mjs - the timeline without eyes, without a mouse, and on a phone.
// SPDX-License-Identifier: MIT
import {must, equal, soon, startProgram, view, open, quiet} from './driver.mjs';

// What the browser tells a screen reader: {role, name, ...properties}.
async function told(page) {
  const session = await page.context().newCDPSession(page);
  const {nodes} = await session.send('Accessibility.getFullAXTree');
  await session.detach();
  return nodes.filter(({ignored}) => !ignored).map(node => ({
    role: node.role.value, name: node.name?.value ?? '',
    ...Object.fromEntries((node.properties ?? []).map(({name, value}) =>
      [name, value.value]))}));
}
const has = () => {
  const it = document.activeElement, style = getComputedStyle(it);
  return {id: it.id || it.getAttribute('role') || it.textContent,
    ring: style.outlineStyle, label: it.getAttribute('aria-label')};
};

export const tests = {
  async access() {
    const {pid} = await startProgram(), page = await open(view(pid));
    const {keyboard} = page;
    const nodes = await told(page);
    const of = role => nodes.filter(node => node.role === role);
    equal(of('tree').map(({name}) => name), ['Lanes'], 'a tree');
    equal(of('treeitem').map(({name}) => name), await page.evaluate(() =>
      window.recorder.layout().filter(l => l.lane).map(({lane: {thing, rows}}) =>
        `${thing.overwritten === undefined ? `thread ${thing.label}`
          : `recorder ${thing.name}`}, ${rows.count} events`)), 'its lanes');
    must(of('treeitem').some(({name}) => name === 'recorder net, 64 events'),
      'what a lane is called');
    equal(of('grid').map(({name}) => name), ['Events'], 'a table');
    equal(of('columnheader').map(({name}) => name), ['number', 'seconds',
      'thread', 'recorder', 'location', 'message'], 'its columns');
    must(of('row').length > 5 && of('gridcell').length > 30, 'its rows');
    for (const role of ['button', 'textbox', 'searchbox', 'combobox', 'grid',
      'tree', 'toolbar', 'img'])
      equal(of(role).filter(({name}) => !name), [], `${role} without a name`);
    // What is selected is said.
    await page.evaluate(() => window.recorder.select(20));
    const event = await page.evaluate(async () =>
      (await window.recorder.eventOf(20)).message);
    await page.waitForFunction(words => {
      const {textContent: said} = document.getElementById('said');
      return said.startsWith('number ') && said.endsWith(words);
    }, event);
    await soon(async () => (await told(page)).filter(node =>
      node.role === 'row' && node.selected).length, 1, 'the selected row');
    equal(await page.evaluate(() => document.getElementById(document
      .getElementById('table').getAttribute('aria-activedescendant'))
      .classList.contains('selected')), true, 'the active one');
    await keyboard.press('Escape');
    // Tab comes to all that can be used, each shows it, and round again.
    const wanted = await page.evaluate(() => [...document.querySelectorAll(
      'button, input, select, #canvas, #table, [role=treeitem][tabindex="0"]')]
      .filter(it => it.offsetParent && !it.disabled)
      .map(it => it.id || it.getAttribute('role') || it.textContent));
    must(wanted.length > 20, `${wanted.length} to be reached`);
    const reached = new Set();
    await page.evaluate(() => document.activeElement.blur());
    for (let i = 0; i < wanted.length + 3; i++) {
      await keyboard.press('Tab');
      const {id, ring} = await page.evaluate(has);
      if (wanted.includes(id)) must(ring === 'solid', `${id} shows no focus`);
      reached.add(id);
    }
    equal(wanted.filter(id => !reached.has(id)), [], 'out of reach by Tab');
    // Through the lanes: the event that is next, and the fold of names.
    await page.locator('#lanes [tabindex="0"]').focus();
    equal((await page.evaluate(has)).label, 'thread T1 main, 14 events', 'first');
    await keyboard.press('ArrowDown');
    must((await page.evaluate(has)).label.startsWith('thread T2 '), 'the next');
    await keyboard.press('Enter');
    equal(await page.evaluate(() => {
      const {events, threads, view: {selected}} = window.recorder;
      return threads[events.thread[selected]].number;
    }), 2, 'Enter selects an event of it');
    await keyboard.press('End');
    equal((await page.evaluate(has)).label, 'recorder quiet, 0 events', 'End');
    // The help is a dialog, and keys go there.
    await keyboard.press('?');
    equal((await told(page)).filter(({role}) => role === 'dialog')
      .map(({name}) => name), ['Keys and mouse'], 'the help');
    await keyboard.press('Escape');
    quiet(page);
  },

  async phone() {
    const {pid} = await startProgram();
    for (const colorScheme of ['light', 'dark']) {
      const page = await open(view(pid), {viewport: {width: 375, height: 667},
        hasTouch: true, isMobile: true, deviceScaleFactor: 2, colorScheme});
      const back = await page.evaluate(() =>
        getComputedStyle(document.body).backgroundColor);
      equal(back, colorScheme === 'dark' ? 'rgb(20, 23, 27)'
        : 'rgb(255, 255, 255)', `the background in ${colorScheme}`);
      equal(await page.evaluate(() => [...document.querySelectorAll(
        'button, input, select, canvas, #table, #record, #rows span')]
        .filter(it => it.offsetParent).map(it => [it.id || it.textContent,
          it.getBoundingClientRect()])
        .filter(([, box]) => box.left < 0 || box.right > innerWidth + 1)
        .map(([name]) => name)), [], 'beyond the edge');
      // The options are behind a button. First: Chromium takes a tap that comes
      // upon a swipe for the swipe's end, and makes no click of it.
      must(await page.locator('#options').isHidden(), 'options that cover');
      await page.locator('#more').tap();
      await page.locator('#filter').waitFor();
      equal(await page.evaluate(() => [...document.querySelectorAll(
        '#options *')].filter(it => it.offsetParent)
        .filter(it => it.getBoundingClientRect().right > innerWidth + 1)
        .map(it => it.id)), [], 'options beyond the edge');
      await page.locator('#more').tap();
      await page.locator('#options').waitFor({state: 'hidden'});
      const session = await page.context().newCDPSession(page);
      const {x, y} = await page.locator('#canvas').boundingBox();
      const touch = (type, ...points) => session.send(
        'Input.dispatchTouchEvent', {type, touchPoints: points.map(([px, py],
          id) => ({x: x + px, y: y + py, id}))});
      const seen = () => page.evaluate(() =>
        [window.recorder.view.from, window.recorder.view.to]);
      const span = ([from, to]) => to - from;
      // Two fingers go apart: what is between them stays there.
      const whole = await seen();
      await touch('touchStart', [220, 80]);
      await touch('touchStart', [220, 80], [260, 80]);
      for (const far of [20, 40, 60])
        await touch('touchMove', [220 - far / 2, 80], [260 + far / 2, 80]);
      await touch('touchEnd');
      const near = await seen();
      const part = span(whole) / span(near);
      must(part > 1.8 && part < 3.2, `${part} as near, not 2.5`);
      const under = of => of[0] + span(of) * (240 - 108) / (375 - 108);
      must(Math.abs(under(near) - under(whole)) < span(whole) * 0.05,
        'the place between them');
      // One moves.
      await touch('touchStart', [300, 80]);
      for (const to of [280, 240, 200]) await touch('touchMove', [to, 80]);
      await touch('touchEnd');
      const moved = await seen();
      must(moved[0] > near[0] && Math.abs(span(moved) - span(near)) < 1,
        'one finger moves');
      // The table goes with a finger.
      await page.evaluate(() => window.recorder.showAll());
      const rows = await page.locator('#rows').boundingBox();
      const top = await page.evaluate(() => window.recorder.table.top);
      const at = (px, py) => [px - x, py - y];
      await touch('touchStart', at(150, rows.y + rows.height - 8));
      for (const up of [15, 30, 45])
        await touch('touchMove', at(150, rows.y + rows.height - 8 - up));
      await touch('touchEnd');
      await page.waitForFunction(was => window.recorder.table.top > was + 1,
        top);
      quiet(page);
      await page.close();
    }
  },
};
