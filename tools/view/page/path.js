// path.js - the critical path of the selected span: whose work it waited for.
// SPDX-License-Identifier: MIT
'use strict';

// The pieces {lane, from, to, waits} of a span's time, the last first. While a
// thread waited, the path goes through the lane of the thread that ended the wait,
// at most to this depth; `waits` is true if that thread is unknown.
const PATH_DEPTH = 8, PATH_PIECES = 1000;
const path = {row: -1, count: 0, pieces: [], lacks: false};

// The waits of a lane in a time: [from, to, closing row], the last first.
function waitsIn(lane, from, to) {
  const waits = [];
  for (const {open, close} of lane.waits ? lane.spans : []) {
    for (let i = close.find(from + 1); i < close.count; i++) {
      const begin = events.at[open.list[i]];
      if (begin >= to || waits.length >= PATH_PIECES) break;
      if (recorderOf(open.list[i]).name === WAITS)
        waits.push([Math.max(begin, from),
          Math.min(events.at[close.list[i]], to), close.list[i]]);
    }
  }
  return waits.sort((a, b) => b[1] - a[1]);
}

function addPath(pieces, lane, from, to, depth, waits) {
  let end = to;
  for (const [begin, until, row] of waits) {
    if (until > end || pieces.length >= PATH_PIECES) continue;
    const waker = threadLanes[wakerOf(row)];
    path.lacks ||= message(row, invalidate) === null;
    if (until < end) pieces.push({lane, from: until, to: end});
    if (waker && waker !== lane && depth < PATH_DEPTH)
      addPath(pieces, waker, begin, until, depth + 1,
        waitsIn(waker, begin, until));
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
  const lane = laneOfSpan(row), [from, to] = ends.map(end => events.at[end]);
  const waits = waitsIn(lane, from, to);
  if (waits.length) addPath(path.pieces, lane, from, to, 0, waits);
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
    const line = lineOf(lane.thing);
    if (!line) continue;
    const y = topOf(line) + LANE - 3, end = Math.round(toX(to));
    if (last !== null)
      pen.fillRect(end, Math.min(last, y), 1, Math.abs(last - y) + 3);
    last = y;
    const right = Math.min(end, width), step = waits ? 6 : width; // dashes
    for (let x = Math.max(LABELS, Math.round(toX(from))); x < right; x += step)
      pen.fillRect(x, y, Math.min(waits ? 3 : step, right - x), 3);
  }
}
