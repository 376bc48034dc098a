// spans.js - spans from thread to thread, and the times of all by their names.
// SPDX-License-Identifier: MIT
'use strict';

// As in tools/export/spans.h: the name ends at the first conversion or one of
// ,:;=( and agrees with another by whole words.
function spanName(text) {
  const [, name, end] = /^[<>= ]*((?:::|[^%,:;=(])*)(.?)/s.exec(text);
  const without = end === '=' ? name.replace(/\w+$/, '') : name;
  return (without || name).trimEnd();
}
function namesAgree(one, other) {
  const [short, long] = one.length < other.length ? [one, other] : [other, one];
  return long.startsWith(short) &&
    (short === '' || !/^\w/.test(long.slice(short.length)));
}
// The place of the innermost of `open` that a record closes; -1: none.
function findSpan(open, recorder, {name}) {
  let found = -1;
  for (let i = open.length - 1; i >= 0; i--) {
    if (recorderOf(open[i]) !== recorder) continue;
    const other = formatOf(open[i]).span;
    if (other === name) return i;
    if (found < 0 && namesAgree(other, name)) found = i;
  }
  return found;
}

// All spans by recorder and name, for the table of spans in view.
const spanNames = new Map();
function noteSpan(opener, closer, byId) {
  const recorder = recorderOf(opener), format = formatOf(opener);
  const name = format.span || format.text.slice(1).trimStart();
  const key = `${recorder.number} ${byId} ${name}`;
  let spans = spanNames.get(key);
  if (!spans) {
    spans = {recorder, name, byId, open: new Rows(), close: new Rows()};
    spanNames.set(key, spans);
  }
  spans.open.push(opener);
  spans.close.push(closer);
}

// ------------------------------------------------------------------- across --

// `>>` opens a span of an id, `=>` takes it on, `<<` closes it, in any thread.
const asyncs = new Map(); // by the key of its id: {opener, last, lane, depth}
const asyncLanes = []; // a lane for each recorder and name
const arrows = {from: new Rows(), to: new Rows()};

function forgetSpans() {
  spanNames.clear();
  asyncs.clear();
  asyncLanes.length = 0;
  arrows.from = new Rows();
  arrows.to = new Rows();
}
function asyncLane(recorder, name) {
  let lane = asyncLanes.find(({thing}) =>
    thing.recorder === recorder && thing.name === name);
  if (!lane) {
    lane = new Lane({recorder, name, label: `${recorder.name}: ${name}`});
    asyncLanes.push(lane);
  }
  return lane;
}
function addAsync(row, format, recorder) {
  const key = asyncKeys.get(row);
  if (key === undefined) return;
  const was = asyncs.get(key), lane = was?.lane ??
    asyncLane(recorder, format.span);
  const unpicked = isUnpicked(row);
  if (!Number.isNaN(events.at[row]) && !unpicked) lane.add(row, format);
  if (was && !(unpicked && isUnpicked(was.last))) {
    arrows.from.push(was.last);
    arrows.to.push(row);
  }
  if (was) was.last = row;
  if (was && format.step !== '=>') {
    if (was.depth >= 0) {
      lane.close(was.depth, was.opener, row);
      lane.open[was.depth] = undefined;
    }
    if (format.step === '<<') noteSpan(was.opener, row, true);
    asyncs.delete(key);
  }
  if (format.step !== '>>') return;
  let depth = lane.open.indexOf(undefined);
  if (depth < 0) depth = lane.open.length < DEPTH_SHOWN ? lane.open.length : -1;
  if (depth >= 0) lane.open[depth] = row;
  lane.deepest = Math.max(lane.deepest, depth + 1);
  asyncs.set(key, {opener: row, last: row, lane, depth});
}

// Arrows between threads, if they are few enough to be distinct, and the arrows
// of the selected record's span.
const ARROWS_SHOWN = 200, ARROWS_SOUGHT = 5000;
function arrowsInView() {
  const {from, to} = arrows, at = events.at, list = [];
  const selected = asyncKeys.get(view.selected);
  let place = to.find(view.from);
  for (let i = 0; place < to.count && i < ARROWS_SOUGHT; place++, i++)
    if (at[from.list[place]] <= view.to)
      list.push([from.list[place], to.list[place]]);
  return list.length <= ARROWS_SHOWN ? list
    : list.filter(([, end]) => selected !== undefined &&
      asyncKeys.get(end) === selected);
}
function drawArrows(seen) {
  const seenTop = thing => {
    const line = lineOf(thing);
    return seen.includes(line) ? topOf(line) : undefined;
  };
  pen.strokeStyle = pen.fillStyle = ink.accent;
  for (const [from, to] of arrowsInView()) {
    const y = seenTop(threads[events.thread[from]]);
    const end = seenTop(threads[events.thread[to]]);
    if (y === undefined || end === undefined || y === end) continue;
    const x = toX(events.at[from]), right = toX(events.at[to]);
    const low = end + LANE / 2, top = y + LANE / 2;
    pen.globalAlpha = asyncKeys.get(to) === asyncKeys.get(view.selected) ? 1
      : 0.45;
    pen.beginPath();
    pen.moveTo(x, top);
    pen.bezierCurveTo((x + right) / 2, top, (x + right) / 2, low, right, low);
    pen.stroke();
    pen.beginPath();
    pen.moveTo(right, low);
    pen.lineTo(right - 6, low - 3);
    pen.lineTo(right - 6, low + 3);
    pen.fill();
  }
  pen.globalAlpha = 1;
}

// -------------------------------------------------------------------- table --

// Figures of the spans that are seen, in part or whole; the longest first.
function spansInView() {
  const rows = [], at = events.at;
  for (const {recorder, name, byId, open, close} of spanNames.values()) {
    const times = [];
    let longest = -1, row = -1, total = 0;
    for (let i = 0; i < open.count; i++) {
      const from = at[open.list[i]], to = at[close.list[i]], ns = to - from;
      if (!(from <= view.to && to >= view.from && ns >= 0)) continue;
      if (isUnpicked(open.list[i]) && isUnpicked(close.list[i])) continue;
      times.push(ns);
      total += ns;
      if (ns > longest) [longest, row] = [ns, open.list[i]];
    }
    if (!times.length || isLeftOut(open.list[0])) continue;
    times.sort((a, b) => a - b);
    const within = part =>
      times[Math.max(0, Math.ceil(times.length * part / 1000) - 1)];
    rows.push({recorder, name, byId, count: times.length, total,
      median: within(500), most: within(990), longest, row, times});
  }
  return rows.sort((a, b) => b.total - a.total);
}
// A bar for each doubling of the time: "▁▃█▂".
function histogramOf(times) {
  const low = Math.floor(Math.log2(Math.max(1, times[0])));
  const high = Math.floor(Math.log2(Math.max(1, times.at(-1))));
  const counts = new Array(high - low + 1).fill(0);
  for (const ns of times)
    counts[Math.floor(Math.log2(Math.max(1, ns))) - low]++;
  const most = Math.max(...counts);
  return counts.map(count => count
    ? String.fromCodePoint(0x2581 + Math.ceil(count / most * 8) - 1) : ' ')
    .join('');
}

let spansShown = '', spansTimer = 0;
function showSpans() {
  const box = $('spans'), key = `${view.from} ${view.to} ${events.count} ${picked.run}`;
  $('show-spans').hidden = !spanNames.size && box.hidden;
  if (box.hidden || key === spansShown || spansTimer) return;
  spansTimer = setTimeout(() => {
    spansTimer = 0;
    spansShown = `${view.from} ${view.to} ${events.count} ${picked.run}`;
    makeSpans();
  }, 150);
}
function makeSpans() {
  const list = spansInView(), body = make('tbody', '');
  for (const span of list) {
    const line = body.appendChild(make('tr', ''));
    const button = make('button', `${span.recorder.name}: ${span.name}${
      span.byId ? ' (by id)' : ''}`, {type: 'button',
      title: 'To the longest that is in view'});
    if (bySpans) {
      const mark = make('i', '');
      mark.style.backgroundColor = colourOf(painted(span.row));
      button.prepend(mark);
    }
    button.addEventListener('click', () => select(span.row));
    line.appendChild(make('th', '', {scope: 'row'})).append(button);
    for (const text of [group(span.count), ...[span.total, span.median,
      span.most, span.longest].map(duration)])
      line.append(make('td', text));
    line.append(make('td', histogramOf(span.times), {className: 'histogram',
      title: `Each bar twice as long as the one before, from ${
        duration(span.times[0])} on`}));
  }
  const head = make('tr', '');
  for (const name of ['span', 'count', 'total', 'median', '99 %', 'longest',
    'histogram'])
    head.append(make('th', name, {scope: 'col'}));
  const table = make('table', '');
  table.append(make('caption', list.length
    ? `${group(list.length)} ${list.length === 1 ? 'name' : 'names'} of spans in view` : 'No span in view'));
  if (list.length) {
    table.appendChild(make('thead', '')).append(head);
    table.append(body);
  }
  $('spans').replaceChildren(makeFlame(), table);
}
function toggleSpans() {
  const shown = $('spans').hidden;
  $('spans').hidden = !shown;
  $('record').hidden = shown;
  $('show-spans').setAttribute('aria-pressed', String(shown));
  spansShown = '';
  if (shown) makeSpans();
  invalidate();
}
