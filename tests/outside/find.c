/* Finding programs that record on this machine: processes, names, packed
 * files. */
/* SPDX-License-Identifier: MIT */
#include "harness/command.h"

static void find_begin(void)
{
    build_begin();
    command_build("program", "gcc -O2");
}
TestSuite(find, .init = find_begin, .fini = build_end, .timeout = 300);

/* A copy of the program by a name that no other process has. */
static void named(char name[32])
{
    sprintf(name, "found-%d", (int)getpid());
    build_must("cp program %s", name);
}

/* Without times: if the program measured no rate, each reader measures the rate
 * of its clock again. */
#define UNTIMED                                                                \
    "--line \"{order} {location} T{thread} {recorder}: {message}\" "

/* Goal: `recorder ps` shows all recording processes, their rates and places,
 * and no others. Method: a program at a known rate, with and without a
 * recording, beside one without recorders. */
Test(find, ps)
{
    char name[32], line[128];
    int slow, file, other;
    named(name);
    sprintf(line, "./%s count 1000000 1000", name);
    slow = (int)command_start(line);
    sprintf(line, "env RECORDER_FILE=$PWD/kept ./%s quiet", name);
    file = (int)command_start(line);
    other = (int)command_start("sh -c \"echo PID \\$\\$; sleep 100; :\"");
    command_must("ps --interval 500ms >ps 2>errors; cat ps errors");
    cr_assert(strncmp(build_text, "    PID  PROGRAM ", 17) == 0, "%s",
              build_text);
    cr_assert_eq(build_run("grep \"^ *%d \" ps", other), 1, "%s", build_text);
    /* At most 1,000 a second; another look, where the machine was busy. */
    for (int i = 0;
         build_run("grep \"^ *%d  %s \" ps | awk \"{ exit !(\\$3 > 50 && \\$3 < "
                   "1100 && \\$4 > 0 && /main, / && / -\\$/) }\"",
                   slow, name) != 0;
         i++) {
        build_must("cat ps");
        cr_assert_lt(i, 10, "%s", build_text);
        command_must("ps --interval 500ms >ps 2>errors");
    }
    build_must("grep \"^ *%d  %s \" ps | awk \"{ exit !(\\$3 == 0 && \\$4 == 3) "
               "}\" && grep \"^ *%d .*/kept$\" ps",
               file, name, file);
    command_must("ps --brief 2>&- | grep -x \"%d %s\"", file, name);
    command_must("ps --json 2>&- | /usr/bin/python3 -c \"import json, sys\n"
                 "all = {one[\\\"pid\\\"]: one for one in "
                 "map(json.loads, sys.stdin)}\n"
                 "assert all[%d][\\\"kept\\\"] == 3, all\n"
                 "assert all[%d][\\\"recording\\\"].endswith(\\\"/kept\\\")\n"
                 "assert all[%d][\\\"recording\\\"] is None\n"
                 "assert \\\"main\\\" in all[%d][\\\"recorders\\\"]\"",
                 file, file, slow, slow);
    cr_assert_eq(command("ps %d", file), 2, "%s", build_text);
    cr_assert_eq(command("ps --interval x"), 2, "%s", build_text);
    command_stop(slow);
    command_stop(file);
    command_stop(other);
}

/* Goal: where RECORDER_FILE is in the environment of a process and made no
 * recording, list and ps say why; else they say nothing of it. Method: a program
 * that includes recorder.h only, one that reads it and cannot obey, one that
 * obeys, and one whose environment has none. */
