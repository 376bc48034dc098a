// page.js - the user's actions: moving, selecting, searching, hiding; live.
// SPDX-License-Identifier: MIT
'use strict';

// ------------------------------------------------------------------- frames --

let wanted = 0, frame_ms = 0;
function invalidate() {
  wanted ||= requestAnimationFrame(() => {
    const begun = performance.now();
    wanted = 0;
    drawTable();
    draw();
    if (plotted().length) drawPlots();
    showTip();
    showStatus();
    showSpans();
    frame_ms = performance.now() - begun;
  });
}

function showStatus() {
  const span = view.to - view.from;
  const parts = [`${duration(span)} in view`];
  if (view.pointer && view.pointer.x > LABELS)
    parts.unshift(placeText(toNs(view.pointer.x)));
  if (view.measure) {
    const {from, to} = view.measure;
    const count = countBetween(Math.min(from, to), Math.max(from, to));
    parts.unshift(`\u0394 ${duration(Math.abs(to - from))}, ${
      group(count)} events`);
  }
  if (missed > 0n)
    parts.push(`${missedRoughly}${group(missed)} overwritten before they ` +
      'could be read');
  $('status').textContent = parts.join('  \u00b7  ');
}

// ------------------------------------------------------------------- moving --

let all = true; // the view is of everything
let follows = about.live;

// The whole time, with room at the left for the overwritten records.
function whole() {
  const {first, last} = events;
  if (!(last >= first)) return [0, 1e9];
  const size = Math.max(last - first, 1000);
  const gaps = recorders.some(r => r.gap?.count > 0n && !r.hidden);
  return [first - size * (gaps ? 0.12 : 0.01), last + size * 0.01];
}
function limit(from, to) {
  const [first, last] = whole(), most = (last - first) * 1.5;
  const span = Math.min(Math.max(to - from, LEAST_VIEW), most);
  const middle = Math.min(Math.max((from + to) / 2, first), last);
  return [middle - span / 2, middle + span / 2];
}
function show(from, to, everything = false) {
  [view.from, view.to] = limit(from, to);
  all = everything;
  if (about.live) {
    follows = all || view.to >= events.last;
    showFollows();
  }
  followView();
  settle();
  remember();
  invalidate();
}
const showAll = () => show(...whole(), true);
// The centre of zooming by keys: the selected event, if it is in view.
function anchor() {
  const at = events.at[view.selected];
  return at >= view.from && at <= view.to ? toX(at) : (LABELS + width) / 2;
}
function zoom(factor, x = anchor()) {
  const ns = toNs(x);
  show(ns - (ns - view.from) * factor, ns + (view.to - ns) * factor);
}
const pan = part => {
  const by = (view.to - view.from) * part;
  show(view.from + by, view.to + by);
};
function scrollLanes(by) {
  const most = Math.max(0, layoutHeight - (height - RULER));
  view.scrolled = Math.max(0, Math.min(view.scrolled + by, most));
  remember();
  invalidate();
}
// Scrolls an event's thread, or else its recorder, into sight.
function showLane(row) {
  const line = lineOf(threads[events.thread[row]]) ?? lineOf(recorderOf(row));
  if (!line) return;
  const stuck = RULER + stuckHeight(), top = topOf(line) - stuck;
  const more = height - stuck - line.height;
  if (!isStuck(line) && (top < 0 || top > more))
    scrollLanes(top - Math.max(0, more / 2));
}

// ---------------------------------------------------------------- selecting --

