// input.js - mouse, keys and buttons; a running program; and the start.
// SPDX-License-Identifier: MIT
'use strict';

// -------------------------------------------------------------------- mouse --

const pointOf = event => {
  const box = canvas.getBoundingClientRect();
  return {x: event.clientX - box.left, y: event.clientY - box.top};
};
let drag = null; // {x, y, moved, measures}

canvas.addEventListener('pointerdown', event => {
  if (event.button !== 0) return;
  const {x, y} = pointOf(event);
  canvas.setPointerCapture(event.pointerId);
  if (event.pointerType === 'touch') fingers.set(event.pointerId, {x, y});
  if (fingers.size > 1) {
    drag = null;
    return;
  }
  drag = {x, y, moved: false, measures: event.shiftKey && x >= LABELS};
  if (drag.measures)
    view.measure = {from: toNs(x), to: toNs(x)};
});
canvas.addEventListener('pointermove', event => {
  const {x, y} = pointOf(event);
  if (pinched(event)) return;
  view.pointer = {x, y, down: Boolean(drag)};
  if (drag?.measures) {
    view.measure.to = toNs(Math.max(LABELS, Math.min(x, width)));
    drag.moved = true;
  } else if (drag && (drag.moved || Math.abs(x - drag.x) > 3 ||
      Math.abs(y - drag.y) > 3)) {
    drag.moved = true;
    scrollLanes(drag.y - y);
    if (x !== drag.x) pan((drag.x - x) / (width - LABELS));
    drag.x = x;
    drag.y = y;
  }
  invalidate();
});
canvas.addEventListener('pointerup', event => {
  const {x, y} = pointOf(event);
  fingers.delete(event.pointerId);
  if (drag?.measures && Math.abs(x - drag.x) < 3) view.measure = null;
  const line = lineAt(y);
  if (drag && !drag.moved && !drag.measures)
    if (x < LABELS && event.altKey) pin(line?.lane.thing);
    else if (x < LABELS && line?.folds) toggleFold(line.lane.thing.fold);
    else select(rowAt(x, y));
  drag = null;
  view.pointer = {x, y};
  invalidate();
});
canvas.addEventListener('pointercancel', event => {
  fingers.delete(event.pointerId);
  drag = null;
});
canvas.addEventListener('pointerleave', () => {
  view.pointer = null;
  invalidate();
});
canvas.addEventListener('wheel', event => {
  const {x} = pointOf(event);
  const unit = event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? 400 : 1;
  event.preventDefault();
  if (x < LABELS)
    scrollLanes(event.deltaY * unit);
  else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY))
    pan((event.deltaX || event.deltaY) * unit / (width - LABELS));
  else
    zoom(Math.exp(Math.max(-1, Math.min(1, event.deltaY * unit / 400))), x);
}, {passive: false});
canvas.addEventListener('dblclick', event => {
  const {x, y} = pointOf(event), row = rowAt(x, y);
  if (x >= LABELS && row >= 0 && spanEnds(row)) zoomToSpan(row);
  else if (x >= LABELS) zoom(0.25, x);
});
$('rows').addEventListener('wheel', event => {
  const unit = event.deltaMode === 1 ? 1 : event.deltaMode === 2 ? tableFit()
    : 1 / ROW;
  event.preventDefault();
  scrollTable(table.top + event.deltaY * unit);
}, {passive: false});
$('bar').addEventListener('scroll', onBar);

// The line between timeline and table.
$('divider').addEventListener('pointerdown', event => {
  const from = event.clientY, tall = $('stage').offsetHeight;
  const move = to => {
    $('stage').style.height = `${Math.max(80, Math.min(tall + to.clientY - from,
      window.innerHeight - 160))}px`;
  };
  $('divider').setPointerCapture(event.pointerId);
  $('divider').addEventListener('pointermove', move);
  $('divider').addEventListener('pointerup', () =>
    $('divider').removeEventListener('pointermove', move), {once: true});
});

// --------------------------------------------------------------------- keys --