Test(find, recorder_file_not_heeded)
{
    static const struct {
        const char *environment, *program, *says;
    } cases[] = {
        {"RECORDER_FILE=$PWD/a.rec", "deaf", "includes recorder_dump.h"},
        {"RECORDER_FILE=$PWD/no/b.rec", "reads", "its stderr says why"},
        {"RECORDER_FILE=$PWD/c.rec", "reads", NULL},
        {"RECORDER_FILE=", "deaf", NULL}};
    size_t i;
    build_must("gcc " BUILD_INCLUDE "-o deaf " BUILD_PROGRAMS "/unheeded.c");
    build_must("gcc " BUILD_INCLUDE "-DREADS -o reads " BUILD_PROGRAMS
               "/unheeded.c");
    for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char line[128], why[64];
        int pid;
        sprintf(line, "env %s ./%s 2>errors", cases[i].environment,
                cases[i].program);
        pid = (int)command_start(line);
        command_must("list %d 2>&1", pid);
        cr_expect_eq(strstr(build_text, "RECORDER_FILE=") != NULL,
                     cases[i].says != NULL, "%s", build_text);
        sprintf(why, "recorder save %d makes a file", pid);
        if (cases[i].says)
            cr_expect(strstr(build_text, cases[i].says) &&
                          strstr(build_text, why),
                      "%s", build_text);
        command_must("ps --interval 1ms 2>&- | grep \"^ *%d \"", pid);
        sprintf(why, "(recorder list %d says why)", pid);
        cr_expect_eq(strstr(build_text, why) != NULL, cases[i].says != NULL,
                     "%s", build_text);
        command_must("ps --interval 1ms --json 2>&- | grep \":%d,\"", pid);
        cr_expect_eq(strstr(build_text, "\"no_recording\":\"RECORDER_FILE=") !=
                         NULL,
                     cases[i].says != NULL, "%s", build_text);
        command_stop(pid);
    }
}

/* Goal: a SOURCE may be a program's name, if one process has it; a readable
 * file comes first; errors have messages. */
Test(find, by_name)
{
    char name[32], line[64], many[128];
    int one, two;
    named(name);
    sprintf(line, "./%s quiet", name);
    cr_assert_eq(command("list %s", name), 1);
    cr_assert(strstr(build_text, ": is a program, no core file"), "%s",
              build_text);
    one = (int)command_start(line);
    /* The program's file has that name, too, but is no source. */
    command_must("dump %s " UNTIMED ">by-name && " RECORDER " dump %d " UNTIMED
                 ">by-id && tail -n 5 by-name >a && tail -n 5 by-id >b && "
                 "cmp a b && grep third a",
                 name, one);
    command_must("set %s main=off && " RECORDER " list %s | grep \"^main.* off\"",
                 name, name);
    command_must("threads %s", name);
    two = (int)command_start(line);
    sprintf(many, "recorder: %s: is the name of 2 processes, %d, %d: ", name,
            one < two ? one : two, one < two ? two : one);
    cr_assert_eq(command("list %s", name), 1);
    cr_assert(strncmp(build_text, many, strlen(many)) == 0, "%s", build_text);
    command_must("save %d -o saved && mv saved %s && " RECORDER " list %s", two,
                 name, name);
    cr_assert(!strstr(build_text, "alive"), "%s", build_text);
    cr_assert_eq(command("list ./nowhere-%s", name), 1);
    cr_assert(strstr(build_text, "No such file or directory"), "%s",
              build_text);
    /* A damaged file is that file, too. */
    build_must("head -c 100 %s >cut; mv cut %s", name, name);
    cr_assert_eq(command("list %s", name), 1);
    cr_assert(strstr(build_text, "it is cut off"), "%s", build_text);
    command_stop(one);
    command_stop(two);
}

/* Goal: of processes with one name those count that record, if one does; a
 * verb that needs no recorders takes none for the other. */
Test(find, by_name_those_that_record)
{
    char name[32], line[96];
    int idle, records;
    named(name);
    build_must("mkdir d && cp /bin/sleep d/%s", name);
    sprintf(line, "sh -c \"echo PID \\$\\$; exec d/%s 100\"", name);
    idle = (int)command_start(line);
    sprintf(line, "./%s quiet", name);
    records = (int)command_start(line);
    build_must("until test \"$(cat /proc/%d/comm)\" = %.15s; do sleep 0.01; "
               "done", idle, name);
    command_must("dump %s | grep \"PID %d\"", name, records);
    cr_assert_eq(command("threads %s", name), 1, "%s", build_text);
    cr_assert(strstr(build_text, "is the name of 2 processes"), "%s",
              build_text);
    command_stop(idle);
    command_stop(records);
}

