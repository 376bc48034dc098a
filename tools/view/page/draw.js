// draw.js - the timeline: a ruler and lanes on a canvas.
// SPDX-License-Identifier: MIT
'use strict';

let LABELS = 208; // px, for names; fewer on a phone
const RULER = 30, LANE = 24, HEADING = 20, SPAN = 15;
const LEAST_VIEW = 10; // ns

const $ = id => document.getElementById(id);
const canvas = $('canvas'), pen = canvas.getContext('2d', {alpha: false});
// The visible span, in ns from the program's start, and its settings.
const view = {
  from: 0, to: 1, threads: true, recorders: true, scrolled: 0,
  selected: -1, // row
  measure: null, // {from, to}
  pointer: null, // {x, y} above the canvas
  tableFrom: NaN, tableTo: NaN,
};
let width = 0, height = 0, layout = [], layoutHeight = 0, ink = {};
let pinnedHeight = 0; // px, of the heading and lines of pinned threads

const toX = ns => LABELS + (ns - view.from) / (view.to - view.from) *
  (width - LABELS);
const toNs = x => view.from + (x - LABELS) / (width - LABELS) *
  (view.to - view.from);

// Pinned lines come first and stay at the top, if half of the lanes are left.
const stuckHeight = () =>
  pinnedHeight * 2 <= height - RULER ? pinnedHeight : 0;
const isStuck = line => line.top < stuckHeight();
const topOf = line => RULER + line.top - (isStuck(line) ? 0 : view.scrolled);

// ------------------------------------------------------------------ colours --

// Of a text about an event: red or yellow if it was severe.
function inkOf(row) {
  const level = formatOf(row).severity?.at(-1);
  return level === '3' ? ink.severe3 : level === '2' ? ink.severe2 : ink.dim;
}
function hatched(colour) {
  const tile = document.createElement('canvas'), line = tile.getContext('2d');
  tile.width = tile.height = 6;
  line.strokeStyle = colour;
  line.lineWidth = 1;
  line.beginPath();
  for (const x of [-3, 0, 3]) {
    line.moveTo(x - 1, 7 + x);
    line.lineTo(x + 7, -1 + x);
  }
  line.stroke();
  return pen.createPattern(tile, 'repeat');
}
function readColours() {
  const style = getComputedStyle(document.documentElement);
  ink = {dark: style.getPropertyValue('--dark').trim() === '1'};
  for (const name of ['back', 'panel', 'text', 'dim', 'line', 'faint', 'accent',
    'hit', 'gap', 'warn', 'severe2', 'severe3'])
    ink[name] = style.getPropertyValue(`--${name}`).trim();
  ink.hatch = hatched(ink.gap);
  ink.ready = hatched(ink.accent);
  ink.mono = style.getPropertyValue('--mono').trim();
  ink.font = style.getPropertyValue('--sans').trim();
}

// ------------------------------------------------------------------- layout --

const heightOfThread = lane => LANE + SPAN * lane.depth +
  (stripOf(lane) ? STRIP : 0);
