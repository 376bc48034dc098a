// path.js - the critical path of the selected span: whose work it waited for.
// SPDX-License-Identifier: MIT
'use strict';

// Of a span in a thread: pieces {lane, from, to, waits}, the last first. In the
// time of a wait, the path is that of the thread that ended it; `waits`: this
// thread is unknown. Waits of threads for each other end the search.
const PATH_DEPTH = 8, PATH_PIECES = 1000;
const path = {row: -1, count: 0, pieces: []};

const nsOf = row => events.at[row];

// The waits of a lane in a time: [from, to, closing row], the last first.
function waitsIn(lane, from, to) {
  const waits = [];
  for (const {open, close} of lane.waits ? lane.spans : []) {
    for (let i = close.find(from + 1); i < close.count; i++) {
      const begin = nsOf(open.list[i]);
      if (begin >= to || waits.length >= PATH_PIECES) break;
      if (recorderOf(open.list[i]).name === WAITS)
        waits.push([Math.max(begin, from), Math.min(nsOf(close.list[i]), to),
          close.list[i]]);
    }
  }
  return waits.sort((a, b) => b[1] - a[1]);
}

// The lane of the thread that ended a wait; undefined: not known.
function wakerOf(row, of) {
  const text = message(row, invalidate), by = BY.exec(text ?? '');
  path.lacks ||= text === null;
  const waker = by && threads.findIndex(({number, source}) =>
    number === Number(by[1]) && source === of.source);
  return by ? threadLanes[waker] : undefined;
}

function addPath(pieces, lane, from, to, depth) {
  let end = to;
  for (const [begin, until, row] of waitsIn(lane, from, to)) {
    if (until > end || pieces.length >= PATH_PIECES) continue;
    const waker = wakerOf(row, lane.thing);
    if (until < end) pieces.push({lane, from: until, to: end});
    if (waker && waker !== lane && depth < PATH_DEPTH)
      addPath(pieces, waker, begin, until, depth + 1);
    else
      pieces.push({lane, from: begin, to: until, waits: true});
    end = begin;
  }
  if (from < end) pieces.push({lane, from, to: end});
}

// That of the selected span; empty if the span has no wait. The page draws again
// when a missing message arrives.
function criticalPath() {
  const row = view.selected, {count} = events;
  if (path.row === row && path.count === count && !path.lacks)
    return path.pieces;
  const ends = row < 0 || formatOf(row).step ? null : spanEnds(row);
  Object.assign(path, {row, count, pieces: [], lacks: false});
  if (!ends) return path.pieces;
  const lane = laneOfSpan(row), [from, to] = ends.map(nsOf);
  if (waitsIn(lane, from, to).length)
    addPath(path.pieces, lane, from, to, 0);
  return path.pieces;
}

// "T3 flusher 83.0 %, T1 main 17.0 %"; empty: there is no path yet.
function pathText() {
  const times = new Map();
  let all = 0;
  for (const {lane, from, to} of criticalPath()) {
    times.set(lane, (times.get(lane) ?? 0) + to - from);
    all += to - from;
  }
  return path.lacks ? '' : [...times].sort((a, b) => b[1] - a[1]).map(([lane, ns]) =>
    `${lane.thing.label} ${(100 * ns / all).toFixed(1)} %`).join(', ');
}

// A line below the events of each thread of the path, from one to the next.
function drawPath() {
  const {lacks} = path, pieces = criticalPath();
  let last = null;
  if (lacks && !path.lacks) showRecord();
  pen.fillStyle = ink.accent;
  for (const {lane, from, to, waits} of pieces) {
    const line = lineOf(lane.thing), x = Math.round(toX(from));
    if (!line) continue;
    const y = topOf(line) + LANE - 3, end = Math.round(toX(to));
    if (last !== null)
      pen.fillRect(end, Math.min(last, y), 1, Math.abs(last - y) + 3);
    for (let at = Math.max(x, LABELS); at < Math.min(end, width); at += 6)
      pen.fillRect(at, y, Math.min(waits ? 3 : 6, end - at), 3);
    last = y;
  }
}
