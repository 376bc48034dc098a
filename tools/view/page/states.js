// states.js - states: a strip below each thread, a lane for each processor.
// SPDX-License-Identifier: MIT
'use strict';

const STRIP = 6; // px: 3 of them, and room
const strips = new Map(); // by row of the thread: slices by state, by begin
const processors = []; // {thing, runs, levels, idle, off}

// Times that do not overlap, by begin.
class Slices {
  begin = [];
  end = [];
  of = []; // row of the thread, or name of the interrupt
  push(begin, end, of) {
    const last = this.end.length - 1; // of a live page: the same slice
                                      // continues
    if (about.live && this.end[last] === begin && this.of[last] === of) {
      this.end[last] = end;
      return;
    }
    this.begin.push(begin);
    this.end.push(end);
    this.of.push(of);
  }
  // Calls `put` with each that is in view, but one for each pixel.
  each(put) {
    const {begin, end, of} = this;
    let i = Math.max(0, placeOf(begin, view.from) - 1);
    while (i < begin.length && begin[i] <= view.to) {
      const x = Math.max(LABELS, Math.floor(toX(begin[i])));
      const until = Math.min(width + 1, toX(end[i]));
      if (until >= LABELS && end[i] > begin[i])
        put(x, Math.max(1, Math.floor(until) - x), of[i]);
      i = Math.max(i + 1, placeOf(begin, toNs(x + 1)) - 1);
    }
  }
  // The one that holds a time, or -1.
  at(ns) {
    const i = placeOf(this.begin, ns + 1) - 1;
    return i >= 0 && this.end[i] > ns ? i : -1;
  }
}

const stripOf = lane => strips.get(lane.thing.row);

function processorOf(number) {
  return processors[number] ??= {
    thing: {label: `CPU ${number}`}, runs: new Slices(), levels: [],
    idle: new Slices(), off: new Slices(), deepest: 0,
  };
}

// The states of a thread, and the kinds of slices, as in switches.h.
const STATES = ['unknown', 'running', 'ready', 'blocked', 'ended'];
const THREAD = 0, INTERRUPT = 1, IDLE = 2;
function readSwitches({threads: rows, interrupts, count}, packed) {
  const bytes = new Bytes(packed);
  let before = 0n;
  for (const row of rows)
    if (!strips.has(row))
      strips.set(row, Object.fromEntries(STATES.map(s => [s, new Slices()])));
  for (let i = 0; i < count; i++) {
    const kind = bytes.number(), of = bytes.number();
    const cpu = processorOf(bytes.number()), depth = bytes.number();
    bytes.signed();
    before = BigInt.asIntN(64, before + bytes.big());
    bytes.number();
    const begin = Number(before), end = begin + Number(bytes.big());
    const state = STATES[kind & 7], what = kind >> 3;
    if (what === THREAD) {
      strips.get(rows[of])[state].push(begin, end, rows[of]);
      if (state === 'running') cpu.runs.push(begin, end, rows[of]);
    } else if (what === INTERRUPT) {
      (cpu.levels[depth] ??= new Slices()).push(begin, end, interrupts[of] +
        (state === 'unknown' ? ' (its end is unknown)' : ''));
    } else
      (what === IDLE ? cpu.idle : cpu.off).push(begin, end, null);
  }
  // Interrupts of a depth that none has here leave no hole.
  for (const cpu of processors)
    if (cpu) cpu.levels = Array.from(cpu.levels, level => level ?? new Slices());
}

// Solid while the thread runs, hatched while it is ready, an empty frame while
// it is blocked, nothing while its state is unknown.
function drawStrip(strip, y) {
  pen.fillStyle = ink.line;
  strip.blocked.each((x, w) => {
    pen.fillRect(x, y + 1, w, 1);
    pen.fillRect(x, y + 3, w, 1);
  });
  pen.fillStyle = ink.ready;
  strip.ready.each((x, w) => pen.fillRect(x, y + 1, w, 3));
  pen.fillStyle = ink.accent;
  strip.running.each((x, w) => pen.fillRect(x, y + 1, w, 3));
}

function barOf(hue) {
  return ink.dark ? `hsl(${hue} 40% 38%)` : `hsl(${hue} 55% 84%)`;
}

// Draws the running threads, nested interrupts below them, sleeps hatched, and
// a line above times with interrupts off.
function drawProcessor(cpu, top) {
  const texts = [];
  const bar = (name, hue, y) => (x, w, of) => {
    pen.fillStyle = barOf(HUES[hue(of) % HUES.length]);
    pen.fillRect(x, y, w, SPAN - 2);
    if (w > 3) {
      pen.fillStyle = ink.back;
      pen.fillRect(x + w - 1, y, 1, SPAN - 2);
    }
    if (w > 30) texts.push([name(of), x + 4, y + SPAN / 2 - 1, w - 8]);
  };
  cpu.runs.each(bar(row => threads[row].label, row => row, top + 5));
  pen.fillStyle = ink.hatch;
  cpu.idle.each((x, w) => pen.fillRect(x, top + 5, w, SPAN - 2));
  for (const [depth, level] of cpu.levels.entries())
    level.each(bar(name => name, () => 1, top + LANE + depth * SPAN));
  pen.fillStyle = ink.warn;
  cpu.off.each((x, w) => pen.fillRect(x, top + 2, w, 2));
  pen.fillStyle = ink.text;
  for (const [text, x, y, most] of texts)
    write(text, x, y, most);
}

// The state at a point of a processor's lane or of a thread's strip.
function stateAt(x, y) {
  const line = lineAt(y);
  if (!line || x < LABELS) return null;
  const {lane} = line, ns = toNs(x), strip = stripOf(lane);
  const below = y - topOf(line);
  const say = (slices, text) => {
    const i = slices.at(ns);
    return i < 0 ? null
      : `${text(slices.of[i])}, ${duration(slices.end[i] - slices.begin[i])}`;
  };
  if (lane.levels) {
    const level = lane.levels[Math.floor((below - LANE) / SPAN)];
    if (below >= LANE && level)
      return say(level, name => `${lane.thing.label}: interrupt ${name}`);
    return [say(lane.runs, row => `${lane.thing.label}: ${threads[row].label}`),
      say(lane.idle, () => 'asleep'),
      say(lane.off, () => 'interrupts off')].filter(t => t).join('\n') || null;
  }
  if (!strip || below < line.height - STRIP - 1) return null;
  for (const state of STATES) {
    const text = say(strip[state], () => `${lane.thing.label}: ${state}`);
    if (text) return text;
  }
  return null;
}
