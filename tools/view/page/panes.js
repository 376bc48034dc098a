// panes.js - the panes around the timeline: recorders, table, record, tip.
// SPDX-License-Identifier: MIT
'use strict';

const make = (tag, textContent, properties = {}) =>
  Object.assign(document.createElement(tag), {textContent, ...properties});

// ---------------------------------------------------------------- recorders --

function showRecorders() {
  $('severity').hidden = !formats.some(({severity}) => severity);
  const list = $('recorders');
  if (list.children.length < recorders.length) list.replaceChildren();
  const sorted = recordersByName();
  for (const recorder of list.children.length ? [] : sorted) {
    const button = make('button', '', {type: 'button'});
    button.append(make('i', ''), make('span', recorder.shown));
    button.addEventListener('click', event =>
      event.altKey ? showOnly(recorder) : hide(recorder, !recorder.hidden));
    list.append(button);
  }
  for (const [i, recorder] of sorted.entries()) {
    const button = list.children[i];
    button.setAttribute('aria-pressed', String(!recorder.hidden));
    button.firstChild.style.backgroundColor = markOf(recorder);
    button.title = [
      recorder.description || recorder.name,
      `${group(recorder.size)} slots` +
        (recorder.lanes === '1' ? '' : ` in each of ${recorder.lanes} rings`),
      `${group(recorder.kept)} kept, ` +
        `${recorder.roughly}${group(recorder.overwritten)} ` +
        `overwritten, ${group(recorder.lost)} lost`,
      ...recorder.trigger ? [`${recorder.trigger} by a trigger`] : [],
      ...recorder.wrong ? [`not readable: ${recorder.wrong}`] : [],
      'click: hide or show; Alt+click: only this one'].join('\n');
  }
}

// -------------------------------------------------------------------- table --

const ROW = 20;
const table = {
  top: 0, // the first place of the table that is seen; with a fraction
  lines: [], // that there are elements for
  moved: false, // the scroll bar, by us
};
const tableCount = () => shownRows ? shownRows.length : events.count;
const rowOf = place => shownRows ? shownRows[place] : place;
const placeOfRow = row => shownRows ? placeOf(shownRows, row) : row;

function tableFit() {
  return Math.max(1, Math.floor($('rows').clientHeight / ROW));
}
function makeTable() {
  const wanted = Math.ceil($('rows').clientHeight / ROW);
  while (table.lines.length > wanted)
    table.lines.pop().remove();
  while (table.lines.length < wanted) {
    const line = make('div', '', {className: 'row',
      id: `row-${table.lines.length}`});
    line.setAttribute('role', 'row');
    for (let i = 0; i < 6; i++) {
      const cell = line.appendChild(make('span', ''));
      cell.setAttribute('role', 'gridcell');
    }
    line.addEventListener('click', () => line.row >= 0 && select(line.row));
    table.lines.push($('rows').appendChild(line));
  }
}
// Browsers limit elements to some ten million pixels: the scroll bar stays
// below.
const BAR_MAX = 4e6;
function setBar() {
  const count = tableCount(), fit = tableFit();
  const tall = Math.min(BAR_MAX, count * ROW);
  $('bar-inside').style.height = `${tall}px`;
  const room = tall - $('bar').clientHeight;
  const wanted = count > fit ? table.top / (count - fit) * room : 0;
  if (Math.abs($('bar').scrollTop - wanted) >= 1) {
    table.moved = true;
    $('bar').scrollTop = wanted;
  }
}
function scrollTable(top, byBar = false) {
  table.top = Math.max(0, Math.min(top, tableCount() - tableFit()));
  if (!byBar) setBar();
  invalidate();
}
function onBar() {
  if (table.moved) {
    table.moved = false;
    return;
  }
  const room = $('bar').scrollHeight - $('bar').clientHeight;
  scrollTable(room > 0
    ? $('bar').scrollTop / room * (tableCount() - tableFit()) : 0, true);
}

