/* Chromium for tests, with packages of npm that drive it or run in it. */
/* SPDX-License-Identifier: MIT */
#ifndef BROWSER_H
#define BROWSER_H

#include "build.h"

/* Both are below build/, installed by npm; never in the repository. */
#define BROWSER_MODULES TEST_ROOT "/build/view"
#define BROWSER_PACKAGES "playwright-core@1.65.1"

/* Skips a test if Node, Chromium or an npm package is missing. One attempt at
 * npm in ten minutes is enough for all tests. */
static void browser_needed(void)
{
    build_needs("node", "npm", "chromium");
    if (build_run("mkdir -p " BROWSER_MODULES " && cd " BROWSER_MODULES
                  " && { flock 9; [ -e node_modules/playwright-core ] || "
                  "{ [ -z \"$(find failed -mmin -10 2>&-)\" ] && npm install "
                  "--silent --no-save --no-audit --no-fund --ignore-scripts "
                  "--fetch-retries 0 --fetch-timeout 20000 "
                  "--prefix . " BROWSER_PACKAGES
                  "; } || { touch failed; false; }; } 9>lock") != 0) {
        build_lacks(BROWSER_PACKAGES);
        build_skip("npm does not install " BROWSER_PACKAGES ": %s", build_text);
    }
}

#endif