const keys = {
  w: () => zoom(0.6), s: () => zoom(1 / 0.6), '+': () => zoom(0.6),
  '=': () => zoom(0.6), '-': () => zoom(1 / 0.6),
  a: () => pan(-0.2), d: () => pan(0.2),
  ArrowLeft: () => pan(-0.2), ArrowRight: () => pan(0.2), 0: showAll,
  ArrowUp: () => step(-1), ArrowDown: () => step(1),
  PageUp: () => step(-tableFit()), PageDown: () => step(tableFit()),
  Home: () => step(-tableCount()), End: () => step(tableCount()),
  z: () => zoomToSpan(),
  p: () => view.selected >= 0 && pin(threads[events.thread[view.selected]]),
  n: () => nextHit(1), N: () => nextHit(-1),
  q: () => scrollLanes(-4 * LANE), e: () => scrollLanes(4 * LANE),
  m: measure, g: () => $('filter').select(), c: () => colourBySpans(!bySpans),
  t: () => setClock({start: 'local', local: 'utc', utc: 'start'}[clock]),
  '/': () => $('search').select(), f: () => about.live && follow(),
  '?': () => $('help').showModal(),
  Escape: () => {
    view.measure = null;
    select(-1);
  },
};
document.addEventListener('keydown', event => {
  if (event.ctrlKey || event.metaKey || event.altKey || $('help').open) return;
  if (event.target.tagName === 'SELECT') return;
  if (event.target.tagName === 'INPUT') {
    if (event.key === 'Escape') canvas.focus();
    return;
  }
  const key = event.key.length > 1 || event.shiftKey ? event.key
    : event.key.toLowerCase();
  if (!Object.hasOwn(keys, key)) return;
  event.preventDefault();
  if ('wsad+=-0'.includes(key) || /^Arrow(Left|Right)$/.test(key)) tellView();
  keys[key]();
});

// ------------------------------------------------------------------ buttons --

let typing = 0;
$('search').addEventListener('input', () => {
  clearTimeout(typing);
  typing = setTimeout(() => find($('search').value), 200);
});
$('search-form').addEventListener('submit', event => {
  event.preventDefault();
  clearTimeout(typing);
  find($('search').value).then(() => nextHit(1));
  canvas.focus(); // so that n is the next hit, and no letter of the search
});
$('lane-filter').addEventListener('input', () => {
  clearTimeout(typing);
  typing = setTimeout(() => filterLanes($('lane-filter').value), 200);
});
$('clock').addEventListener('change', () => setClock($('clock').value));
$('lane-order').addEventListener('change', () =>
  orderLanes($('lane-order').value));
for (const what of ['names', 'idle'])
  $(`fold-${what}`).addEventListener('click', () => foldLanes(what,
    $(`fold-${what}`).getAttribute('aria-pressed') !== 'true'));
$('filter').addEventListener('change', () => pick($('filter').value));
$('filter').addEventListener('keydown', event => {
  if (event.key === 'Enter') pick($('filter').value);
});
$('severity').addEventListener('change', () =>
  filterSeverity($('severity').value));
$('colour').addEventListener('change', () =>
  colourBySpans($('colour').value === 'spans'));
$('plot').addEventListener('change', () => {
  choosePlot($('plot').value);
  $('plot').value = '';
});
$('search-next').addEventListener('click', () => nextHit(1));
$('search-previous').addEventListener('click', () => nextHit(-1));
$('zoom-in').addEventListener('click', () => zoom(0.6));
$('zoom-out').addEventListener('click', () => zoom(1 / 0.6));
$('zoom-all').addEventListener('click', showAll);
$('show-threads').addEventListener('click', () => toggle('threads'));
$('show-recorders').addEventListener('click', () => toggle('recorders'));
$('show-spans').addEventListener('click', toggleSpans);
$('more').addEventListener('click', () => {
  const shown = document.body.toggleAttribute('data-more');
  $('more').setAttribute('aria-expanded', String(shown));
});
$('help-open').addEventListener('click', () => $('help').showModal());
$('theme').addEventListener('click', () => {
  document.documentElement.dataset.theme = ink.dark ? 'light' : 'dark';
  paint();
});
function paint() {
  readColours();
  makePlots();
  showRecorders();
  spansShown = ''; // their colours changed
  invalidate();
}
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', paint);
window.addEventListener('hashchange', () => {
  if (location.hash !== restored) restore(location.hash);
});

// --------------------------------------------------------------------- live --

const LIVE_MAX = 4e6; // events that a page holds
const waiting = []; // batches
let taking = null, caughtUp = false;