/* Goal: of libraries that share nothing, --registry all shows all. */
Test(find, all_registries, .init = build_long)
{
    int pid;
    build_must("for part in one two; do gcc -O2 -fPIC -shared " BUILD_INCLUDE
               "-DPART=$part -o lib$part.so " BUILD_PROGRAMS
               "/command_part.c || exit; done; gcc -O2 " BUILD_INCLUDE
               "-o bare " BUILD_PROGRAMS "/command_host.c -ldl -lpthread");
    pid = (int)command_start("./bare ./libone.so:one ./libtwo.so:two");
    command_must("dump %d --registry all --line \"{recorder} {message}\" | "
                 "grep -v \"^FLIGHT\\|^DUMPING\" | sed \"s/0x.*/0x/\" | "
                 "sort", pid);
    cr_assert_str_eq(build_text, "\nREGISTRY 0x\nREGISTRY 0x\n"
                                 "one library says, 1\none library says, 2\n"
                                 "one library says, 3\ntwo library says, 1\n"
                                 "two library says, 2\ntwo library says, 3\n");
    command_must("dump %d --registry all --json | grep -c library", pid);
    cr_assert_str_eq(build_text, "6\n");
    command_must("list %d --registry all >all && grep \"^one \" all && "
                 "grep \"^two \" all",
                 pid);
    cr_assert_eq(command("view %d --registry all", pid), 2);
    cr_assert(strstr(build_text, "goes with list and dump"), "%s", build_text);
    cr_assert_eq(command("dump --registry all nowhere-%d", pid), 1);
    command_stop(pid);
}

/* ---------------------------------------------------------------- packed -- */

/* Goal: files packed by gzip or zstd are read like unpacked ones. Method: every
 * kind of file in both, in two pieces after each other, and one copied
 * twice. */
Test(find, packed)
{
    int pid = (int)command_start("env RECORDER_FILE=kept ./program quiet");
    command_must("save %d -o saved && cat kept kept >twice", pid);
    command_stop(pid);
    build_must("for file in kept saved twice; do " RECORDER " dump $file "
               UNTIMED "| tail -n +2 >plain; test -s plain || exit; "
               "gzip -k $file; zstd -q $file; "
               "half=$(($(stat -c %%s $file) / 2)); "
               "{ head -c $half $file | gzip; "
               "tail -c +$((half + 1)) $file | gzip; } >$file.two.gz; "
               "{ head -c $half $file | zstd; "
               "tail -c +$((half + 1)) $file | zstd; } >$file.two.zst; "
               "for packed in $file.gz $file.zst $file.two.gz $file.two.zst; "
               "do TMPDIR=. " RECORDER " dump $packed " UNTIMED
               "2>said | tail -n +2 | "
               "cmp plain - || exit; test ! -s said || exit; done; done; "
               "ls | grep recorder-; test $? = 1");
}

/* Runs the command on a file; it must fail within limited memory, with a
 * sentence that contains `text`. */
static void refused(const char *file, const char *text)
{
    cr_assert_eq(build_run("ulimit -v 1000000; exec timeout 20 " RECORDER
                           " list %s", file),
                 1, "%s: %s", file, build_text);
    cr_assert(strstr(build_text, text), "%s", build_text);
}

/* Goal: a packed file that is cut off is read as the file which unpacks from it:
 * as far as it goes, with a message, also if it lacks only a check sum. Method:
 * both, cut at nine places; how much a tool unpacks of the last block differs. */
