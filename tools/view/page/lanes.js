// lanes.js - the events of each lane, by time; spans; hits of a search.
// SPDX-License-Identifier: MIT
'use strict';

// Rows that grow in number, in the order of their times.
class Rows {
  list = new Uint32Array(8);
  count = 0;
  latest = -Infinity; // time of the last
  sorted = true;
  push(row) {
    const {count} = this, at = events.at[row];
    if (count === this.list.length) {
      const list = new Uint32Array(2 * count);
      list.set(this.list);
      this.list = list;
    }
    if (at < this.latest) this.sorted = false;
    this.latest = at;
    this.list[count] = row;
    this.count = count + 1;
  }
  // A thread that is preempted between its sequence number and its timestamp
  // makes a few neighbours change places. Greater disorder is sorted in full.
  sort() {
    const {list, count} = this, at = events.at;
    let moves = 16 * count + 1000;
    for (let i = 1; i < count && moves > 0; i++) {
      const row = list[i];
      let k = i;
      for (; k > 0 && at[list[k - 1]] > at[row] && moves > 0; k--, moves--)
        list[k] = list[k - 1];
      list[k] = row;
    }
    if (moves <= 0)
      list.subarray(0, count).sort((a, b) => at[a] - at[b] || a - b);
    this.latest = at[list[count - 1]];
    this.sorted = true;
  }
  // The first place from `low` on whose time is not below `ns`.
  find(ns, low = 0) {
    const {list} = this, at = events.at;
    let high = this.count;
    while (low < high) {
      const middle = low + high >> 1;
      if (at[list[middle]] < ns) low = middle + 1;
      else high = middle;
    }
    return low;
  }
  // The same, for places that are probably near.
  gallop(ns, low) {
    const {list, count} = this, at = events.at;
    let step = 1;
    while (low + step < count && at[list[low + step]] < ns) {
      low += step;
      step *= 2;
    }
    const {find} = Rows.prototype;
    return find.call({list, count: Math.min(count, low + step)}, ns, low);
  }
}

// A '<' closes the innermost span of its thread, recorder and name. Spans
// opened since then are cut there, but a later '<' still measures them. A '<'
// without a span closes nothing: its '>' was overwritten.
const WAITS = 'lock_wait'; // of recorder run: the waits of threads
const DEPTH_MAX = 1000, DEPTH_SHOWN = 12;
class Lane {
  constructor(thing) {
    this.thing = thing; // a thread or a recorder
    this.rows = new Rows();
    this.hits = new Rows();
    this.severe = {2: new Rows(), 3: new Rows()}; // of these severities
    this.spans = []; // by depth: the rows of opening and closing records
    this.open = []; // rows of spans that are not closed yet
    this.cut = []; // spans that others ended
    this.last = -Infinity; // time of its last record
    this.deepest = 0; // the greatest number of open spans
  }
  add(row, {severity}) {
    this.rows.push(row);
    if (severity) this.severe[severity.at(-1)]?.push(row);
  }
  span(row, format) {
    const {open} = this, recorder = recorderOf(row);
    this.waits ||= recorder.name === WAITS;
    if (format.opens) {
      if (open.length < DEPTH_MAX) open.push(row);
      this.deepest = Math.max(this.deepest, open.length);
      return;
    }
    const last = findSpan(open, recorder, {name: format.span});
    if (last < 0) {
      const cut = findSpan(this.cut, recorder, {name: format.span});
      if (cut >= 0) noteSpan(...this.cut.splice(cut, 1), row, false);
      return;
    }
    noteSpan(open[last], row, false);
    if (this.cut.length < DEPTH_MAX) this.cut.push(...open.slice(last + 1));
    for (let depth = open.length - 1; depth >= last; depth--)
      this.close(depth, open[depth], row);
    open.length = last;
  }
  close(depth, opener, row) {
    if (depth >= DEPTH_SHOWN || isLeftOut(opener) ||
        isUnpicked(opener) && isUnpicked(row) ||
        !(events.at[opener] <= events.at[row]))
      return;
    while (this.spans.length <= depth)
      this.spans.push({open: new Rows(), close: new Rows()});
    this.spans[depth].open.push(opener);
    this.spans[depth].close.push(row);
  }
  get depth() {
    return Math.max(this.spans.length, Math.min(this.open.length, DEPTH_SHOWN));
  }
}

const threadLanes = [], recorderLanes = [], hits = {
  flags: new Uint8Array(0), // by row: matches the search
  list: [], // of shown events, in order
};
let shownRows = null; // rows of the table; null: all

function addToLanes(from, to) {
  for (let row = from; row < to; row++) {
    const {recorder, format} = sites[events.site[row]], at = events.at[row];
    const thread = events.thread[row], known = !Number.isNaN(at);
    const hidden = recorder.hidden || format.hidden || isUnpicked(row);
    if (known && !hidden) {
      (recorderLanes[recorder.number] ??= new Lane(recorder)).add(row, format);
      (threadLanes[thread] ??= new Lane(threads[thread])).add(row, format);
    }
    // Without a known thread, no records can be paired.
    if (format.step) addAsync(row, format, recorder);
    if (thread && threadLanes[thread])
      threadLanes[thread].last = Math.max(threadLanes[thread].last,
        known ? at : -Infinity);
    if ((format.opens || format.closes) && !threads[thread].unknown)
      (threadLanes[thread] ??= new Lane(threads[thread]))
        .span(row, format);
    if (shownRows && !hidden)
      shownRows.push(row);
  }
  for (const all of [threadLanes, recorderLanes, asyncLanes])
    for (const lane of all)
      for (const rows of lane ? [lane.rows, ...Object.values(lane.severe)] : [])
        if (!rows.sorted) rows.sort();
  for (const recorder of recorders)
    recorderLanes[recorder.number] ??= new Lane(recorder);
  for (const [thread] of strips)
    threadLanes[thread] ??= new Lane(threads[thread]);
}

// Rebuilds the lanes after recorders or severities were hidden.
function makeLanes() {
  threadLanes.length = recorderLanes.length = 0;
  forgetSpans();
  forgetFolds();
  shownRows = leastSeverity || picked.flags || recorders.some(r => r.hidden)
    ? [] : null;
  addToLanes(0, events.count);
  markHits();
}

function markHits() {
  const {flags, list} = hits;
  list.length = 0;
  for (let row = 0; row < flags.length; row++)
    if (flags[row] && !isHidden(row))
      list.push(row);
  for (const all of [threadLanes, recorderLanes, [...folds.values()]])
    for (const lane of all) {
      if (!lane) continue;
      lane.hits = new Rows();
      for (let i = 0; i < lane.rows.count && list.length; i++)
        if (flags[lane.rows.list[i]])
          lane.hits.push(lane.rows.list[i]);
    }
}

// Place in a sorted list of the first that is not below `row`.
function placeOf(list, row) {
  let low = 0, high = list.length;
  while (low < high) {
    const middle = low + high >> 1;
    if (list[middle] < row) low = middle + 1;
    else high = middle;
  }
  return low;
}

// The number of shown events between two times.
function countBetween(from, to) {
  let count = 0;
  for (const lane of recorderLanes)
    if (lane)
      count += lane.rows.find(to) - lane.rows.find(from);
  return count;
}
// The lowest row of those at or after a time; -1: none.
function firstRowFrom(ns) {
  let first = -1;
  for (const {rows} of recorderLanes.filter(lane => lane)) {
    const place = rows.find(ns);
    if (place < rows.count && (first < 0 || rows.list[place] < first))
      first = rows.list[place];
  }
  return first;
}