function makeLayout() {
  let top = 0;
  layout = [];
  const addLines = (title, lines, heightOf) => {
    layout.push({title, top, height: HEADING});
    top += HEADING;
    for (const line of lines) {
      layout.push({...line, top, height: heightOf(line.lane)});
      top += layout.at(-1).height;
    }
  };
  const add = (title, list, heightOf) =>
    addLines(title, list.map(lane => ({lane, within: 0})), heightOf);
  const pinned = view.threads ? threadLanes.filter(lane => lane &&
    isPinned(lane)) : [];
  if (pinned.length) add('Pinned', pinned, heightOfThread);
  pinnedHeight = top;
  if (view.threads && processors.length)
    add('Processors', processors.filter(cpu => cpu), cpu =>
      LANE + SPAN * cpu.levels.length);
  // Of several sources, each has its threads and recorders under its name.
  for (const [i, source] of (about.sources ?? [null]).entries()) {
    const is = source ? `${source.title}: ${source.program} ${source.pid}` : '';
    const own = lane => lane && (!source || lane.thing.source === i);
    if (view.threads) {
      const {lines, words} = threadLines(i, threadLanes.filter(lane =>
        own(lane) && !isPinned(lane) && (lane.rows.count || stripOf(lane))));
      addLines((source ? `${is}${source.clock && `, clock ${source.clock}`}`
        : 'Threads') + words, lines, heightOfThread);
    }
    const byId = asyncLanes.filter(lane => !lane.thing.recorder.hidden &&
      (!source || lane.thing.recorder.source === i));
    if (view.threads && (source ? byId : asyncLanes).length)
      add(source ? `${is}, spans by id` : 'Spans by id', byId,
        lane => LANE + SPAN * lane.depth);
    if (view.recorders)
      add(source ? `${is}, recorders` : 'Recorders',
        recordersByName().map(({number}) => recorderLanes[number])
          .filter(lane => own(lane) && !lane.thing.hidden), () => LANE);
  }
  layoutHeight = top;
  noteLines();
  showTree();
  showLanes();
  $('stage').style.setProperty('--wanted', `${top + RULER + 6}px`);
}

function resize() {
  const box = canvas.parentElement.getBoundingClientRect();
  const scale = window.devicePixelRatio || 1, labels = LABELS;
  LABELS = box.width < 640 ? 108 : 208;
  $('stage').style.setProperty('--labels', `${LABELS}px`);
  if (LABELS !== labels && plotted().length) makePlots();
  width = Math.max(LABELS + 100, Math.floor(box.width));
  height = Math.floor(box.height);
  const wide = Math.round(width * scale), tall = Math.round(height * scale);
  if (canvas.width === wide && canvas.height === tall) return;
  canvas.width = wide; // which makes it black
  canvas.height = tall;
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  pen.setTransform(scale, 0, 0, scale, 0, 0);
}

// -------------------------------------------------------------------- lanes --

// Rectangles by colour: one change of it for each.
const batches = Array.from({length: PLAIN + 1}, () => []);
const put = (colour, x, y, w, h) => batches[colour].push(x, y, w, h);
function putAll() {
  for (const [colour, batch] of batches.entries()) {
    if (!batch.length) continue;
    pen.fillStyle = colourOf(colour);
    for (let i = 0; i < batch.length; i += 4)
      pen.fillRect(batch[i], batch[i + 1], batch[i + 2], batch[i + 3]);
    batch.length = 0;
  }
}

function write(text, x, y, most) {
  if (most < 12) return;
  const size = ink.letter, fit = Math.floor(most / size);
  pen.fillText(text.length <= fit ? text
    : `${text.slice(0, Math.max(0, fit - 1))}\u2026`, x, y);
}

// A tick for each pixel that has an event, the higher the more it has, and the
// messages where there is room between two.
function drawTicks(lane, top) {
  const {rows} = lane, {list, count} = rows, at = events.at;
  const perPixel = (view.to - view.from) / (width - LABELS);
  const texts = [];
  let place = rows.find(view.from - perPixel);
  while (place < count && at[list[place]] <= view.to) {
    const row = list[place], x = Math.floor(toX(at[row]));
    const next = rows.gallop(toNs(x + 1), place);
    const here = Math.max(1, next - place);
    const gap = (next < count ? toX(at[list[next]]) : width) - x;
    const tall = Math.min(LANE - 6, 9 + Math.log2(here));
    put(painted(row), x, top + LANE - 3 - tall, gap > 3 ? 2 : 1, tall);
    if (gap > 60 && here === 1 &&
        !(formatOf(row).opens && lane.thing.label)) // its bar says it
      texts.push([row, x + 5, Math.min(gap, width - x) - 10]);
    place += here;
  }
  return texts;
}

function drawMarks(rows, top, colour) {
  const {list, count} = rows, at = events.at;
  let place = rows.find(view.from);
  pen.fillStyle = colour;
  while (place < count && at[list[place]] <= view.to) {
    const x = Math.floor(toX(at[list[place]]));
    pen.fillRect(x - 1, top + 2, 4, 4);
    place = Math.max(place + 1, rows.gallop(toNs(x + 1), place));
  }
}