function follow() {
  const span = view.to - view.from;
  if (all) return;
  follows = true;
  show(events.last - span * 0.98, events.last + span * 0.02);
}
function showFollows() {
  $('follow').setAttribute('aria-pressed', String(follows));
}
async function takeLive(batches) {
  const from = events.count, {length} = recorders, plots = values.length;
  await takeBatches(batches);
  giveColours();
  pickMore();
  if (values.length > plots) makePlots();
  showPlotNames();
  await collectPlots();
  if (!shownRows && recorders.slice(length).some(r => r.hidden)) makeLanes();
  else addToLanes(from, events.count);
  showRecorders();
  makeLayout();
  if (view.scrolled > 0) scrollLanes(0);
  setBar();
  if (events.count > from) {
    const span = view.to - view.from;
    if (plotted().length) fillPlots();
    if (all) showAll();
    else if (follows)
      show(events.last - span * 0.98, events.last + span * 0.02);
    if (follows) scrollTable(tableCount());
    searchOn();
  }
  invalidate();
}
// Takes all waiting batches at once.
async function takeWaiting(link) {
  while (waiting.length) {
    const some = waiting.splice(0);
    await takeLive(some);
    // After a full batch, older events are still on their way.
    if (!events.count && recorders.length) $('loading').hidden = true;
    if (!caughtUp && events.count && some.at(-1).count < about.block) {
      caughtUp = true;
      restore(link);
      $('loading').hidden = true;
    }
  }
  taking = null;
}
function say(text, state) {
  $('live').textContent = text;
  $('live').dataset.state = state;
}
function listen(link) {
  const source = new EventSource('events');
  $('live').hidden = $('follow').hidden = false;
  $('follow').addEventListener('click', follow);
  say('connecting', 'off');
  source.addEventListener('open', () => say('live', 'on'));
  source.addEventListener('batch', event => {
    waiting.push(JSON.parse(event.data));
    taking ??= takeWaiting(link);
    if (events.count > LIVE_MAX) {
      source.close();
      say('this page is full: load it again to go on', 'off');
    }
  });
  source.addEventListener('end', event => {
    source.close();
    $('loading').hidden = true;
    Promise.resolve(taking).then(() => say(JSON.parse(event.data), 'off'));
  });
  // A new stream would send all events again: the page would need a fresh
  // start.
  source.addEventListener('error', () => {
    source.close();
    $('loading').hidden = true;
    say('connection lost: load the page again to go on', 'off');
  });
}

// -------------------------------------------------------------------- start --

// Shows the name of the running work and its progress, 0 to 1.
function loading(text, part) {
  $('loading').firstChild.textContent = text;
  if (part !== undefined) $('loading').lastChild.value = part;
  return new Promise(done => setTimeout(done)); // so that it is seen
}
const TAKEN_AT_ONCE = 16; // batches
async function takeAll() {
  const batches = [], elements = document.querySelectorAll('script.batch');
  let seen = performance.now();
  const tell = async part => {
    if (performance.now() - seen < 100) return;
    await loading('Unpacking the records\u2026', part);
    seen = performance.now();
  };
  for (const [i, element] of elements.entries()) {
    batches.push(JSON.parse(element.textContent));
    element.textContent = ''; // that memory is not needed twice
    await tell(i / elements.length / 3);
  }
  grow(batches.reduce((sum, {count}) => sum + count, 0));
  for (let i = 0; i < batches.length; i += TAKEN_AT_ONCE) {
    await tell(1 / 3 + i / batches.length * 2 / 3);
    await takeBatches(batches.slice(i, i + TAKEN_AT_ONCE));
  }
  giveColours();
}

async function start() {
  $('source').textContent = /^\d+$/.test(about.source)
    ? `${about.program}, process ${about.source}` : about.source;
  await takeAll();
  showPlotNames();
  nameZone();
  resize();
  paint();
  const link = restored = location.hash;
  restore(link);
  // Resizing clears the canvas: draw before the next frame shows it.
  const sized = new ResizeObserver(() => {
    relayout();
    draw();
  });
  sized.observe($('stage'));
  sized.observe($('rows'));
  if (events.count) await load(blockOf(rowOf(Math.floor(table.top))));
  await new Promise(done => requestAnimationFrame(() =>
    requestAnimationFrame(done)));
  performance.mark('recorder-ready');
  $('loading').hidden = !about.live;
  if (about.live) {
    loading('Waiting for the records of the program\u2026');
    listen(link);
  }
}
function failed(error) {
  $('loading').dataset.failed = '';
  loading(`This browser cannot show the page: ${error.message}`);
  throw error;
}

// For scripts and tests.
window.recorder = {
  events, recorders, threads, formats, sites, values, chosen, blocks, hits, view,
  eventOf, choosePlot, zoomToSpan, spanEnds, flameInView, pin, pick, picked, isHidden, show, showAll, pan, zoom, select, find, hide, link, toX,
  rowAt, layout: () => layout, search, table, late,
  strips, processors, stateAt, asyncLanes, arrows, spansInView,
  releases, criticalPath, pathText, lanes, tree, clockTick, clockStep, PALETTE, recorderColours, spanColours, painted, colourBySpans,
  get missed() { return missed; },
  get frame_ms() { return frame_ms; },
  get taking() { return taking; },
  ready: start().catch(failed),
};
