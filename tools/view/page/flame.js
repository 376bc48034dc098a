// flame.js - the spans in view, added up by their paths: a flame graph.
// SPDX-License-Identifier: MIT
'use strict';

const FLAME_ROW = 18, FLAME_LEAST = 0.002; // px; of the whole width

// A tree of {name, total, count, row, children}: a span is a child of the
// innermost span of its thread that holds its beginning.
function flameInView() {
  const root = {total: 0, children: new Map()}, at = events.at;
  for (const lane of threadLanes) {
    let above = []; // spans of the depth before: {from, to, node}
    for (const {open, close} of lane?.spans ?? []) {
      const here = [];
      let parent = 0;
      for (let i = close.find(view.from); i < open.count &&
        at[open.list[i]] <= view.to; i++) {
        const row = open.list[i], from = at[row], to = at[close.list[i]];
        while (parent < above.length && above[parent].to < from) parent++;
        const within = above[parent]?.from <= from ? above[parent].node : root;
        const seen = Math.min(to, view.to) - Math.max(from, view.from);
        const name = `${recorderOf(row).name}: ${
          formatOf(row).span || formatOf(row).text.slice(1).trimStart()}`;
        const node = within.children.get(name) ?? {name, total: 0, count: 0,
          longest: -1, row, children: new Map()};
        within.children.set(name, node);
        node.total += seen;
        node.count++;
        if (to - from > node.longest) [node.longest, node.row] = [to - from, row];
        if (within === root) root.total += seen;
        here.push({from, to, node});
      }
      above = here;
    }
  }
  return root;
}

function makeFlame() {
  const root = flameInView(), box = make('div', '', {className: 'flame'});
  let deepest = 0;
  const add = (node, left, depth) => {
    let at = left;
    for (const child of [...node.children.values()].sort((a, b) =>
      b.total - a.total)) {
      const part = child.total / root.total;
      if (part < FLAME_LEAST) break;
      const self = child.total - [...child.children.values()].reduce((sum, c) =>
        sum + c.total, 0);
      const words = `${child.name}: ${group(child.count)}, ${
        duration(child.total)}, ${(100 * part).toFixed(1)} %, itself ${
        duration(Math.max(0, self))}`;
      const button = make('button', child.name, {type: 'button',
        title: `${words}\nto the longest that is in view`, ariaLabel: words});
      const colour = painted(child.row);
      Object.assign(button.style, {left: `${100 * at}%`,
        width: `${100 * part}%`, top: `${depth * FLAME_ROW}px`,
        backgroundColor: colourOf(colour), color: inkOn(colour)});
      button.addEventListener('click', () => select(child.row));
      box.append(button);
      deepest = Math.max(deepest, depth + 1);
      add(child, at, depth + 1);
      at += part;
    }
  };
  if (root.total) add(root, 0, 0);
  box.style.height = `${deepest * FLAME_ROW}px`;
  return box;
}