// Bars, nested by depth; shorter ones share one bar a pixel.
function drawSpans(lane, top, texts) {
  const at = events.at, {list, count} = lane.rows;
  if (lane.waits && count) { // it runs between its waits
    const x = Math.max(LABELS, toX(at[list[0]]));
    const end = Math.min(width, toX(at[list[count - 1]]));
    pen.fillStyle = ink.faint;
    if (end > x) pen.fillRect(x, top + LANE, end - x, SPAN - 2);
  }
  for (const [depth, {open, close}] of lane.spans.entries()) {
    const y = top + LANE + depth * SPAN;
    let place = close.find(view.from);
    while (place < open.count && at[open.list[place]] <= view.to) {
      const row = open.list[place];
      const x = Math.max(LABELS, Math.floor(toX(at[row])));
      const end = Math.min(width + 1, toX(at[close.list[place]]));
      const long = Math.max(1, Math.floor(end - x));
      put(painted(row), x, y, long, SPAN - 2);
      if (long > 30)
        texts.push([row, x + 4, long - 8, y + SPAN / 2 - 1]);
      if (long >= RELEASE_SPAN && recorderOf(row).name === WAITS)
        ends.push([close.list[place], y + (SPAN - 2) / 2]);
      place = Math.max(place + 1, close.gallop(toNs(x + 1), place));
    }
  }
  // Spans without an end are drawn faint, up to the last record or the thread's
  // end.
  const right = lane.thing.ended ? Math.min(width, toX(lane.last)) : width;
  for (const [depth, row] of lane.open.slice(0, DEPTH_SHOWN).entries()) {
    const x = Math.max(LABELS, toX(at[row]));
    if (!(x <= right) || isHidden(row)) continue;
    pen.fillStyle = colourOf(painted(row));
    pen.globalAlpha = 0.35;
    pen.fillRect(x, top + LANE + depth * SPAN, Math.max(2, right - x), SPAN - 2);
    pen.globalAlpha = 1;
    texts.push([row, x + 4, right - x - 8,
      top + LANE + depth * SPAN + SPAN / 2 - 1, true]);
  }
}

// Arrows from the thread that unlocked, signalled or posted to the end of a
// wait. Waits too short to be visible have none.
const RELEASE_SPAN = 5, RELEASES_MAX = 2000;
const ends = [], releases = []; // ends: [row, y], as the spans are drawn
const BY = /, (?:ended )?by T([1-9]\d*)\b/;
// The index of the thread that ended the wait of a row; -1: not known.
function wakerOf(row) {
  const by = BY.exec(message(row, invalidate) ?? '');
  const {source} = threads[events.thread[row]];
  return by ? threadIndex.get(`${source} ${by[1]}`) ?? -1 : -1;
}
function drawReleases() {
  releases.length = 0;
  for (const [row, y] of ends) {
    if (events.at[row] > view.to || releases.length >= RELEASES_MAX) continue;
    const from = wakerOf(row), line = lineOf(threads[from]);
    if (line && from !== events.thread[row])
      releases.push({row, from: threads[from].number,
        x: Math.round(toX(events.at[row])), y, top: topOf(line) + LANE - 3});
  }
  ends.length = 0;
  pen.fillStyle = ink.text;
  for (const {x, y, top} of releases) {
    const down = top < y ? 1 : -1;
    pen.fillRect(x, Math.min(top, y), 1, Math.abs(y - top));
    pen.fillRect(x - 2, top - 1, 5, 2); // the end of the thread that woke it
    for (let i = 0; i < 5; i++)
      pen.fillRect(x - i, y - down * i, 2 * i + 1, 1);
  }
}

function drawTexts(texts, top) {
  for (const [row, x, most, y, faint] of texts) {
    let text = message(row, invalidate);
    if (text === null) continue;
    if (y !== undefined) text = text.replace(/^(>>|>)\s*/, '');
    text = severityText(formatOf(row)) + text;
    pen.fillStyle = y === undefined ? inkOf(row) : faint ? ink.text
      : inkOn(painted(row));
    write(text, x, y ?? top + LANE / 2 + 1, most);
  }
}

