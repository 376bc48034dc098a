// threads.js - lanes of threads: their order, the shown ones, the folded ones.
// SPDX-License-Identifier: MIT
'use strict';

const FOLD_FROM = 40; // more lanes than this are folded by default
const lanes = {
  order: 'number', text: '', regex: null, // of the filter
  names: null, // fold threads with similar names; null: if they are many
  idle: false, // fold threads that have nothing in view
  pinned: new Set(), // keys of threads that come first
  opened: new Set(), // keys of folds that show their members
};
const folds = new Map(); // lanes by key; each has the events of all its members

// "worker-#" of "worker-12": threads of a pool.
const alikeOf = thing => thing.name.replace(/\d+/g, '#');

function foldOf(key, label, source) {
  let lane = folds.get(key);
  if (!lane) {
    lane = new Lane({label, name: label, source, fold: key});
    lane.upTo = 0;
    folds.set(key, lane);
  }
  lane.members = [];
  return lane;
}
// Adds the new events of `list` to their folds, in one pass.
function fillFolds(list) {
  const of = [];
  let from = events.count;
  for (const fold of list)
    for (const {thing} of fold.members)
      if (fold.upTo < events.count) {
        of[thing.row] = fold;
        from = Math.min(from, fold.upTo);
      }
  for (let row = from; row < events.count; row++) {
    const fold = of[events.thread[row]];
    if (!fold || row < fold.upTo || Number.isNaN(events.at[row])) continue;
    if (isHidden(row)) continue;
    fold.add(row, formatOf(row));
    if (hits.flags[row]) fold.hits.push(row);
  }
  for (const fold of list) {
    fold.upTo = events.count;
    for (const rows of [fold.rows, fold.hits, ...Object.values(fold.severe)])
      if (!rows.sorted) rows.sort();
  }
}
// Threads that the user pinned are above all others.
const pinOf = ({source = 0, number}) => `${source}.${number}`;
const isPinned = lane => lanes.pinned.has(pinOf(lane.thing));
function pin(thing) {
  if (thing?.number === undefined || thing.overwritten !== undefined) return;
  if (!lanes.pinned.delete(pinOf(thing))) lanes.pinned.add(pinOf(thing));
  relayout();
  remember();
}
// Forgets the folds, after a change of shown events, hits or thread names.
const forgetFolds = () => folds.clear();

// True if nothing of a lane is in view: no event, no span, no run.
function isIdle(lane) {
  const at = events.at, {from, to} = view;
  const within = (rows, since) => {
    const place = rows.find(since);
    return place < rows.count && at[rows.list[place]] <= to;
  };
  if (within(lane.rows, from)) return false;
  for (const {open, close} of lane.spans) {
    const place = close.find(from);
    if (place < open.count && at[open.list[place]] <= to) return false;
  }
  if (lane.open.some(row => row !== undefined && at[row] <= to &&
      !isHidden(row) && !(lane.thing.ended && lane.last < from))) return false;
  const running = stripOf(lane)?.running;
  return !running || !running.end.some((end, i) =>
    end >= from && running.begin[i] <= to);
}

const orders = {
  number: lane => lane.thing.number ?? Math.min(...lane.members.map(m =>
    m.thing.number)),
  first: lane => lane.rows.count ? events.at[lane.rows.list[0]] : Infinity,
  name: null,
  events: lane => -lane.rows.count,
};
function inLaneOrder(list) {
  const of = orders[lanes.order];
  if (!of)
    return list.sort((a, b) => inOrder.compare(a.thing.name, b.thing.name) ||
      compare(a.thing.number ?? 0, b.thing.number ?? 0));
  const keys = new Map(list.map(lane => [lane, of(lane)]));
  return list.sort((a, b) => compare(keys.get(a), keys.get(b)) ||
    compare(a.thing.row ?? 0, b.thing.row ?? 0));
}

