// clock.js - times: since the program's start, or of day, here or in UTC.
// SPDX-License-Identifier: MIT
'use strict';

const DAY = 86400e9; // ns
let clock = 'start'; // or 'local', 'utc'
const started = BigInt(about.start); // in ns since 1970; 0: unknown

const pad = (number, digits = 2) => String(number).padStart(digits, '0');
// How far the local time is before UTC, in minutes.
const zoneMinutes = (ms, of = clock) => of === 'utc' ? 0
  : -new Date(ms).getTimezoneOffset();
// "UTC+5:30"
function zoneText(ms, of = clock) {
  const minutes = zoneMinutes(ms, of), size = Math.abs(minutes);
  return minutes === 0 ? 'UTC' : `UTC${minutes < 0 ? '\u2212' : '+'}${
    Math.floor(size / 60)}${size % 60 ? `:${pad(size % 60)}` : ''}`;
}
const zoneName = () => Intl.DateTimeFormat().resolvedOptions().timeZone ?? '';
const msOf = realtime => Number(realtime / 1000000n);
const isDate = ms => Math.abs(ms) <= 8.64e15 - DAY / 1e6;
// A date whose UTC fields show the local time.
const onWall = (ms, of) => new Date(ms + zoneMinutes(ms, of) * 60000);

// "2026-11-22" and "15:04:05.123456789" of ns since 1970.
function dateText(realtime, of = clock) {
  const ms = msOf(realtime);
  return isDate(ms) ? onWall(ms, of).toISOString().slice(0, 10) : '?';
}
function clockText(realtime, digits = 9, of = clock) {
  const ms = msOf(realtime);
  if (!isDate(ms)) return '?';
  const part = pad(realtime % 1000000000n, 9).slice(0, digits);
  return onWall(ms, of).toISOString().slice(11, 19) + (digits ? `.${part}` : '');
}
const momentText = (realtime, of) =>
  `${dateText(realtime, of)} ${clockText(realtime, 9, of)}`;
// The text of a time, of an event or of a place in the timeline.
function timeOf(row) {
  return clock === 'start' || events.time[row] === TIME_UNKNOWN ? seconds(row)
    : clockText(started + events.time[row]);
}
const placeText = ns => clock === 'start' ? `${(ns / 1e9).toFixed(9)} s`
  : clockText(started + BigInt(Math.round(ns)));
const unitText = () => clock === 'start' ? ' s' : '';

// ------------------------------------------------------------------- ruler --

// The steps of the ruler, in seconds.
const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200,
  10800, 21600, 43200, 86400].map(step => step * 1e9);
function clockStep(least) {
  return least <= 5e8 || clock === 'start' ? stepFor(least)
    : STEPS.find(step => step >= least) ?? Math.ceil(least / DAY) * DAY;
}
// How much later than a whole step the program's start was, on the wall.
function clockShift(step) {
  if (clock === 'start') return 0;
  const ms = msOf(started) + view.from / 1e6;
  return Number((started + BigInt(zoneMinutes(ms)) * 60000000000n) %
    BigInt(step));
}
function clockTick(ns, step) {
  if (clock === 'start') return tickText(ns, step);
  const realtime = started + BigInt(Math.round(ns));
  if (step >= DAY) return dateText(realtime);
  const digits = Math.min(9, Math.max(0, Math.ceil(9 - Math.log10(step))));
  const [whole, part] = clockText(realtime, digits).split('.');
  return part ? `${whole}.${part.match(/.{1,3}/g).join('\u2009')}` : whole;
}
function clockTitle() {
  if (clock === 'start') return 'seconds';
  const realtime = started + BigInt(Math.round(view.from));
  return LABELS < 150 ? zoneText(msOf(realtime))
    : `${dateText(realtime)} ${zoneText(msOf(realtime))}`;
}

// ----------------------------------------------------------------- control --

function setClock(which) {
  clock = started && ['local', 'utc'].includes(which) ? which : 'start';
  $('clock').value = clock;
  $('clock').hidden = !started;
  document.body.dataset.clock = clock;
  $('time-title').textContent = {start: 'seconds', utc: 'UTC',
    local: 'local time'}[clock];
  showRecord();
  remember();
  invalidate();
}
function nameZone() {
  const ms = msOf(started), name = zoneName();
  $('clock').querySelector('[value=local]').textContent = `Times: local, ${
    isDate(ms) ? zoneText(ms, 'local') : '?'}${name && ` (${name})`}`;
}
