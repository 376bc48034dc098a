/* make install writes files, make uninstall removes them, make names missing
 * ones. */
/* SPDX-License-Identifier: MIT */
#define BUILD_SECONDS 250 /* clang over all tools */
#include "harness/build.h"

#include <string.h>

/* As a user calls it, whatever make runs this test. */
#define MAKE "env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS make -s -C " TEST_ROOT " "
#define INSTALL MAKE "install PREFIX=$PWD/p"
#define UNINSTALL MAKE "uninstall PREFIX=$PWD/p"
#define FIND "find . -mindepth 1 ! -name \"*.list\" | LC_ALL=C sort"

TestSuite(install, .init = build_begin, .fini = build_end, .timeout = 300);

static void said(const char *text)
{
    cr_expect(strstr(build_text, text), "no \"%s\" in:\n%s", text, build_text);
}

/* Goal: no file outside of PREFIX is written. Method: in a private name space
 * with all other files read-only. */
Test(install, inside_prefix)
{
    if (build_run("unshare -rm mount --bind . . 2>&1") != 0)
        build_skip("no name space of mounts here: %s", build_text);
    build_must("mkdir p && unshare -rm sh -c \"mount --bind . . && cd $PWD && "
               "mount -o remount,bind,ro / && ! touch " TEST_ROOT
               "/outside 2>/dev/null && TMPDIR=$PWD/p " INSTALL "\"");
    said("For gdb, put into ~/.gdbinit: source ");
    build_must("p/bin/recorder --version");
    build_must("test -e p/include/recorder.h && "
               "test -e p/include/recorder/ring.h && "
               "test -e p/share/man/man1/recorder.1 && "
               "test -e p/share/pkgconfig/recorder.pc && "
               "test ! -e p/etc");
}

/* Goal: nor where there is no Python, or another folder is asked for; the
 * modules are where the docs say that they are. */
Test(install, python_inside_prefix)
{
    static const char *const wrong[] = {"$PWD", "$PWD/pp", "$PWD/p/../q"};
    build_must("mkdir bin && ln -s /usr/bin/* bin && rm -f bin/python* && "
               "PATH=$PWD/bin " INSTALL " PYTHON=$PWD/bin/python3 && "
               "ls p/lib/python3/dist-packages/recorder");
    said("__init__.py\n");
    cr_expect_null(strstr(build_text, "No such file"), "%s", build_text);
    for (int i = 0; i < 3; i++) {
        cr_expect_eq(build_run(INSTALL " PYTHONDIR=%s", wrong[i]), 2);
        said(" is not below PREFIX\n");
    }
    build_must("test ! -e recorder && test ! -e pp && test ! -e q");
}

/* Goal: a path with a blank, which make would take for two, is refused. */
Test(install, prefix_without_blanks)
{
    cr_expect_eq(build_run(MAKE "install \"PREFIX=$PWD/a b/c\""), 2);
    said("PREFIX must be one path without blanks");
    build_must("test -z \"$(ls)\"");
}

/* Goal: gdb's own folder is written for /usr and /usr/local, and on demand. */
Test(install, gdb_only_when_meant)
{
    build_must(MAKE
               "install PREFIX=/usr DESTDIR=$PWD/usr && "
               "cat usr/etc/gdb*/*init*/recorder.gdb usr/etc/gdb*/recorder.gdb "
               "2>/dev/null | grep -x "
               "\"source /usr/share/recorder/recorder-gdb.py\"");
    build_must(MAKE "install PREFIX=/usr/local DESTDIR=$PWD/local && "
                    "find local -name recorder.gdb | grep local/etc/");
    build_must(MAKE "install PREFIX=/opt/r DESTDIR=$PWD/opt && "
                    "test ! -e opt/etc && test -x opt/opt/r/bin/recorder");
    build_must(INSTALL " GDBINIT=$PWD/asked && test -e asked/recorder.gdb");
}

/* Goal: all installed files are removed, and no others. Method: other files and
 * folders exist there before; it is installed twice. */
Test(install, uninstall_removes_all)
{
    build_must("mkdir -p p/bin p/share/man/man1 p/include/recorder && "
               "touch p/bin/other p/include/recorder/other.h && " FIND
               " >before.list");
    build_must(INSTALL " && touch p/share/recorder/formats/mine && " INSTALL);
    build_must("test $(find p -type f | wc -l) -gt 60 && cd "
               "p/lib/python3*/*-packages && "
               "env -u PYTHONDONTWRITEBYTECODE python3 -c "
               "\"import recorder\" && test -d recorder/__pycache__");
    build_must(UNINSTALL
               " && rm p/share/recorder/formats/mine && "
               "rmdir p/share/recorder/formats p/share/recorder && " FIND
               " | diff before.list -");
    cr_expect_eq(build_run(UNINSTALL), 2, "%s", build_text);
    said("nothing is installed in ");
    build_must(MAKE "install PREFIX=/usr DESTDIR=$PWD/d && " MAKE
                    "uninstall PREFIX=/usr DESTDIR=$PWD/d && "
                    "test -z \"$(find d -mindepth 1)\"");
}

/* Goal: a manipulated list of installed files removes no file outside of
 * PREFIX. */