// Draws the time of a recorder's overwritten records.
function drawGap(recorder, top) {
  const {count, roughly, end: until} = recorder.gap ?? {count: 0n};
  const end = Number.isNaN(until) ? width : Math.min(width, toX(until));
  if (count === 0n || end <= LABELS) return;
  const y = top + 2, text = `${roughly}${group(count)} overwritten`;
  const room = text.length * ink.letter + 10;
  pen.fillStyle = ink.hatch;
  pen.fillRect(LABELS, y, end - LABELS, LANE - 4);
  pen.fillStyle = ink.gap;
  pen.fillRect(end - 1, y, 1, LANE - 4);
  if (end - LABELS < room + 4) return;
  pen.fillStyle = ink.back;
  pen.fillRect(end - room - 2, y, room, LANE - 4);
  pen.fillStyle = ink.dim;
  pen.fillText(text, end - room + 3, top + LANE / 2 + 1);
}

function drawLabel({lane, within, folds: fold, height: h}, top) {
  const {thing} = lane, middle = top + LANE / 2 + 1;
  const recorder = thing.overwritten !== undefined;
  let left = 10 + 12 * within, right = LABELS - 10;
  pen.fillStyle = ink.panel;
  pen.fillRect(0, top, LABELS, h);
  pen.textAlign = 'right';
  pen.fillStyle = ink.dim;
  const count = thing.idle || LABELS < 150 ? '' // there is none, or no room
    : group(lane.levels ? lane.runs.begin.length : lane.rows.count);
  pen.fillText(count, right, middle);
  right -= count.length * ink.letter + 8;
  if (recorder && thing.lost > 0n) {
    const lost = `${group(thing.lost)} lost`;
    pen.fillStyle = ink.warn;
    pen.fillText(lost, right, middle);
    right -= lost.length * ink.letter + 8;
  }
  pen.textAlign = 'left';
  if (recorder) {
    pen.fillStyle = markOf(thing);
    pen.fillRect(left, top + LANE / 2 - 4, 8, 8);
    left += 14;
  }
  if (fold) {
    pen.fillStyle = ink.dim;
    pen.beginPath();
    for (const [x, y] of fold.open ? [[0, -3], [8, -3], [4, 4]]
      : [[1, -4], [1, 4], [8, 0]])
      pen.lineTo(left + x, middle - 1 + y);
    pen.fill();
    left += 14;
  }
  pen.fillStyle = ink.text;
  write(recorder ? thing.name : thing.label, left, middle, right - left);
  if (lane.deepest > DEPTH_SHOWN) {
    pen.fillStyle = ink.dim;
    write(`${DEPTH_SHOWN} of ${lane.deepest} levels of spans`, left,
      top + LANE + SPAN / 2, LABELS - 20);
  }
}

// Where the lanes are scrolled to, if they do not fit.
function drawThumb() {
  const room = height - RULER;
  if (layoutHeight <= room) return;
  const tall = Math.max(16, room * room / layoutHeight);
  pen.fillStyle = ink.dim;
  pen.globalAlpha = 0.6;
  pen.fillRect(width - 5, RULER + view.scrolled * (room - tall) /
    (layoutHeight - room), 4, tall);
  pen.globalAlpha = 1;
}

// -------------------------------------------------------------------- ruler --

function stepFor(least) {
  const ten = 10 ** Math.floor(Math.log10(least));
  return Math.max(1, [1, 2, 5, 10].find(n => n * ten >= least) * ten);
}
// "12.345 678 s": as many digits as a step needs, in groups of three.
function tickText(ns, step) {
  const digits = Math.min(9, Math.max(0, Math.ceil(9 - Math.log10(step))));
  const [whole, part] = (Math.abs(ns) / 1e9).toFixed(digits).split('.');
  const groups = part ? `.${part.match(/.{1,3}/g).join('\u2009')}` : '';
  return `${ns < 0 ? '\u2212' : ''}${group(whole)}${groups}`;
}
const group = number => String(number).replace(/\B(?=(\d{3})+$)/g, '\u2009');

