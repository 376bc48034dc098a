// colours.js - the colours of recorders and spans, by their names.
// SPDX-License-Identifier: MIT
'use strict';

// Found by a search program: any two of 32 are 15 apart by CIEDE2000 (2 is just
// visible), all 20 from the background, at a contrast of 3:1 or more; text is
// readable on each.
const PALETTE = {
  light: [
    '#fc30c0', '#3c54f0', '#d80c18', '#fc5400', '#249c18', '#e40060', '#cc780c',
    '#9c4800', '#600c9c', '#606c00', '#9078fc', '#840c00', '#906c00', '#b40c90',
    '#006c30', '#840c3c', '#0090d8', '#009c90', '#c07878', '#004884', '#909048',
    '#a878a8', '#543c00', '#005454', '#483c60', '#84546c', '#6c483c', '#6c6c84',
    '#3c4830', '#9c846c', '#6c7860', '#547884',
  ],
  dark: [
    '#fc24cc', '#9060fc', '#fc1830', '#fc8400', '#84f048', '#fc3078', '#fcb400',
    '#e4d800', '#d890fc', '#189c00', '#0084e4', '#b47800', '#909000', '#fc9cc0',
    '#00cc84', '#c06c48', '#00d8fc', '#00f0e4', '#fc9084', '#90c0fc', '#c0cc90',
    '#a86c9c', '#cca878', '#009c90', '#8484a8', '#a88484', '#90846c', '#d8ccf0',
    '#849c84', '#f0ccc0', '#b4d8cc', '#6c909c',
  ],
};
const COLOURS = PALETTE.light.length, VIVID = 16; // the first of them
// After the palette: hues of waits and states, and the colour of plain things.
const HUES = [212, 28, 150, 318, 4, 262, 186, 52, 96, 340, 236, 168];
const PLAIN = COLOURS + HUES.length;
// Waits have colours by their kinds: reds for locks, blues for idle threads.
const WAIT_HUES = {mutex: 4, rwlock: 1, spin: 3, once: 7, cond: 0, sem: 6,
  barrier: 5, thread: 2, holding: 8};

// FNV-1a.
function hashOf(text) {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++)
    hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}
const compare = (a, b) => a < b ? -1 : Number(a > b);

// A name has the colour of its hash, or the next free one: the same names have
// the same colours, in any order of arrival.
class Colours {
  of = new Map();
  uses = new Array(COLOURS).fill(0);
  add(names) {
    for (const name of names) {
      if (this.of.has(name)) continue;
      const least = Math.min(...this.uses);
      let i = hashOf(name) % VIVID;
      while (this.uses[i] > least) i = (i + 1) % COLOURS;
      this.uses[i]++;
      this.of.set(name, i);
    }
  }
}
const recorderColours = new Colours(), spanColours = new Colours();
let newNames = []; // [name, source] of recorders, also of those not chosen
let bySpans = false; // else by recorders

// Gives colours to the names of the last batches. The first of several sources
// has the same colours as without the others.
function giveColours() {
  newNames.sort(([a, from], [b, other]) => from - other || compare(a, b));
  recorderColours.add(newNames.map(([name]) => name));
  newNames = [];
  spanColours.add(formats.filter(f => f.opens || f.step)
    .map(f => f.span).sort(compare));
  spanColours.add(formats.filter(f => f.closes).map(f => f.span).sort(compare));
  for (const recorder of recorders)
    recorder.colour = recorderColours.of.get(recorder.name);
}
const inOrder = new Intl.Collator('en', {numeric: true});
// Recorders sorted by source, then by name.
const recordersByName = () => [...recorders].sort((a, b) =>
  a.source - b.source || inOrder.compare(a.name, b.name) ||
  compare(a.name, b.name) || a.number - b.number);

// The colour of an event.
function painted(row) {
  const {recorder, format} = sites[events.site[row]];
  if (recorder.name === WAITS) {
    const hue = WAIT_HUES[format.text.slice(1).split(' ', 1)[0]];
    if (hue !== undefined) return COLOURS + hue;
  }
  if (!bySpans) return recorder.colour;
  return format.opens || format.closes || format.step
    ? spanColours.of.get(format.span) : PLAIN;
}
function colourOf(i) {
  if (i < COLOURS) return PALETTE[ink.dark ? 'dark' : 'light'][i];
  if (i === PLAIN) return ink.gap;
  return ink.dark ? `hsl(${HUES[i - COLOURS]} 62% 64%)`
    : `hsl(${HUES[i - COLOURS]} 68% 41%)`;
}
// The colour of a recorder in the list.
const markOf = recorder => colourOf(bySpans ? PLAIN : recorder.colour);

function luminance(hex) {
  const [r, g, b] = [1, 3, 5].map(i => parseInt(hex.slice(i, i + 2), 16) / 255)
    .map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
function contrast(one, other) {
  const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}
// The more readable colour for text on a colour.
function inkOn(i) {
  if (i >= COLOURS) { // the hues between are bright
    const hue = HUES[i - COLOURS];
    return !ink.dark && hue > 40 && hue < 200 ? ink.text : ink.back;
  }
  const on = colourOf(i);
  return contrast(on, ink.back) >= contrast(on, ink.text) ? ink.back : ink.text;
}
function colourBySpans(is) {
  bySpans = is;
  $('colour').value = is ? 'spans' : 'recorders';
  spansShown = '';
  showRecorders();
  remember();
  invalidate();
}