function select(row) {
  view.selected = row;
  if (row >= 0) {
    const at = events.at[row], place = placeOfRow(row);
    if (at < view.from || at > view.to) {
      const half = (view.to - view.from) / 2;
      show(at - half, at + half);
    }
    showLane(row);
    if (view.measure?.follows) view.measure.to = at;
    if (place < table.top || place >= table.top + tableFit())
      scrollTable(place - Math.floor(tableFit() / 3));
  }
  showRecord();
  remember();
  invalidate();
}
// Shows the span of an event, or the selected one's, in full.
function zoomToSpan(row = view.selected) {
  const ends = row < 0 ? null : spanEnds(row);
  if (!ends) return;
  const [from, to] = ends.map(end => events.at[end]), room = (to - from) / 20;
  show(from - room, to + room);
}
// Measures the times from the selected event to the ones selected next.
function measure() {
  const at = view.selected < 0 ? NaN : events.at[view.selected];
  if (!Number.isNaN(at)) view.measure = {from: at, to: at, follows: true};
  invalidate();
}
function step(by) {
  if (!tableCount()) return;
  const place = view.selected >= 0 ? placeOfRow(view.selected) + by
    : Math.abs(by) < tableCount() ? Math.floor(table.top) : by;
  select(rowOf(Math.max(0, Math.min(place, tableCount() - 1))));
}

function relayout() {
  makeLayout();
  resize();
  makeTable();
  scrollLanes(0);
  scrollTable(table.top);
}
function recordersChanged() {
  hiddenNames.clear();
  for (const recorder of recorders)
    if (recorder.hidden) hiddenNames.add(recorder.name);
  if (view.selected >= 0 && isHidden(view.selected)) select(-1);
  makeLanes();
  if (plotted()[0]?.plot) fillPlots();
  showRecorders();
  showHits();
  relayout();
  if (all) showAll();
  followView();
  remember();
}
function hide(recorder, hidden) {
  recorder.hidden = hidden;
  recordersChanged();
}
function showOnly(recorder) {
  const already = recorders.every(r => r.hidden === (r !== recorder));
  for (const other of recorders)
    other.hidden = !already && other !== recorder;
  recordersChanged();
}
function filterSeverity(least) {
  setSeverity(least);
  $('severity').value = leastSeverity;
  recordersChanged();
}
function toggle(what) {
  view[what] = !view[what];
  $(`show-${what}`).setAttribute('aria-pressed', String(view[what]));
  relayout();
  remember();
}

// ---------------------------------------------------------------- searching --

const search = {text: '', regex: null, searched: 0, run: 0, busy: false,
  done: Promise.resolve()};

// Parses the text of a box. Null: the text is empty, or wrong; then the box shows
// the error.
function parsed(box, text, parse) {
  let wrong = '', result = null;
  try {
    if (text) result = parse(text);
  } catch (error) {
    wrong = error.message;
  }
  box.value = text;
  box.title = wrong;
  box.setCustomValidity(wrong);
  return result;
}
// Letters match either case, unless one is a capital.
function regexOf(text) {
  return new RegExp(text, /\p{Lu}/u.test(text.replace(/\\./gs, ''))
    ? '' : 'i');
}
function find(text) {
  if (text === search.text) return search.done;
  Object.assign(search, {text, searched: 0,
    regex: parsed($('search'), text, regexOf)});
  search.run++;
  hits.flags = new Uint8Array(text ? events.count : 0);
  markHits();
  remember();
  return search.done = searchOn();
}
// Block by block, so that the page stays alive; the hits appear as they come.
async function searchOn() {
  const {run, regex} = search;
  showHits();
  if (!regex || search.busy === run) return;
  search.busy = run;
  let shown = performance.now();
  while (search.searched < events.count && run === search.run) {
    const block = await load(blockOf(search.searched));
    if (run !== search.run) return;
    hits.flags = roomForFlags(hits.flags);
    const from = search.searched - block.first;
    for (let i = from; i < block.messages.length; i++)
      hits.flags[block.first + i] = regex.test(block.messages[i]) ? 1 : 0;
    search.searched = block.first + block.messages.length;
    if (performance.now() - shown > 150) {
      markHits();
      showHits();
      await new Promise(done => setTimeout(done));
      shown = performance.now();
    }
  }
  if (run !== search.run) return;
  search.busy = false;
  markHits();
  showHits();
}
function showHits() {
  const {list} = hits, place = placeOf(list, view.selected);
  const here = list[place] === view.selected && view.selected >= 0;
  const searching = search.regex && search.searched < events.count;
  $('hits').textContent = !search.text ? ''
    : !search.regex ? 'no regular expression'
      : `${here ? `${group(place + 1)} of ` : ''}${group(list.length)} hit${
        list.length === 1 ? '' : 's'}${searching ? '\u2026' : ''}`;
  $('search-next').disabled = $('search-previous').disabled = !list.length;
  invalidate();
}
function nextHit(by) {
  const {list} = hits;
  if (!list.length) return;
  const from = view.selected >= 0 ? view.selected : firstRowFrom(view.from);
  let place = placeOf(list, from);
  if (by < 0) place--;
  else if (list[place] === view.selected) place++;
  select(list[(place + list.length) % list.length]);
  showHits();
}