// The least step whose texts have room.
function rulerStep() {
  const each = (view.to - view.from) / (width - LABELS);
  for (const room of [60, 90, 120]) {
    const step = clockStep(each * room);
    if (pen.measureText(clockTick(view.to, step)).width + 12 < room) return step;
  }
  return clockStep(each * 150);
}
function drawRuler() {
  const step = rulerStep(), shift = clockShift(step);
  pen.fillStyle = ink.panel;
  pen.fillRect(0, 0, width, RULER);
  pen.fillStyle = ink.line;
  pen.fillRect(0, RULER - 1, width, 1);
  pen.fillStyle = ink.dim;
  pen.fillText(clockTitle(), 10, 13);
  pen.save();
  pen.beginPath();
  pen.rect(LABELS, 0, width - LABELS, height);
  pen.clip();
  pen.fillStyle = ink.warn;
  for (const {at} of late)
    if (at >= view.from && at <= view.to)
      pen.fillRect(Math.round(toX(at)) - 1, RULER - 10, 2, 6);
  for (let ns = Math.ceil((view.from + shift) / step) * step - shift - step;
    ns <= view.to; ns += step) {
    const x = Math.round(toX(ns));
    pen.fillStyle = ink.line;
    pen.fillRect(x, RULER - 9, 1, 9);
    pen.fillStyle = ink.text;
    if (x + 4 >= LABELS) pen.fillText(clockTick(ns, step), x + 4, 13);
    for (let i = 1; i < 5; i++)
      pen.fillRect(Math.round(toX(ns + i * step / 5)), RULER - 4, 1, 3);
  }
  if (view.tableTo >= view.tableFrom) {
    const x = toX(view.tableFrom);
    pen.fillStyle = ink.accent;
    pen.fillRect(x, RULER - 3, Math.max(3, toX(view.tableTo) - x), 3);
  }
  for (const lane of recorderLanes)
    if (lane) drawMarks(lane.hits, -2, ink.hit);
  pen.restore();
}

function drawMeasure() {
  if (!view.measure) return;
  const {from, to} = view.measure;
  const x = Math.max(LABELS, toX(Math.min(from, to)));
  const end = Math.min(width, toX(Math.max(from, to)));
  if (end < LABELS || x > width) return;
  pen.fillStyle = ink.accent;
  pen.globalAlpha = 0.14;
  pen.fillRect(x, RULER, end - x, height);
  pen.globalAlpha = 1;
  pen.fillRect(x, RULER - 6, 1, height);
  pen.fillRect(end - 1, RULER - 6, 1, height);
}

function drawLine(ns, colour, dash) {
  const x = Math.round(toX(ns)) + 0.5;
  if (!(x >= LABELS && x <= width)) return;
  pen.strokeStyle = colour;
  pen.setLineDash(dash);
  pen.beginPath();
  pen.moveTo(x, RULER - 9);
  pen.lineTo(x, height);
  pen.stroke();
  pen.setLineDash([]);
}

// -------------------------------------------------------------------- whole --

