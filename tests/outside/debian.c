/* Debian's packages are built, are clean, and work. */
/* SPDX-License-Identifier: MIT */
#define BUILD_SECONDS 400
#include "harness/build.h"

#include <string.h>

TestSuite(debian, .init = build_begin, .fini = build_end, .timeout = 600);

static void said(const char *text)
{
    cr_expect(strstr(build_text, text), "no \"%s\" in:\n%s", text, build_text);
}

/* Goal: the newest entry of debian/changelog is this version. */
Test(debian, version)
{
    build_must("echo \"#include \\\"recorder.h\\\"\nVERSION RECORDER_VERSION\" "
               "| gcc " BUILD_INCLUDE "-E - | sed -n \"s/^VERSION//p\" | "
               "tr -d \"\\\" \" >version && "
               "sed \"s/.*(\\(.*\\)).*/\\1/; q\" " TEST_ROOT
               "/debian/changelog "
               "| diff version -");
}

/* Goal: dpkg-buildpackage builds packages of a fresh copy, lintian has no
 * complaint, and the installed files record and read. */
Test(debian, packages, .init = build_long)
{
    build_needs("dpkg-buildpackage", "dh", "lintian");
    build_must("mkdir -p made/recorder && tar -C " TEST_ROOT
               " --exclude=./build --exclude=.git -c . | tar -C made/recorder "
               "-x && cd made/recorder && env -u MAKEFLAGS -u MAKELEVEL "
               "-u MFLAGS DEB_CFLAGS_APPEND=-g1 dpkg-buildpackage -us "
               "-uc -b -j2");
    cr_expect_null(strstr(build_text, " warning: "), "%s", build_text);
    build_must("lintian --allow-root made/*.changes");
    cr_expect_str_empty(build_text);
    build_must("for deb in made/*.deb; do dpkg-deb -x $deb root || exit; done; "
               "ls made/*.deb");
    said("made/recorder_");
    said("made/recorder-dev_");
    said("made/librecorder1_");
    said("made/recorder-fleet_");
    said("made/python3-recorder_");
    build_must("grep -x includedir=.{prefix}/include "
               "-E root/usr/share/pkgconfig/recorder.pc && "
               "gcc -Iroot/usr/include " BUILD_PROGRAMS "/installed.c -o hello "
               "&& RECORDER_FILE=hello.rec ./hello && "
               "root/usr/bin/recorder dump hello.rec");
    said(" T1] net: 42 bytes from example.org\n");
    build_must("root/usr/bin/recorder run --always -o run.rec ./hello && "
               "root/usr/bin/recorder threads run.rec");
    build_must("PYTHONPATH=root/usr/lib/python3/dist-packages python3 -c "
               "\"import recorder\nfor event in recorder.open(\\\"hello.rec\\\"): "
               "print(event.message)\"");
    cr_expect_str_eq(build_text, "42 bytes from example.org\n");
    build_must("gzip -t root/usr/share/man/man1/recorder.1.gz && "
               "test -e root/usr/share/bash-completion/completions/recorder && "
               "test -e root/etc/gdb/gdbinit.d/recorder.gdb && "
               "test -e root/usr/lib/systemd/system/recorder-agent@.service && "
               "gzip -t root/usr/share/man/man1/recorder-fleet.1.gz && "
               "test ! -e root/usr/share/recorder/installed");
}
