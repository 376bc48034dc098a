// drive.mjs - drives the timeline in Chromium, as its users do.
// SPDX-License-Identifier: MIT
//
//     node drive.mjs TEST RECORDER PROGRAM MODULES FOLDER
//
// TEST is one of the functions of the files below; PROGRAM is
// tests/programs/view.c; MODULES holds playwright-core; FOLDER is for what the
// test writes. Exit status 0: what it promises is so.
import {browser, children, test} from './driver.mjs';

const tests = {};
for (const name of ['shown', 'looks', 'used', 'lanes', 'filter',
  'access', 'live', 'million'])
  Object.assign(tests, (await import(`./${name}.mjs`)).tests);

let status = 0;
try {
  await tests[test]();
} catch (error) {
  console.log(`${test}: ${error.stack}`);
  status = 1;
}
await browser.close();
for (const child of children)
  child.kill();
process.exit(status);