Test(find, cut_packed)
{
    int pid = (int)command_start("./program quiet");
    command_must("save %d -o saved", pid);
    command_stop(pid);
    build_must("gzip -k saved; zstd -q saved; for kind in gz zst; do "
               "size=$(stat -c %%s saved.$kind); unpack=zstd; "
               "test $kind = gz && unpack=gzip; for i in 1 2 3 4 5 6 7 8 9; do "
               "head -c $((size * i / 10)) saved.$kind >half; "
               "$unpack -dc <half >plain 2>&-; "
               RECORDER " list plain >in 2>&1; in=$?; "
               RECORDER " list half >out 2>said; out=$?; cat out said; "
               "test $in = $out || exit 1; grep \"cut off\" said || exit 2; "
               "test $out = 0 -o ! -s out || exit 3; done; "
               "test $i-$out = 9-0 || exit 4; "
               "tail -n +2 in | cmp - out || exit 5; "
               RECORDER " list saved.$kind >whole 2>said && "
               "! test -s said || exit 6; for less in 1 4 8 10; do "
               "head -c -$less saved.$kind >half; "
               RECORDER " list half >out 2>said; "
               "grep \"cut off\" said || exit 7; "
               "test $less -gt 4 || cmp whole out || exit 8; done; done");
}

/* Goal: packed files that are damaged or hostile give a message, in bounded
 * time, memory and disk space. */
Test(find, hostile_packed, .init = build_long)
{
    int pid = (int)command_start("./program quiet");
    command_must("save %d -o saved", pid);
    command_stop(pid);
    build_must("gzip -k saved; zstd -q saved; for kind in gz zst; do "
               "cp saved.$kind bad.$kind; head -c 100 /dev/urandom | "
               "dd of=bad.$kind bs=1 seek=1000 conv=notrunc 2>&-; "
               "head -c 4 saved.$kind >four.$kind; done; "
               "echo no recording | gzip >text.gz; "
               "head -c 1G /dev/zero | zstd -q >zeros.zst");
    refused("bad.zst", "bad.zst: ");
    refused("four.gz", "four.gz: ");
    refused("four.zst", "four.zst: ");
    refused("text.gz", "is no core file and no recording, but something else");
    refused("zeros.zst", "is no core file and no recording, but something");
    cr_assert_lt(command("list bad.gz"), 2, "%s", build_text);
    build_must("head -c 200 saved >head; "
               "(cat head; yes) | head -c 1100000000 | zstd -q >full.zst");
    refused("full.zst", "unpacks to more than 1 GiB, which is no recording");
}

/* The same of 17 GiB of zeros, which takes seconds. */
Test(find, hostile_holes, .init = build_long)
{
    find_begin();
    build_must("(head -c 64 program; head -c 17G /dev/zero) | zstd -q >z.zst");
    refused("z.zst", "unpacks to more than 16 GiB, which is no recording");
}

/* ------------------------------------------------------------ completion -- */

/* The completions of bash for the last of these words, sorted. */
static void completes(const char *words, const char *to)
{
    build_must("set -e; " RECORDER " --bash-completion >complete; "
               "printf \"%%s\\n\" \". ./complete\" "
               "\"recorder() { %s \\\"\\$@\\\"; }\" "
               "\"COMP_WORDS=(recorder %s)\" "
               "\"COMP_CWORD=\\$((\\${#COMP_WORDS[@]} - 1))\" _recorder "
               "\"printf \\\"%%s\\\\n\\\" \\\"\\${COMPREPLY[@]}\\\"\" >run.sh; "
               "bash run.sh | sort | tr \"\\n\" \" \"",
               RECORDER, words);
    cr_assert_str_eq(build_text, to, "%s:\n%s", words, build_text);
}

