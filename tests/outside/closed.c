/* Records of libraries that were closed, and of others in their place. */
/* SPDX-License-Identifier: MIT */
#include "harness/command.h"

TestSuite(closed, .init = build_begin, .fini = build_end, .timeout = 300);

static void build(void)
{
    build_must("for part in a:deposit:alice b:steal__:mallo c:lent___:frank; "
               "do old=$IFS IFS=:; set -- $part; IFS=$old; gcc -O1 -fPIC "
               "-shared -DPART -DFORMAT=\"\\\"$2\\\"\" "
               "-DTEXT=\"\\\"$3\\\"\" " BUILD_INCLUDE
               "-o lib$1.so " BUILD_PROGRAMS "/closed.c || exit 1;"
               " done; gcc -O1 -rdynamic " BUILD_INCLUDE
               "-o closed " BUILD_PROGRAMS "/closed.c -ldl");
}

/* No record shows words of a library that replaced its own. The last record's
 * library is open. */
static void must_be_true(const char *what)
{
    for (int i = 1; i <= 3; i++)
        for (int k = 1; k <= 3; k++) {
            static const char *const words[][2] = {{"deposit", "alice"},
                                                   {"steal__", "mallo"},
                                                   {"lent___", "frank"}};
            char wrong[2][32];
            snprintf(wrong[0], sizeof wrong[0], "%s %d", words[k - 1][0], i);
            snprintf(wrong[1], sizeof wrong[1], "%d of %s", i, words[k - 1][1]);
            for (int w = 0; w < 2 && i != k; w++)
                cr_assert_null(strstr(build_text, wrong[w]), "%s: %s", what,
                               build_text);
        }
    cr_assert_not_null(strstr(build_text, "net: lent___ 3 of frank\n"),
                       "%s: %s", what, build_text);
}

static void must_be_true_of(const char *how)
{
    pid_t pid;
    char line[128];
    snprintf(line, sizeof line,
             "%s./closed ./liba.so ./libb.so ./libc.so 2>said", how);
    pid = command_start(line);
    build_must("cat said");
    must_be_true("in the program");
    command_must("dump %d", pid);
    must_be_true("live");
    command_must("save %d -o saved && " RECORDER " dump saved", pid);
    must_be_true("saved");
    command_must("save %d --names net -o made && " RECORDER " dump made", pid);
    must_be_true("made of events");
    command_must("save made -o again && " RECORDER " dump again");
    must_be_true("made of those");
    build_run("timeout -s INT 1 " RECORDER " log %d -o log%d", pid, (int)pid);
    command_must("dump log%d", (int)pid);
    must_be_true("a log");
    command_stop(pid);
}

/* Goal: a format or a text of a closed library is never another library's at
 * its address. Method: three libraries of one layout, one after the other, by
 * all readers. */
Test(closed, libraries_lend_no_words)
{
    build();
    must_be_true_of("");
}

/* Goal: the same with a recording, which keeps formats of closed libraries. */
Test(closed, a_recording_keeps_formats)
{
    build();
    must_be_true_of("env RECORDER_FILE=recording ");
    command_must("dump recording");
    must_be_true("the recording");
    cr_assert_not_null(strstr(build_text, "net: deposit 1 of "));
    cr_assert_not_null(strstr(build_text, "net: steal__ 2 of "));
}
