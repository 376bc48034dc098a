// overview.js - a strip of the whole recording; the view in it moves by dragging.
// SPDX-License-Identifier: MIT
'use strict';

const strip = $('overview'), stripPen = strip.getContext('2d', {alpha: false});
let density = {key: '', counts: []}; // shown events of each pixel

const stripX = (ns, [from, to]) => LABELS + (ns - from) / (to - from) *
  (width - LABELS);
const stripNs = (x, [from, to]) => from + (x - LABELS) / (width - LABELS) *
  (to - from);

function countPixels(time) {
  const key = `${time} ${width} ${LABELS} ${events.count} ${picked.run} ${
    leastSeverity} ${recorders.map(r => Number(r.hidden)).join('')} ${
    picked.count}`;
  if (key === density.key) return density.counts;
  const counts = new Float64Array(Math.max(1, width - LABELS));
  for (const {rows, thing} of recorderLanes.filter(lane => lane)) {
    let place = thing.hidden ? rows.count : rows.find(time[0]);
    for (let x = 0; x < counts.length && place < rows.count; x++) {
      const next = rows.gallop(stripNs(LABELS + x + 1, time), place);
      const first = events.at[rows.list[place]];
      if (first >= stripNs(LABELS + x + 1, time)) continue;
      counts[x] += Math.max(1, next - place);
      place = Math.max(place + 1, next);
    }
  }
  density = {key, counts};
  return counts;
}

function drawOverview() {
  const time = whole(), scale = window.devicePixelRatio || 1;
  const tall = strip.clientHeight, wide = Math.round(width * scale);
  if (!tall) return;
  if (strip.width !== wide || strip.height !== Math.round(tall * scale)) {
    strip.width = wide;
    strip.height = Math.round(tall * scale);
  }
  stripPen.setTransform(scale, 0, 0, scale, 0, 0);
  stripPen.fillStyle = ink.back;
  stripPen.fillRect(0, 0, width, tall);
  const counts = countPixels(time), most = Math.log2(1 + Math.max(...counts));
  stripPen.fillStyle = ink.dim;
  for (const [x, count] of counts.entries()) {
    const high = count ? Math.max(2, Math.log2(1 + count) / most * (tall - 4))
      : 0;
    stripPen.fillRect(LABELS + x, tall - 1 - high, 1, high);
  }
  const from = Math.max(LABELS, stripX(view.from, time));
  const to = Math.min(width, Math.max(from + 3, stripX(view.to, time)));
  stripPen.fillStyle = ink.accent;
  stripPen.globalAlpha = 0.22;
  stripPen.fillRect(from, 0, to - from, tall);
  stripPen.globalAlpha = 1;
  stripPen.fillRect(from, 0, 1, tall);
  stripPen.fillRect(to - 1, 0, 1, tall);
  stripPen.fillStyle = ink.panel;
  stripPen.fillRect(0, 0, LABELS, tall);
  stripPen.fillStyle = ink.dim;
  stripPen.font = `12px ${ink.mono}`;
  stripPen.textBaseline = 'middle';
  stripPen.fillText(duration(events.last - events.first || 0), 10, tall / 2);
  stripPen.fillStyle = ink.line;
  stripPen.fillRect(LABELS - 1, 0, 1, tall);
  stripPen.fillRect(0, tall - 1, width, 1);
}

// A press outside of the view moves its middle there; dragging moves on.
let grip = null; // ns from the middle of the view to the pointer
strip.addEventListener('pointerdown', event => {
  const {left} = strip.getBoundingClientRect(), {from, to} = view;
  const ns = stripNs(event.clientX - left, whole()), middle = (from + to) / 2;
  grip = ns >= from && ns <= to && !all ? ns - middle : 0;
  strip.setPointerCapture(event.pointerId);
  if (!all) stripShow(event);
});
function stripShow(event) {
  const {left} = strip.getBoundingClientRect();
  const middle = stripNs(event.clientX - left, whole()) - grip;
  const half = (view.to - view.from) / 2;
  show(middle - half, middle + half);
}
strip.addEventListener('pointermove', event => {
  if (grip !== null && !all) stripShow(event);
});
for (const name of ['pointerup', 'pointercancel'])
  strip.addEventListener(name, () => {
    grip = null;
  });