/* Goal: formats, colours, recorders, and only processes that record. */
Test(find, completion)
{
    char name[32], line[64], words[96], to[96];
    int pid, other;
    named(name);
    sprintf(line, "./%s quiet", name);
    pid = (int)command_start(line);
    other = (int)command_start("sh -c \"echo PID \\$\\$; sleep 100; :\"");
    completes("export ctf", "ctf ");
    completes("export s", "sqlite ");
    completes("dump --color a", "always auto ");
    sprintf(words, "dump %d --names s", pid);
    completes(words, "silent small ");
    sprintf(words, "dump %s --names s", name);
    completes(words, "silent small ");
    /* bash splits words at = and : as well. */
    completes("dump --color =", "always auto never ");
    completes("dump --color = n", "never ");
    sprintf(words, "set %d s", pid);
    completes(words, "silent= small= ");
    sprintf(words, "set %d small = t", pid);
    completes(words, "thaw trace ");
    sprintf(words, "set %d small = off s", pid);
    completes(words, "silent= small= ");
    sprintf(words, "list --rates %d --where s", pid);
    completes(words, "silent: small: ");
    build_must("mkdir -p formats-1 formats-2 && touch formats-3");
    completes("dump --formats f", "formats-1 formats-2 ");
    sprintf(words, "dump %d", pid);
    sprintf(to, "%d ", pid);
    completes(words, to);
    sprintf(words, "dump %d", other);
    completes(words, " ");
    command_stop(pid);
    /* The beginning of a name that no other test has. */
    build_must("mv %s %s-x", name, name);
    sprintf(line, "./%s-x quiet", name);
    pid = (int)command_start(line);
    build_must("rm %s-x", name);
    sprintf(words, "dump %s-", name);
    sprintf(to, "%s-x ", name);
    completes(words, to);
    command_stop(pid);
    command_stop(other);
    /* The list of formats equals export's. */
    build_run(RECORDER " export nix saved");
    for (const char *format = "perfetto\0ctf\0vcd\0"
                              "sqlite\0json\0csv\0";
         *format; format += strlen(format) + 1) {
        cr_expect(strstr(build_text, format), "%s: %s", format, build_text);
    }
}

/* Goal: the name of a recorder is no program for the shell. */
Test(find, completion_runs_nothing)
{
    build_must("printf \"%%s\\n\" \"#include \\\"recorder_dump.h\\\"\" "
               "\"RECORDER(abcdefg, 8)\" \"int main(void) {\" "
               "\"record(abcdefg, \\\"x\\\"); return 0; }\" >evil.c; "
               "gcc " BUILD_INCLUDE "-o evil evil.c && "
               "RECORDER_FILE=evil.rec ./evil && grep -q abcdefg evil.rec && "
               "sed -i \"s/abcdefg/\\$(>bad)/g\" evil.rec && " RECORDER
               " list evil.rec");
    cr_assert(strstr(build_text, "$(>bad)"), "%s", build_text);
    completes("dump evil.rec --names a", " ");
    build_must("test ! -e bad");
}

/* Goal: without /proc, in a bare chroot, no message claims that a process does
 * not exist; programs record, and report why they made no recording. */
Test(find, without_proc)
{
    static const char *const says[] = {
        "recorder: 1: /proc is not mounted here\n",
        "recorder: /proc is not mounted here\n",
        "recorder: a.rec: the program cannot be read; records into memory\n"};
    if (build_run("unshare -m umount -l /proc") != 0)
        build_skip("/proc may not be unmounted here");
    build_must("gcc " BUILD_INCLUDE "-o last " BUILD_PROGRAMS "/last.c");
    build_run("unshare -m sh -c \"umount -l /proc; " RECORDER
              " list 1; " RECORDER
              " ps; RECORDER_FILE=a.rec ./last crash\"");
    for (size_t i = 0; i < sizeof says / sizeof *says; i++)
        cr_expect(strstr(build_text, says[i]), "%s:\n%s", says[i], build_text);
    cr_expect(strstr(build_text, "DUMPING small SIZE 64, "), "%s", build_text);
}
