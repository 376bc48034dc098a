/* The documentation is true: the commands of the tutorial, and the links. */
/* SPDX-License-Identifier: MIT */
#include "harness/build.h"

#define SITE "/usr/bin/python3 " BUILD_PROGRAMS "/site.py "

TestSuite(site, .init = build_begin, .fini = build_end, .timeout = 300);

/* Goal: a newcomer who types the commands of docs/tutorial.md sees its
 * output. */
Test(site, tutorial)
{
    build_must("ulimit -c 0; export RECORDER=" TEST_ROOT " PATH=" TEST_ROOT
               "/build:$PATH; " SITE "tutorial " TEST_ROOT
               "/docs/tutorial.md");
}

/* Goal: the same for README, whose commands in the text the recorder takes. */
Test(site, readme)
{
    build_must("ulimit -c 0; ln -s " TEST_ROOT "/recorder* .; export "
               "PATH=" TEST_ROOT "/build:$PATH; " SITE "tutorial " TEST_ROOT
               "/README.md && cp demo.rec good.rec && cp demo.rec bad.rec && "
               "{ sleep 100 & " SITE "spans " TEST_ROOT
               "/README.md $!; is=$?; kill $!; exit $is; }");
}

/* Goal: the same for other pages. */
Test(site, pages, .init = build_long)
{
    static const char *const pages[] = {"server", "library", "own-ring",
                                        "files", "tests"};
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++)
        build_must("mkdir %s && cd %s && export RECORDER=" TEST_ROOT
                   " PATH=" TEST_ROOT "/build:$PATH && " SITE
                   "tutorial " TEST_ROOT "/docs/%s.md",
                   pages[i], pages[i], pages[i]);
}

/* Goal: each page of docs/ is in the menu, each link has a target, and the
 * reference has the names of the headers. */
Test(site, links)
{
    build_needs("lowdown");
    build_must("sh " TEST_ROOT "/site/site.sh $PWD/html && " SITE
               "links html");
}