// Draws lines between two heights.
function drawLines(lines, from, to) {
  pen.save();
  pen.beginPath();
  pen.rect(0, from, width, to - from);
  pen.clip();
  pen.fillStyle = ink.back;
  pen.fillRect(0, from, width, to - from);
  const all = [];
  for (const line of lines) {
    const {lane, height: h} = line, top = topOf(line);
    pen.fillStyle = lane ? ink.faint : ink.panel;
    pen.fillRect(LABELS, top + (lane ? h - 1 : 0), width, lane ? 1 : h);
    if (!lane) continue;
    if (lane.levels) {
      drawProcessor(lane, top);
      continue;
    }
    if (stripOf(lane)) drawStrip(stripOf(lane), top + h - STRIP);
    if (lane.thing.overwritten !== undefined)
      drawGap(lane.thing, top);
    const texts = drawTicks(lane, top);
    drawSpans(lane, top, texts);
    all.push([texts, top]);
  }
  putAll();
  for (const [texts, top] of all)
    drawTexts(texts, top);
  for (const line of lines) {
    const {lane} = line, top = topOf(line);
    if (!lane || lane.levels) continue;
    drawMarks(lane.severe[2], top + LANE - 9, ink.severe2);
    drawMarks(lane.severe[3], top + LANE - 9, ink.severe3);
    drawMarks(lane.hits, top, ink.hit);
  }
  for (const line of lines) {
    const top = topOf(line);
    if (line.lane) {
      drawLabel(line, top);
      pen.fillStyle = ink.faint;
      pen.fillRect(0, top + line.height - 1, LABELS, 1);
    } else {
      pen.fillStyle = ink.panel;
      pen.fillRect(0, top, LABELS, HEADING);
      pen.fillStyle = ink.dim;
      pen.font = `600 11px ${ink.font}`;
      pen.fillText(line.title, 10, top + HEADING / 2 + 1);
      pen.font = `12px ${ink.mono}`;
    }
  }
  pen.restore();
}
function drawLanes() {
  const stuck = RULER + stuckHeight();
  const seen = layout.filter(l => isStuck(l) ||
    (topOf(l) + l.height > stuck && topOf(l) < height));
  drawLines(seen.filter(l => !isStuck(l)), stuck, height);
  drawLines(seen.filter(isStuck), RULER, stuck);
  pen.fillStyle = ink.line;
  if (stuck > RULER) pen.fillRect(0, stuck - 1, width, 1);
  pen.save();
  pen.beginPath();
  pen.rect(LABELS, RULER, width - LABELS, height);
  pen.clip();
  drawReleases();
  drawPath();
  drawArrows(seen);
  pen.restore();
}

function draw() {
  pen.fillStyle = ink.back;
  pen.fillRect(0, 0, width, height);
  pen.font = `12px ${ink.mono}`;
  pen.textBaseline = 'middle';
  pen.textAlign = 'left';
  ink.letter = pen.measureText('0').width;
  drawLanes();
  drawMeasure();
  if (view.selected >= 0)
    drawLine(events.at[view.selected], ink.accent, []);
  if (view.pointer && view.pointer.x > LABELS)
    drawLine(toNs(view.pointer.x), ink.dim, [2, 3]);
  drawRuler();
  pen.fillStyle = ink.line;
  pen.fillRect(LABELS - 1, 0, 1, height);
  drawThumb();
  drawOverview();
  canvas.hidden = false;
  $('lanes').firstElementChild.style.transform =
    `translateY(${-view.scrolled}px)`;
  for (const [i, line] of tree.lines.entries())
    if (line.top < pinnedHeight)
      $('lanes').firstElementChild.children[i].style.top =
        `${topOf(line) - RULER + view.scrolled}px`;
}

const lineAt = y => y < RULER ? undefined
  : layout.find(l => l.lane && y >= topOf(l) && y < topOf(l) + l.height &&
    (isStuck(l) || y >= RULER + stuckHeight()));
// The event nearest to a point: of its lane's ticks, or the span below it.
function rowAt(x, y) {
  const line = lineAt(y);
  if (!line || x < LABELS || y < RULER || line.lane.levels) return -1;
  const {lane} = line, ns = toNs(x), at = events.at;
  const depth = Math.floor((y - topOf(line) - LANE) / SPAN);
  const spans = lane.spans[depth];
  if (spans) {
    const place = spans.close.find(ns);
    if (place < spans.open.count && at[spans.open.list[place]] <= ns)
      return spans.open.list[place];
  }
  if (depth >= 0 && depth < DEPTH_SHOWN && at[lane.open[depth]] <= ns &&
      !(lane.thing.ended && ns > lane.last))
    return lane.open[depth];
  const {rows} = lane, place = rows.find(ns);
  const near = [place - 1, place].filter(p => p >= 0 && p < rows.count)
    .map(p => rows.list[p])
    .sort((a, b) => Math.abs(at[a] - ns) - Math.abs(at[b] - ns))[0];
  return near !== undefined && Math.abs(toX(at[near]) - x) < 7 ? near : -1;
}
