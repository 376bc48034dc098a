// plots.js - values over time, below the lanes: of --plot, and chosen in the page.
// SPDX-License-Identifier: MIT
'use strict';

const chosen = []; // values that the user added
const plotted = () => [...values, ...chosen];

// Names of arguments, for the list from which the user adds a plot.
function showPlotNames() {
  const list = $('plot'), names = new Map();
  for (const {recorder, format} of sites)
    for (const field of format.fields)
      if (field) names.set(`${recorder.number} ${field}`,
        `${recorder.shown}: ${field}`);
  if (list.options.length === names.size + 1) return;
  list.hidden = !names.size;
  list.replaceChildren(make('option', 'Plot an argument', {value: ''}),
    ...[...names].sort((a, b) => compare(a[1], b[1])).map(([value, text]) =>
      make('option', text, {value})));
}
// Adds a plot, or removes it.
async function choosePlot(key) {
  const [number, field] = key.split(' ');
  const place = chosen.findIndex(value => value.key === key);
  if (place >= 0) chosen.splice(place, 1);
  else if (field && recorders[number]) chosen.push({key, field, recorder: recorders[number],
    name: field, rows: [], at: [], value: [], sorted: true, plot: null,
    upTo: 0});
  await collectPlots();
  makePlots();
  relayout();
  remember();
}
// Shows the plots of a link, and no other chosen ones.
async function plotsFromLink(text) {
  const keys = text.split(',').filter(key => key).map(decoded);
  const now = chosen.map(({key}) => key);
  for (const key of [...now.filter(key => !keys.includes(key)),
    ...keys.filter(key => !now.includes(key))])
    await choosePlot(key);
}
// Takes the values of new events, block by block.
async function collectPlots() {
  for (const value of chosen)
    while (value.upTo < events.count) {
      const block = await load(blockOf(value.upTo));
      const bytes = new Bytes(block.bytes);
      for (let i = 0; i < block.messages.length; i++) {
        const row = block.first + i;
        const place = row >= value.upTo && recorderOf(row) === value.recorder
          ? formatOf(row).fields.indexOf(value.field) : -1;
        const argument = place < 0 ? skipArguments(bytes)
          : readArguments(bytes)[place];
        if (typeof argument?.value !== 'bigint' &&
            typeof argument?.value !== 'number') continue;
        value.rows.push(row);
        value.at.push(events.at[row]);
        value.value.push(Number(argument.value));
        value.sorted = false;
      }
      value.upTo = block.first + block.messages.length;
    }
}

function sortValue(value) {
  const places = value.at.map((_, i) => i)
    .filter(i => !Number.isNaN(value.at[i]))
    .sort((a, b) => value.at[a] - value.at[b]);
  for (const name of ['rows', 'at', 'value']) {
    const old = value[name];
    value[name] = places.map(i => old[i]);
  }
  value.sorted = true;
}

const PLOT = 96;
function makePlots() {
  $('plots').replaceChildren();
  $('plots').hidden = plotted().length === 0;
  for (const value of plotted()) {
    const box = make('div', '', {className: 'plot'});
    const colour = colourOf(value.recorder.colour);
    const name = make('p', value.name, {title: `${value.argument
      ? `argument ${value.argument}` : value.name} of ${value.recorder.name}`});
    box.append(name);
    $('plots').append(box);
    const axis = {stroke: ink.dim, font: `11px ${ink.mono}`,
      grid: {stroke: ink.faint, width: 1}, ticks: {show: false}};
    value.plot = new uPlot({
      width, height: PLOT, padding: [8, 0, 4, 0], legend: {show: false},
      cursor: {drag: {x: false, y: false}, points: {size: 5}, y: false},
      scales: {x: {time: false, auto: false,
        range: () => [view.from, view.to]}},
      axes: [{show: false}, {...axis, size: LABELS, space: 24}],
      series: [{}, {stroke: colour, width: 1.2, points: {size: 4},
        paths: uPlot.paths.stepped({align: 1}), spanGaps: false}],
      hooks: {setCursor: [plot => {
        const real = plot.cursor.left < 0 ? null
          : plot.data[1][plot.cursor.idx] ?? null;
        name.textContent = real === null ? value.name : `${value.name} ${real}`;
      }]},
    }, [[], []], box);
  }
  fillPlots();
}
function fillPlots() {
  for (const value of plotted()) {
    if (!value.sorted) sortValue(value);
    value.shown = shownOf(value);
  }
  drawPlots();
}
// The values of the events that the filter and the severity leave.
function shownOf(value) {
  if (!picked.flags && !leastSeverity) return value;
  const shown = {at: [], value: []};
  for (const [i, row] of value.rows.entries()) {
    if (isUnpicked(row) || formatOf(row).hidden) continue;
    shown.at.push(value.at[i]);
    shown.value.push(value.value[i]);
  }
  return shown;
}
// The points of a plot: the least and the greatest value of each pixel.
function thinned({at, value}) {
  const perPixel = (view.to - view.from) / (width - LABELS);
  const xs = [], ys = [], end = placeOf(at, view.to) + 1;
  let i = Math.max(0, placeOf(at, view.from) - 1);
  while (i < Math.min(end, at.length)) {
    const until = at[i] + perPixel, first = i;
    let least = i, most = i;
    for (; i < end && at[i] < until; i++) {
      if (value[i] < value[least]) least = i;
      if (value[i] > value[most]) most = i;
    }
    i = Math.max(i, first + 1);
    for (const k of new Set([Math.min(least, most), Math.max(least, most)])) {
      xs.push(at[k]);
      ys.push(value[k]);
    }
  }
  return [xs, ys];
}
function drawPlots() {
  for (const value of plotted()) {
    const {plot} = value;
    if (plot.width !== width) plot.setSize({width, height: PLOT});
    plot.batch(() => {
      plot.setData(thinned(value.shown), false);
      plot.setScale('x', {min: view.from, max: view.to});
    });
  }
}
