// search.js - finds sections of the documentation; search-index.js has their text.
// SPDX-License-Identifier: MIT
'use strict';

const box = document.getElementById('search');
const found = document.getElementById('found');
const up = box.dataset.up;
let index = null; // of [page, anchor, title, text], in lower case: `low`

function search() {
  const words = box.value.toLowerCase().split(/\s+/).filter(word => word);
  const list = words.length ? index.map(section => {
    const title = section[2].toLowerCase();
    const score = words.reduce((sum, word) => sum + (title.includes(word) ? 8
      : section.low.includes(word) ? 1 : -99), 0);
    return {section, score};
  }).filter(({score}) => score > 0).sort((a, b) => b.score - a.score) : [];
  found.replaceChildren(...list.slice(0, 12).map(({section}) => {
    const [page, anchor, title, text] = section;
    const item = document.createElement('li'), link = document.createElement('a');
    const at = Math.max(0, section.low.indexOf(words[0]) - 30);
    link.href = `${up}${page}.html${anchor && `#${anchor}`}`;
    link.textContent = title;
    item.append(link, ` ${text.slice(at, at + 90)}`);
    return item;
  }));
  if (words.length && !list.length) found.textContent = 'Nothing found';
}
box.addEventListener('input', () => {
  if (index) return search();
  const script = document.createElement('script');
  script.src = `${up}search-index.js`;
  script.addEventListener('load', () => {
    index = window.sections;
    for (const section of index) section.low = section[3].toLowerCase();
    search();
  });
  if (!document.querySelector(`script[src="${up}search-index.js"]`))
    document.body.append(script);
});
document.addEventListener('keydown', event => {
  if (event.key === '/' && document.activeElement !== box) {
    event.preventDefault();
    box.focus();
  } else if (event.key === 'Escape') {
    box.value = '';
    found.replaceChildren();
  }
});