// The lanes of threads and the rows above them: {lines, words}. A line is a
// lane; with `folds` it has members; `within`: it is one of them.
function threadLines(source, all) {
  const chosen = lanes.regex ? all.filter(({thing}) =>
    lanes.regex.test(thing.shown)) : all;
  const names = lanes.names ?? all.length > FOLD_FROM;
  const byName = new Map(), single = [], made = [];
  for (const lane of chosen) {
    const key = names ? alikeOf(lane.thing) : lane;
    byName.set(key, [...byName.get(key) ?? [], lane]);
  }
  for (const [key, members] of byName)
    if (members.length === 1)
      single.push(members[0]);
    else {
      const fold = foldOf(`${source} ${key}`, `${key} \u00d7${members.length}`,
        source);
      Object.assign(fold.thing, {label: `${key} \u00d7${members.length}`,
        name: key});
      fold.members = members;
      made.push(fold);
    }
  fillFolds(made);
  const lines = [];
  const add = (lane, within) => {
    const open = lane.members && lanes.opened.has(lane.thing.fold);
    lines.push({lane, within, folds: lane.members ? {open} : null});
    if (open)
      for (const member of inLaneOrder(lane.members)) add(member, within + 1);
  };
  const shown = inLaneOrder([...single, ...made]);
  const idle = lanes.idle ? shown.filter(isIdle) : [];
  for (const lane of shown)
    if (!idle.includes(lane)) add(lane, 0);
  if (idle.length) {
    const fold = foldOf(`${source} `, '', source);
    const count = idle.reduce((sum, {members}) =>
      sum + (members?.length ?? 1), 0);
    Object.assign(fold.thing, {label: `${group(count)} idle in view`,
      name: 'idle', idle: true});
    fold.members = idle;
    add(fold, 0);
  }
  return {lines, words: lanes.regex
    ? `: ${group(chosen.length)} of ${group(all.length)} match`
    : all.length > 8 ? `: ${group(all.length)}` : ''};
}
// The line of a thing: its own, or its fold's.
const lineOfThing = new Map();
function noteLines() {
  const note = (line, lane) => {
    lineOfThing.set(lane.thing, line);
    for (const member of lane.members ?? []) note(line, member);
  };
  lineOfThing.clear();
  for (const line of layout) // the members of an open fold come after it
    if (line.lane) note(line, line.lane);
}
const lineOf = thing => lineOfThing.get(thing);

// ----------------------------------------------------------------- controls --

function toggleFold(key) {
  if (!lanes.opened.delete(key)) lanes.opened.add(key);
  relayout();
  remember();
}
function filterLanes(text) {
  lanes.text = text;
  lanes.regex = parsed($('lane-filter'), text, regexOf);
  relayout();
  remember();
}
function orderLanes(order) {
  lanes.order = Object.hasOwn(orders, order) ? order : 'number';
  $('lane-order').value = lanes.order;
  relayout();
  remember();
}
function foldLanes(what, is) {
  lanes[what] = is;
  relayout();
  remember();
}
function showLanes() {
  const count = threadLanes.filter(lane => lane?.rows.count).length;
  const few = count < 3 && !lanes.text && lanes.order === 'number';
  for (const id of ['lane-filter', 'lane-order', 'lane-folds'])
    $(id).hidden = few;
  $('fold-names').setAttribute('aria-pressed',
    String(lanes.names ?? count > FOLD_FROM));
  $('fold-idle').setAttribute('aria-pressed', String(lanes.idle));
}
// The set of idle threads depends on the view.
let settling = 0;
function settle() {
  if (!lanes.idle) return;
  clearTimeout(settling);
  settling = setTimeout(relayout, 200);
}

function lanesInLink() {
  const parts = [];
  if (lanes.order !== 'number') parts.push(`o=${lanes.order}`);
  if (lanes.pinned.size) parts.push(`p=${[...lanes.pinned].join(',')}`);
  if (lanes.text) parts.push(`n=${encodeURIComponent(lanes.text)}`);
  if (lanes.names !== null || lanes.idle)
    parts.push(`f=${{true: 'n', false: 'a'}[lanes.names] ?? ''}${
      lanes.idle ? 'i' : ''}`);
  if (lanes.opened.size)
    parts.push(`g=${[...lanes.opened].map(encodeURIComponent).join(',')}`);
  return parts;
}
function lanesFromLink(parts) {
  const letters = parts.get('f') ?? '';
  lanes.names = letters.includes('n') ? true : letters.includes('a') ? false
    : null;
  lanes.idle = letters.includes('i');
  lanes.opened = new Set((parts.get('g') ?? '').split(',').filter(k => k)
    .map(decoded));
  lanes.pinned = new Set((parts.get('p') ?? '').split(',').filter(k => k));
  orderLanes(parts.get('o') ?? '');
  filterLanes(decoded(parts.get('n') ?? ''));
}
