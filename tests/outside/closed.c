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

/* Without a file, two of three libraries took their formats away. */
static void must_be_known_as_closed(const char *how)
{
    if (*how)
        return;
    build_must("test $(grep -c \" net: <format of a closed library at 0x[0-9a-f]*>"
               " 0x[12] 0x\" shown) = 2");
}

static void must_be_true_of(const char *how)
{
    pid_t pid;
    char line[128];
    snprintf(line, sizeof line,
             "%s./closed ./liba.so ./libb.so ./libc.so 2>shown", how);
    pid = command_start(line);
    must_be_known_as_closed(how);
    build_must("cat shown");
    must_be_true("in the program");
    command_must("dump %d >shown", pid);
    must_be_known_as_closed(how);
    build_must("cat shown");
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

/* Makes `count` libraries, each with a text of its own, and the
 * program that opens them. */
static void build_reopened(int count)
{
    build_must("gcc -O1 -rdynamic " BUILD_INCLUDE "-o reopened " BUILD_PROGRAMS
               "/reopened.c -ldl -lpthread && gcc -O1 -fPIC -shared "
               "-Wl,--build-id=none -DPART=part "
               "-DTEXT=\"\\\"text1000\\\"\" " BUILD_INCLUDE
               "-o part.so " BUILD_PROGRAMS
               "/reopened.c && for i in $(seq 0 %d); do "
               "sed s/text1000/text$((2000+i))/g part.so >lib$i.so; done",
               count - 1);
}

/* A look at the recording, in `shown`, has the program's records, and each
 * record of a library has the library's words, or none: its number tells which
 * of the `libraries` made it. */
static void must_be_right(int libraries)
{
    build_must("! grep -v -E \"^(FLIGHT|DUMPING) |"
               " net: (closed [0-9]+ of the program|end)\\$|"
               ": (text[0-9]+) [0-9]+ of (~?\\3|<text of a closed library>|"
               "0x[0-9a-f]+)\\$|: <format [^>]*>\" shown");
    build_must("sed -n \"s/.* part: text\\([0-9]* [0-9]*\\) of .*/\\1/p\" shown | "
               "awk \"\\$1 - 2000 != \\$2 %% %d { print; wrong = 1 } "
               "END { exit wrong }\"",
               libraries);
}
static void must_be_readable(int libraries)
{
    command_must("dump recording >shown 2>said");
    must_be_right(libraries);
}

/* Goal: a reader never mixes two states of a recording whose program opens
 * libraries. Method: a debugger lets the program open another library after the
 * reader opened the file, and the first one again when the reader looks at an
 * address for the nth time. */
Test(closed, states_are_not_mixed)
{
    build_needs("gdb");
    build_reopened(2);
    build_must("printf \"%%s\\n\" \"n=\\$(grep -c ok told)\" \"echo \\$1 >in\" "
               "\"until test \\$(grep -c ok told) -gt \\$n; do sleep 0.01; done\" "
               ">step && mkfifo in");
    for (int nth = 1; nth <= 16; nth++) {
        pid_t pid;
        build_must("rm -f recording*; : >told");
        pid = command_start("env RECORDER_FILE=recording ./reopened 0 0 2 "
                            "<>in 2>>told");
        build_must("sh step 0 && printf \"%%s\\n\" \"break lanes_take\" "
                   "commands silent \"shell sh step 1\" continue end "
                   "\"break life_is\" \"ignore 2 %d\" commands silent "
                   "\"shell sh step 0\" \"delete 2\" continue end run >script",
                   nth - 1);
        build_must("gdb -nx -q -batch -iex \"set debuginfod enabled off\" "
                   "-x script --args " RECORDER " dump recording >all 2>&1; "
                   "grep -E \"^(DUMPING|[0-9]+ .*(part|net): )\" all >shown; "
                   "grep \" part: text2001 1 of text2001\" shown");
        must_be_right(2);
        command_stop(pid);
    }
}

/* Goal: a recording stays readable, and as large as it was, however often
 * libraries come and go. Method: threads open 3 in turn; a reader looks all the
 * time; the program is killed at its end, and in between. */
Test(closed, reopened_libraries_leave_it_readable)
{
    const unsigned opens = scaled(10000);
    build_reopened(3);
    for (int round = 0; round < 4; round++) {
        char line[128];
        pid_t pid;
        snprintf(line, sizeof line,
                 "env RECORDER_FILE=recording ./reopened %d %u 3 2>warned",
                 round ? 3 : 1, opens);
        build_must("rm -f recording*");
        pid = command_start(line);
        for (int looks = 0; looks < (round ? 10 * round : 1000); looks++) {
            must_be_readable(3);
            if (build_run("grep -q \"net: end\" shown") == 0)
                break;
        }
        command_stop(pid);
        must_be_readable(3);
        build_must("grep -q \" net: \" shown");
        build_must("test $(stat -c %%s recording) -lt 2000000");
        build_must("! test -s warned");
    }
}

/* Goal: a recording that has no room for more libraries says so, and the
 * program's records stay readable. */
Test(closed, too_many_libraries_are_told)
{
    pid_t pid;
    build_reopened(400);
    pid = command_start(
        "env RECORDER_FILE=recording ./reopened 1 400 400 2>warned");
    do
        must_be_readable(400);
    while (build_run("grep -q \"net: end\" shown") != 0);
    build_must("grep -c \"no room for the formats and recorders\" warned | "
               "grep -qx 1");
    command_must("list recording 2>&1 | grep -q \"had no room\"");
    command_must("list %d 2>&1 | grep -q \"had no room\"", pid);
    command_stop(pid);
    must_be_readable(400);
    build_must("grep -q \"net: closed 399 of the program\" shown");
    build_must("test $(stat -c %%s recording) -lt 70000000");
}