Test(install, uninstall_stays_inside)
{
    build_must("mkdir -p victim/dir p && touch victim/file file && " INSTALL
               " && printf \"%%s\\n\" $PWD/victim/file $PWD/p/../file "
               "$PWD/victim/dir/ ../file / /etc/hosts "
               ">>p/share/recorder/installed && " UNINSTALL);
    build_must("test -e victim/file && test -e file && test -d victim/dir && "
               "test -e /etc/hosts && test ! -e p/bin");
}

/* Goal: the installed files are enough: pkg-config finds the headers, a program
 * records, and the command reads it and runs it. */
Test(install, used_by_pkg_config)
{
    build_must(INSTALL " >install.log");
    build_must("cp " BUILD_PROGRAMS "/installed.c hello.c && "
               "export PKG_CONFIG_PATH=$PWD/p/share/pkgconfig && "
               "gcc hello.c -o hello $(pkg-config --cflags --libs recorder) && "
               "pkg-config --modversion recorder");
    build_must("test \"recorder $(PKG_CONFIG_PATH=$PWD/p/share/pkgconfig "
               "pkg-config --modversion recorder)\" = "
               "\"$(p/bin/recorder --version)\"");
    build_must(
        "RECORDER_FILE=hello.rec ./hello && p/bin/recorder dump hello.rec");
    said(" T1] net: 42 bytes from example.org\n");
    build_must("cd p/lib/python3*/*-packages && python3 -c "
               "\"import recorder\nfor event in "
               "recorder.open(\\\"$OLDPWD/hello.rec\\\"): "
               "print(event.message)\"");
    said("42 bytes from example.org\n");
    build_must("p/bin/recorder run --always -o run.rec ./hello && "
               "p/bin/recorder list run.rec");
    said("net ");
}

/* Goal: missing libraries are named, with their packages, and nothing is
 * installed. Method: a compiler that knows no sqlite and no libseccomp. */
Test(install, names_what_is_missing)
{
    build_must(
        "printf \"#!/bin/sh\\ncase \\$* in *-lsqlite3*|*-lseccomp*) exit 1"
        ";; esac\\nexec cc \\\"\\$@\\\"\\n\" >without && chmod +x without");
    cr_assert_eq(
        build_run("CC=$PWD/without sh " TEST_ROOT "/packages/libraries.sh"), 1,
        "%s", build_text);
    said("libraries that are not here: sqlite libseccomp\n");
    if (build_run("grep -q \"^ID.*debian\" /etc/os-release") == 0) {
        build_run("CC=$PWD/without sh " TEST_ROOT "/packages/libraries.sh");
        said("apt-get install libsqlite3-dev libseccomp-dev\n");
        said("or: make deps\n");
    }
    build_must("for system in debian fedora suse arch alpine; do "
               "sh " TEST_ROOT "/packages/libraries.sh names $system || exit; "
               "done");
    said("zlib1g-dev");
    said("elfutils-devel");
    cr_expect_eq(build_run("CC=false sh " TEST_ROOT "/packages/libraries.sh"),
                 1);
    said("no C compiler");
    build_must("sh " TEST_ROOT "/packages/libraries.sh");
    cr_expect_str_empty(build_text);
}

/* Goal: where there is no apt-get, what is missing is named, and no more asked.
 */
Test(install, works_without_apt)
{
    build_must("mkdir bin && ln -s /usr/bin/* bin && rm -f bin/apt-get && "
               "PATH=$PWD/bin " MAKE "deps");
    cr_expect_str_empty(build_text);
    build_must("printf \"#!/bin/sh\\ncase \\$* in *-lsqlite3*) exit 1;; esac\\n"
               "exec cc \\\"\\$@\\\"\\n\" >without && chmod +x without");
    cr_expect_neq(build_run("PATH=$PWD/bin " MAKE "deps CC=$PWD/without"), 0);
    said("libraries that are not here: sqlite\n");
    cr_expect_null(strstr(build_text, "make deps"), "%s", build_text);
}

/* Goal: make alone makes no user root. */
Test(install, asks_no_sudo)
{
    build_must("printf \"#!/bin/sh\\necho asked; exit 1\\n\" >sudo && "
               "chmod +x sudo && cp sudo apt-get && "
               "printf \"#!/bin/sh\\necho 1000\\n\" >id && chmod +x id");
    cr_expect_eq(
        build_run("PATH=$PWD:$PATH sh " TEST_ROOT "/tests/apt.sh install -y x"),
        77);
    said("only root may install packages; SUDO=sudo");
    cr_expect_null(strstr(build_text, "asked"), "%s", build_text);
}

/* Goal: a build by clang has no warning. Method: the commands of make, with a
 * compiler that writes nothing. */
Test(install, clang_is_silent, .init = build_long)
{
    build_needs("clang");
    build_must(MAKE "-B -n CC=\"clang -fsyntax-only -Werror\" build/recorder "
                    "build/librecorder.so >made; "
                    "grep \"^clang .* -c \" made >commands && "
                    "test $(grep -c . commands) -gt 50 && cd " TEST_ROOT
                    " && xargs -d \"\\n\" -P 2 -n 1 sh -c <$OLDPWD/commands");
    cr_expect_str_empty(build_text);
}
