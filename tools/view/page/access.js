// access.js - for users without sight or mouse: a tree of lanes, and speech.
// SPDX-License-Identifier: MIT
'use strict';

// -------------------------------------------------------------------- lanes --

// Invisible elements over the drawn names of lanes have the focus, and screen
// readers read them.
const tree = {lines: [], at: 0}; // of the layout, and which has the focus
function laneWords({lane, folds: fold}) {
  const {thing} = lane, what = thing.overwritten !== undefined
    ? `recorder ${thing.shown}` : lane.levels ? `processor ${thing.label}`
      : thing.fold ? `threads ${thing.label}`
        : thing.recorder ? `spans ${thing.label}` : `thread ${thing.label}`;
  const count = lane.levels ? lane.runs.begin.length : lane.rows.count;
  return `${what}, ${count} ${lane.levels ? 'runs' : 'events'}${
    fold && !fold.open ? ', folded' : ''}`;
}
function showTree() {
  const box = $('lanes').firstElementChild;
  tree.lines = layout.filter(line => line.lane);
  tree.at = Math.max(0, Math.min(tree.at, tree.lines.length - 1));
  while (box.children.length > tree.lines.length) box.lastChild.remove();
  while (box.children.length < tree.lines.length) {
    const item = box.appendChild(make('div', ''));
    item.setAttribute('role', 'treeitem');
  }
  const set = (item, name, value) => {
    if (value === null) item.removeAttribute(name);
    else if (item.getAttribute(name) !== value) item.setAttribute(name, value);
  };
  for (const [i, line] of tree.lines.entries()) {
    const item = box.children[i];
    set(item, 'aria-label', laneWords(line));
    set(item, 'aria-level', String(line.within + 1));
    set(item, 'aria-expanded', line.folds ? String(line.folds.open) : null);
    set(item, 'tabindex', i === tree.at ? '0' : '-1');
    item.style.top = `${line.top}px`;
    item.style.height = `${line.height}px`;
  }
}
function toLane(at) {
  const line = tree.lines[at];
  if (!line) return;
  tree.at = at;
  showTree();
  const above = topOf(line) - RULER - stuckHeight();
  const below = topOf(line) + line.height - height;
  if (above < 0 && !isStuck(line)) scrollLanes(above);
  else if (below > 0) scrollLanes(below);
  $('lanes').firstElementChild.children[at].focus({preventScroll: true});
}
// The first event of a lane that is in view.
function intoLane({lane}) {
  const place = lane.rows.find(view.from), row = lane.rows.list[place];
  if (place < lane.rows.count && events.at[row] <= view.to) select(row);
  else tell('no event in view');
}
function foldLane(line) {
  const {fold} = line.lane.thing;
  toggleFold(fold);
  toLane(tree.lines.findIndex(({lane}) => lane.thing.fold === fold));
}
const laneKeys = {
  ArrowDown: () => toLane(tree.at + 1), ArrowUp: () => toLane(tree.at - 1),
  Home: () => toLane(0), End: () => toLane(tree.lines.length - 1),
  ArrowRight: line => line.folds && !line.folds.open ? foldLane(line)
    : toLane(tree.at + (line.folds ? 1 : 0)),
  ArrowLeft: line => {
    if (line.folds?.open) foldLane(line);
    else if (line.within) toLane(tree.lines.findLastIndex((other, i) =>
      i < tree.at && other.within < line.within));
  },
  Enter: line => line.folds ? foldLane(line) : intoLane(line),
};
laneKeys[' '] = laneKeys.Enter;
$('lanes').addEventListener('keydown', event => {
  if (event.ctrlKey || event.metaKey || event.altKey ||
      !Object.hasOwn(laneKeys, event.key)) return;
  event.preventDefault();
  event.stopPropagation(); // these keys act on the tree, not on the page
  laneKeys[event.key](tree.lines[tree.at]);
});

// -------------------------------------------------------------------- words --

// Said by a screen reader when it has time.
function tell(text) {
  $('said').textContent = text;
}
function tellEvent(row, {message: words, thread}) {
  tell(`number ${orderOf(row)}, ${timeOf(row)}${unitText()}, thread ${
    thread.shown}, recorder ${recorderOf(row).shown}: ${
    severityText(formatOf(row))}${words}`);
}
// Announces the view once the keys rest.
let telling = 0;
function tellView() {
  clearTimeout(telling);
  telling = setTimeout(() => tell(`${placeText(view.from)} to ${
    placeText(view.to)}, ${countBetween(view.from, view.to)} events`), 600);
}

// -------------------------------------------------------------------- touch --

// Two fingers zoom where they are; one moves, as the mouse does.
const fingers = new Map();
function pinched(event) {
  if (!fingers.has(event.pointerId)) return false;
  const now = pointOf(event), was = fingers.get(event.pointerId);
  fingers.set(event.pointerId, now);
  if (fingers.size !== 2) return false;
  const [other] = [...fingers].filter(([id]) => id !== event.pointerId)
    .map(([, point]) => point);
  const apart = point => Math.max(20, Math.hypot(point.x - other.x,
    point.y - other.y));
  const middle = point => (point.x + other.x) / 2;
  zoom(apart(was) / apart(now), Math.max(LABELS, middle(was)));
  pan((middle(was) - middle(now)) / (width - LABELS));
  scrollLanes((was.y - now.y) / 2);
  return true;
}
// A finger drags the table, which then keeps rolling for a while.
let finger = null; // {y, speed}
$('rows').addEventListener('pointerdown', event => {
  if (event.pointerType === 'touch') finger = {y: event.clientY, speed: 0};
});
$('rows').addEventListener('pointermove', event => {
  if (!finger || event.pointerType !== 'touch') return;
  finger.speed = finger.y - event.clientY;
  scrollTable(table.top + finger.speed / ROW);
  finger.y = event.clientY;
});
for (const name of ['pointerup', 'pointercancel'])
  $('rows').addEventListener(name, () => {
    let speed = finger?.speed ?? 0;
    finger = null;
    const on = () => {
      if (finger || Math.abs(speed) < 1) return;
      scrollTable(table.top + speed / ROW);
      speed *= 0.94;
      requestAnimationFrame(on);
    };
    on();
  });