// --------------------------------------------------------------------- link --

let remembering = 0, restored = '';
function link() {
  const parts = [];
  if (!all)
    parts.push(`t=${view.from.toFixed(3)},${view.to.toFixed(3)}`);
  if (view.selected >= 0) parts.push(`s=${about.sources ? view.selected
    : events.order[view.selected]}`); // orders are of one source
  const hidden = recorders.filter(r => r.hidden)
    .map(r => encodeURIComponent(r.name));
  if (hidden.length) parts.push(`h=${hidden.join(',')}`);
  if (search.text) parts.push(`q=${encodeURIComponent(search.text)}`);
  if (leastSeverity) parts.push(`v=${leastSeverity}`);
  if (picked.text) parts.push(`w=${encodeURIComponent(picked.text)}`);
  if (bySpans) parts.push('c=spans');
  if (clock !== 'start') parts.push(`z=${clock}`);
  parts.push(...lanesInLink());
  if (chosen.length)
    parts.push(`m=${chosen.map(({key}) => encodeURIComponent(key)).join(',')}`);
  if (!view.threads || !view.recorders)
    parts.push(`l=${view.threads ? 't' : ''}${view.recorders ? 'r' : ''}`);
  if (view.scrolled > 0) parts.push(`y=${Math.round(view.scrolled)}`);
  return parts.length ? `#${parts.join('&')}` : '';
}
// Browsers allow few changes of the address in a second.
function remember() {
  remembering ||= setTimeout(() => {
    remembering = 0;
    restored = link();
    history.replaceState(null, '', restored ||
      location.pathname + location.search);
  }, 400);
}
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
function restore(hash) {
  const parts = new Map(hash.slice(1).split('&')
    .map(part => [part.slice(0, 1), part.slice(2)]));
  const names = new Set((parts.get('h') ?? '').split(',').filter(n => n)
    .map(decoded));
  for (const recorder of recorders)
    recorder.hidden = names.has(recorder.name);
  for (const [what, letter] of [['threads', 't'], ['recorders', 'r']]) {
    view[what] = (parts.get('l') ?? 'tr').includes(letter);
    $(`show-${what}`).setAttribute('aria-pressed', String(view[what]));
  }
  colourBySpans(parts.get('c') === 'spans');
  setClock(parts.get('z'));
  lanesFromLink(parts);
  plotsFromLink(parts.get('m') ?? '');
  filterSeverity(parts.get('v') ?? '');
  names.forEach(name => hiddenNames.add(name));
  let row = -1;
  if (/^\d{1,20}$/.test(parts.get('s') ?? '')) {
    row = about.sources ? Number(parts.get('s'))
      : placeOf(events.order.subarray(0, events.count), BigInt(parts.get('s')));
    if (row >= events.count ||
        !about.sources && String(events.order[row]) !== parts.get('s'))
      row = -1;
  }
  select(row); // which moves the view to it
  const [from, to] = (parts.get('t') ?? '').split(',').map(Number);
  if (to > from) show(from, to);
  else showAll();
  scrollLanes((Number(parts.get('y')) || 0) - view.scrolled);
  find(decoded(parts.get('q') ?? ''));
  const filter = decoded(parts.get('w') ?? '');
  if (filter !== picked.text) pick(filter);
}
