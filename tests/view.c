/* The timeline of recorder view, driven in Chromium by tests/view/drive.mjs */
/* SPDX-License-Identifier: MIT */
#include "build.h"

#include <sys/stat.h>

/* playwright-core lies below build/, as npm has it; never in the repository. */
#define MODULES TEST_ROOT "/build/view"
#define PLAYWRIGHT "playwright-core@1.65.1"

/* Node and Chromium are packages of Debian; says what is missing. */
static bool can_drive(void)
{
    if (!build_has("node") || !build_has("npm") || !build_has("chromium"))
        return false;
    if (build_run("mkdir -p " MODULES " && cd " MODULES
                  " && { flock 9; [ -e node_modules/playwright-core ] || "
                  "{ [ -z \"$(find failed -mmin -10 2>&-)\" ] && npm install "
                  "--silent --no-save --no-audit --no-fund --fetch-retries 0 "
                  "--fetch-timeout 20000 --prefix . " PLAYWRIGHT
                  "; } || { touch failed; false; }; } 9>lock") == 0)
        return true; /* one attempt in ten minutes is enough for all tests */
    fprintf(stderr, "skipped: npm does not install " PLAYWRIGHT ":\n%s\n",
            build_text);
    return false;
}

static void drive(const char *test, const char *flags)
{
    if (!can_drive())
        return;
    build_must("gcc -std=gnu11 -O2 " BUILD_INCLUDE BUILD_WARNINGS
               "%s " BUILD_PROGRAMS "/view.c -o program -lpthread -lm",
               flags);
    build_must("node " TEST_ROOT "/tests/view/drive.mjs %s " TEST_ROOT
               "/build/recorder ./program " MODULES " .",
               test);
    fputs(build_text, stderr);
}

/* A promise is a function of drive.mjs, where its steps are. */
#define PROMISE(test, flags)                                                   \
    Test(view, test, .init = build_begin, .fini = build_end, .timeout = 150)   \
    {                                                                          \
        drive(#test, flags);                                                   \
    }

/* What the page holds is what `recorder dump --json` says, event by event. */
PROMISE(round_trip, "")
/* No recorded text is taken for HTML or script; the page asks for nothing. */
PROMISE(hostile, "")
/* A click in the timeline or the table shows the whole record. */
PROMISE(click, "")
/* Spans are paired by thread and recorder, and nest. */
PROMISE(spans, "")
/* Wheel, drag and keys move the view; the table follows; a span is measured. */
PROMISE(zoom, "")
/* A regular expression finds what it should, marked, in lanes and in order. */
PROMISE(search, "")
/* The address holds time range, selection, hidden recorders and search. */
PROMISE(link, "")
/* Overwritten records are a gap with their number; values are as recorded. */
PROMISE(gaps, "")
/* New events arrive in several browsers, whatever strangers send, and the page
 * says that the program has ended. */
PROMISE(live, "")
/* A record whose time is not known is in the table. */
PROMISE(timeless, "-DTIMELESS")
/* A million events fit, load and move; prints figures. */
PROMISE(million, "-DMILLION")