function drawTable() {
  const first = Math.floor(table.top), count = tableCount();
  let from = NaN, to = NaN;
  for (const [i, line] of table.lines.entries()) {
    const place = first + i, row = place < count ? rowOf(place) : -1;
    line.row = row;
    line.hidden = row < 0;
    if (row < 0) continue;
    const at = events.at[row], cells = line.children;
    const {recorder, format} = sites[events.site[row]];
    const text = message(row, invalidate);
    const texts = [orderOf(row), timeOf(row),
      threads[events.thread[row]].shown, recorder.name, format.name,
      severityText(format) + (text ?? '\u2026')];
    for (const [k, cell] of texts.entries()) {
      const shown = String(cell);
      if (cells[k].textContent !== shown) cells[k].textContent = shown;
    }
    const outside = !(at >= view.from && at <= view.to);
    const name = `row severity${format.severity?.at(-1) ?? ''}` +
      `${row === view.selected ? ' selected' : ''}` +
      `${outside ? ' outside' : ''}${hits.flags[row] ? ' hit' : ''}`;
    if (line.className !== name) line.className = name;
    line.setAttribute('aria-rowindex', String(place + 2));
    line.setAttribute('aria-selected', String(row === view.selected));
    if (!(at >= from)) from = Number.isNaN(at) ? from : at;
    if (!(at <= to)) to = Number.isNaN(at) ? to : at;
  }
  view.tableFrom = Math.min(from, to);
  view.tableTo = to;
  $('table').setAttribute('aria-rowcount', String(count + 1));
  const {id} = table.lines.find(line => line.row >= 0 &&
    line.row === view.selected) ?? {};
  if (id) $('table').setAttribute('aria-activedescendant', id);
  else $('table').removeAttribute('aria-activedescendant');
}

// Scrolls the table to the events of the timeline.
function followView() {
  const row = firstRowFrom(view.from);
  const {selected} = view, at = events.at[selected];
  if (selected >= 0 && at >= view.from && at <= view.to) {
    const place = placeOfRow(selected);
    if (place >= table.top && place < table.top + tableFit()) return;
    scrollTable(place - Math.floor(tableFit() / 3));
  } else if (row >= 0)
    scrollTable(placeOfRow(row));
}

// ------------------------------------------------------------------- record --

function neighbour(row, step, same) {
  for (let at = row + step, left = 2e6; at >= 0 && at < events.count && left;
    at += step, left--)
    if (same(at) && !isHidden(at)) return at;
  return -1;
}

