// speedscope.mjs - what the page of speedscope makes of a file.
// SPDX-License-Identifier: MIT
//
//     node speedscope.mjs MODULES FILE SAVED
//
// MODULES holds playwright-core and speedscope. FILE is opened in its page and
// saved again, by its own key, as SAVED: what it shows, in a format of its own.
// Prints what the page warns of; exit status 0: it opened and saved.
import {createRequire} from 'node:module';
import {resolve} from 'node:path';

const [modules, file, saved] = process.argv.slice(2).map(path => resolve(path));
const {chromium} = createRequire(`${modules}/`)('playwright-core');
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox'], // CI runs as root
  timeout: 100000,
});
let status = 0;
try {
  const page = await browser.newPage({acceptDownloads: true});
  page.setDefaultTimeout(100000);
  page.on('pageerror', error => console.log(error.stack));
  page.on('console', said => {
    if (/^(warning|error)$/.test(said.type()) &&
        !/GL Driver Message|WebGL/.test(said.text())) // of the browser's own
      console.log(said.text());
  });
  await page.goto(
    `file://${modules}/node_modules/speedscope/dist/release/index.html`);
  await page.locator('input[type=file]').setInputFiles(file);
  // A profile is there once it has views to choose from.
  await page.getByText('Time Order').waitFor();
  const download = page.waitForEvent('download');
  await page.keyboard.press('Control+s');
  await (await download).saveAs(saved);
} catch (error) {
  console.log(error.stack);
  status = 1;
}
await browser.close();
process.exit(status);
