// filter.mjs - the page's filter shows what --where and --grep choose.
// SPDX-License-Identifier: MIT
import {spawnSync} from 'node:child_process';
import {must, equal, soon, startProgram, view, open, quiet, text, dumped, run,
  recorder, start} from './driver.mjs';

// As the command takes them; what is alone is a --where.
const FILTERS = [['net: 1>1000'], ['1>=1k'], ['disk: block>=350 load<0.5'],
  ['block&4'], ['disk|net: 1=9300'], ['job: 2="worker"'], ['job: 2~^work'], ['job: 2=~^work'],
  ["job: 2!='worker'"], ['hostile: 1=-2147483648'],
  ['hostile: 4=0xfedcba9876543210'], ['hostile: 4>9e18'], ['5=x'],
  ['hostile: 5~[[:alpha:]]'], ['[[:lower:]]+: 1>20'], ['6=0x1234'], ['1=010'],
  ['hostile: 1=nan'], ['1!=5'], ['load<=-0.5'], ['disk: 1>18446744073709551615'], ['NET: 1>9.5e3'],
  ['--grep', 'job 1[0-9] of'], ['--grep', 'SEEK'], ['--grep', '\\<seek [[:digit:]]$'],
  ['--grep', 'seek', '--where', 'job: 1>50', '--where', 'disk: block<40'],
  ['--where', 'job: 2="worker" 1>=97', '--grep', '[^0-9]']];
const WRONG = ['x=5ms', 'x>18446744073709551616', 'x>1e400', 'bytes', 'bytes>', '13>1', '0=1', 'x&1.5', 'net: x="a', '(: 1=1',
  'x>y', 'x!5'];
const quoted = words => words.map(word => /^--/.test(word) ? word
  : `'${word.replaceAll("'", "'\\''")}'`).join(' ');

export const tests = {
  async filter() {
    const child = await startProgram(), {pid} = child;
    const page = await open(view(pid, '--value', 'job:1=of job'));
    const json = dumped(pid);
    const plotted = of => of.evaluate(() => {
      const {data: [, list]} = window.recorder.values[0].plot;
      return [list.length > 0, list.some(value => value < 90)];
    });
    await soon(() => plotted(page), [true, true], 'a plot of all');
    const shown = of => of.evaluate(() => {
      const {events, isHidden} = window.recorder, list = [];
      for (let row = 0; row < events.count; row++)
        if (!isHidden(row)) list.push(Number(events.order[row]));
      return list;
    });
    let some = 0;
    for (const words of FILTERS) {
      const given = words.length === 1 ? ['--where', ...words] : words;
      const wanted = run('dump', '--json', ...given, String(pid)).split('\n')
        .filter(line => line).map(line => JSON.parse(line).order);
      await page.evaluate(by => window.recorder.pick(by),
        words.length === 1 ? words[0] : quoted(words));
      equal(await shown(page), wanted, words.join(' '));
      some += wanted.length > 0 && wanted.length < json.length;
      equal((await text(page, '#filtered')).replaceAll('\u2009', ''),
        `${wanted.length} of ${json.length}`, `its count, ${words}`);
    }
    must(some > FILTERS.length - 4, `${some} filters choose some events`);
    // What is wrong is said as the command says it; all events are shown.
    for (const words of WRONG) {
      await page.evaluate(by => window.recorder.pick(by), words);
      const {stderr} = spawnSync(recorder, ['dump', '--where', words,
        String(pid)], {encoding: 'utf8'});
      const said = await text(page, '#filtered');
      must(said && (stderr.includes(said) || words.startsWith('(')),
        `${words}: ${said}, not ${stderr}`);
      equal((await shown(page)).length, json.length, `shown in spite of ${words}`);
    }
    // Typed; in lanes, the table, spans, and the address.
    await page.keyboard.press('g');
    await page.keyboard.type('job: 1>=90');
    await page.keyboard.press('Enter');
    const wanted = dumped(pid).filter(e => e.recorder === 'job' &&
      e.arguments[0] >= 90).map(e => e.order);
    must(wanted.length > 20, `${wanted.length} events`);
    await soon(() => shown(page), wanted, 'typed');
    const lanes = await page.evaluate(() => window.recorder.layout()
      .filter(l => l.lane?.thing.overwritten !== undefined)
      .reduce((sum, {lane}) => sum + lane.rows.count, 0));
    equal(lanes, wanted.length, 'events in lanes');
    await soon(() => text(page, '#rows .row >> nth=0 >> span >> nth=0'),
      String(wanted[0]), 'the table begins with the first');
    await soon(() => plotted(page), [true, false], 'the plot is filtered');
    const spans = await page.evaluate(() => window.recorder.spansInView()
      .map(({name, count}) => [name, count]).sort());
    equal(spans, [['job', 20], ['seek', 8]], 'spans in view');
    await page.waitForFunction(() => location.hash.includes('w=job'));
    const again = await open(page.url());
    await soon(() => shown(again), wanted, 'by the link');
    await again.evaluate(() => window.recorder.pick(''));
    await soon(async () => (await shown(again)).length, json.length, 'all again');
    // What comes later is filtered, too.
    const server = await start(recorder, 'view', '--live', '--no-open',
      String(pid));
    const live = await open(`${await server.line()}#w=${
      encodeURIComponent('net: 1>=7')}`);
    const seen = () => live.evaluate(() => window.recorder.picked.flags &&
      !window.recorder.taking && window.recorder.events.count);
    await soon(seen, json.length, 'a live page');
    await child.more(10);
    await soon(() => live.evaluate(async () => {
      const {events, isHidden, eventOf} = window.recorder, list = [];
      for (let row = events.count - 10; row < events.count; row++)
        if (!isHidden(row)) list.push((await eventOf(row)).message);
      return list;
    }), ['live 7 of 10', 'live 8 of 10', 'live 9 of 10'], 'later');
    [page, again, live].forEach(quiet);
  },
};