async function showRecord() {
  const row = view.selected, box = $('record');
  if (row < 0) {
    tell('');
    box.replaceChildren(make('p', events.count
      ? 'Click an event to see all of its record.'
      : 'There is no record.', {className: 'empty'}));
    return;
  }
  const event = await eventOf(row);
  if (row !== view.selected) return;
  tellEvent(row, event);
  const list = make('dl', '');
  const field = (name, value, title = '') => {
    list.append(make('dt', name), make('dd', value, {title}));
  };
  const {thread} = event;
  if (about.sources) field('source', about.sources[thread.source].title);
  field('sequence number', String(event.order ?? '-'));
  field('time', event.ns === null ? 'unknown' : `${seconds(row)} s`);
  field('wall clock', event.realtime === null ? 'unknown'
    : `${momentText(event.realtime, 'utc')} UTC`);
  if (event.realtime !== null)
    field('local time', `${momentText(event.realtime, 'local')} ${
      zoneText(msOf(event.realtime), 'local')}`, zoneName());
  field('thread', !thread.unknown ? `T${thread.number} ${thread.name}, ` +
    `kernel id ${thread.id}` : 'unknown');
  field('recorder', event.recorder);
  if (event.severity) field('severity', event.severity);
  field('format', event.format ?? 'not readable');
  const names = formatOf(row).fields;
  for (const [i, {kind, value}] of event.arguments.entries())
    field(names[i] ?? `argument ${i + 1}`, kind === 'lost' ? 'lost' : `${
      kind === 'pointer' ? `0x${value.toString(16)}`
        : kind === 'string' ? JSON.stringify(value)
          : Object.is(value, -0) ? '-0' : value}  ${kind}`);
  field('location', event.location);
  field('caller', event.caller + (event.function ? ` ${event.function}` : ''));
  const span = spanOf(row);
  if (span) field('span', span);
  if (pathText()) field('critical path', pathText());
  const jumps = make('div', '', {className: 'jumps'});
  for (const [name, same] of [
    ['event', () => true],
    ['thread', at => events.thread[at] === events.thread[row]],
    ['recorder', at => recorderOf(at) === recorderOf(row)]]) {
    const button = (step, arrow, words) => {
      const to = neighbour(row, step, same), title = name === 'event'
        ? `To the ${words} event` : `To the ${words} event of this ${name}`;
      const it = make('button', arrow, {type: 'button', disabled: to < 0, title,
        ariaLabel: title});
      it.addEventListener('click', () => select(to));
      return it;
    };
    const group = jumps.appendChild(make('span', ''));
    group.append(button(-1, '\u2190', 'previous'), name,
      button(1, '\u2192', 'next'));
  }
  const near = make('ol', '');
  const first = Math.max(0, Math.min(row - 4, events.count - 9));
  for (let at = first; at < Math.min(first + 9, events.count); at++) {
    const {message: text} = await eventOf(at);
    const item = make('button', `${orderOf(at)} ${recorderOf(at).name}: ${
      severityText(formatOf(at))}${text}`, {type: 'button', className: at === row ? 'here' : ''});
    item.addEventListener('click', () => select(at));
    near.appendChild(make('li', '')).append(item);
  }
  if (row !== view.selected) return;
  const focused = document.activeElement?.ariaLabel;
  box.replaceChildren(make('p', event.message, {className: 'message'}), list,
    jumps, make('h2', 'In order'), near);
  if (focused && document.activeElement === document.body)
    [...box.querySelectorAll('button')].find(b => b.ariaLabel === focused)
      ?.focus();
}

// The records that open and close a span, for the record of either end; null:
// none.
const laneOfSpan = row => formatOf(row).step
  ? asyncs.get(asyncKeys.get(row))?.lane ??
    asyncLanes.find(({rows}) => rows.list.includes(row))
  : threadLanes[events.thread[row]];
function spanEnds(row) {
  for (const {open, close} of laneOfSpan(row)?.spans ?? []) {
    const i = open.list.subarray(0, open.count).indexOf(row);
    const k = i < 0 ? close.list.subarray(0, close.count).indexOf(row) : i;
    if (k >= 0) return [open.list[k], close.list[k]];
  }
  return null;
}
// How long it lasts.
function spanOf(row) {
  const ends = spanEnds(row), {at, order} = events;
  return ends ? `${duration(at[ends[1]] - at[ends[0]])}, records ${
    order[ends[0]]} to ${order[ends[1]]}`
    : laneOfSpan(row)?.open.includes(row) ? 'not closed' : null;
}

// ---------------------------------------------------------------------- tip --

function showTip() {
  const tip = $('tip'), point = view.pointer;
  const row = point && !point.down ? rowAt(point.x, point.y) : -1;
  const state = row < 0 && point && !point.down ? stateAt(point.x, point.y)
    : null;
  tip.hidden = row < 0 && !state;
  if (tip.hidden) return;
  tip.textContent = state ?? textOf(row);
  const box = canvas.getBoundingClientRect();
  tip.style.left = `${Math.max(4, Math.min(box.left + point.x + 14,
    window.innerWidth - tip.offsetWidth - 8))}px`;
  tip.style.top = `${Math.min(box.top + point.y + 18,
    window.innerHeight - tip.offsetHeight - 4)}px`;
}

function textOf(row) {
  const text = message(row, invalidate) ?? '\u2026';
  const lines = [`${orderOf(row)}  ${timeOf(row)}${unitText()}  ${
    threads[events.thread[row]].shown}`, `${recorderOf(row).name}: ${
    severityText(formatOf(row))}${text}`,
  formatOf(row).name];
  const {opens, step} = formatOf(row);
  const span = opens || step ? spanOf(row) : null;
  if (span) lines.push(span);
  return lines.join('\n');
}
