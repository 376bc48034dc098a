/* A log counts its written and missed records, exactly, and loses no chunk. */
/* SPDX-License-Identifier: MIT */
#include "harness/command.h"

TestSuite(log, .init = build_begin, .fini = build_end, .timeout = 300);

/* Compiles ./log of programs/ with rings of `slots`. */
static void log_build(unsigned slots)
{
    build_once("gcc -O2 -DSLOTS=%u " BUILD_INCLUDE "-o log " BUILD_PROGRAMS
               "/log.c -lpthread -ldl",
               slots);
}

static pid_t log_start(unsigned threads, unsigned records, unsigned rate,
                       const char *library)
{
    char line[128];
    build_must("rm -f go done");
    snprintf(line, sizeof line, "./log %u %u %u %s", threads, records, rate,
             library);
    return command_start(line);
}

/* Logs into ./chunks, with `options`, the program's output until its signal to
 * go; its status is in ./status. */
static void log_runs(pid_t pid, const char *options)
{
    build_must(RECORDER
               " log %d -o chunks %s >said 2>&1 & log=$!;"
               " until ls chunks/0* >/dev/null 2>&1; do sleep 0.01; done;"
               " touch go; until test -e done; do sleep 0.01; done;"
               " kill -INT $log; wait $log; echo $? >status; cat said >&2;"
               " test $(cat status) = 0",
               pid, options);
}

/* A number of a recorder in what `list --json` said. */
static long long listed(const char *recorder, const char *member)
{
    char name[64];
    const char *at;
    snprintf(name, sizeof name, "{\"recorder\":\"%s\",", recorder);
    at = strstr(build_text, name);
    cr_assert(at, "no %s in: %s", recorder, build_text);
    snprintf(name, sizeof name, "\"%s\":", member);
    at = strstr(at, name);
    cr_assert(at, "no %s in: %s", member, build_text);
    return atoll(at + strlen(name));
}

/* For recorders of one-slot records, each record was written or missed; for
 * others, each slot. */
static void counts_must_be(unsigned threads, unsigned records, const char *what)
{
    const struct {
        const char *name;
        long long slots;
    } all[] = {{"few", (long long)threads * records},
               {"lanes", (long long)threads * ((records + 15) / 16)},
               {"wide", (long long)threads * ((records + 15) / 16) * 5}};
    command_must("list --json chunks");
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        long long kept = listed(all[i].name, "slots_kept");
        long long missed = listed(all[i].name, "missed");
        cr_assert_eq(kept + missed, all[i].slots,
                     "%s, %s: %lld written + %lld missed, of %lld", what,
                     all[i].name, kept, missed, all[i].slots);
        cr_assert_eq(listed(all[i].name, "overwritten"), 0);
        cr_assert_eq(listed(all[i].name, "lost"), 0);
    }
}

/* Goal: written + missed are all positions that were handed out, whatever was
 * lost. Method: 1 to 16 threads, rings of 2^6 to 2^20 slots, slow to unlimited
 * rates. */
Test(log, counts_are_exact, .init = build_long)
{
    static const struct {
        unsigned slots, threads, records, rate;
    } cases[] = {{64, 4, 40000, 0},          {1 << 20, 1, 200000, 0},
                 {64, 1, 20000, 10000},      {4096, 16, 20000, 20000},
                 {64, 16, 5000, 0},          {1024, 2, 50000, 0},
                 {65536, 1, 300000, 300000}, {65536, 16, 30000, 0},
                 {1 << 20, 4, 200000, 0},    {1 << 20, 16, 50000, 60000},
                 {256, 8, 10000, 10000}};
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        char what[128];
        pid_t pid;
        if (i > 2 && !sampled(i))
            continue;
        snprintf(what, sizeof what, "%u slots, %u threads, %u/s",
                 cases[i].slots, cases[i].threads, cases[i].rate);
        log_build(cases[i].slots);
        pid = log_start(cases[i].threads, cases[i].records, cases[i].rate, "");
        build_must("rm -rf chunks");
        log_runs(pid, "--chunk 4M");
        command_stop(pid);
        counts_must_be(cases[i].threads, cases[i].records, what);
    }
}

/* Goal: records that were overwritten before a log began do not count as
 * missed. */
Test(log, begins_late)
{
    pid_t pid;
    log_build(64);
    pid = log_start(1, 1000, 0, "");
    build_must("touch go; until test -e done; do sleep 0.01; done");
    log_runs(pid, "");
    command_stop(pid);
    build_must("cat said");
    cr_assert(strstr(build_text, " 0 missed, 0 lost"), "%s", build_text);
    command_must("list --json chunks");
    cr_assert_eq(listed("few", "slots_kept"), 64);
    cr_assert_eq(listed("few", "missed"), 0);
    cr_assert_eq(listed("few", "slots_overwritten"), 936);
}

/* Goal: the chunks contain all that the program has: copied texts, 12
 * arguments, reals, a library that is closed in between. Method: rings so large
 * that they overwrite nothing; dumps of both; and chunks one by one. */
Test(log, is_what_the_program_has, .init = build_long)
{
    pid_t pid;
    log_build(1 << 18);
    build_must("gcc -O2 -shared -fPIC -DLIBRARY " BUILD_INCLUDE
               "-o part.so " BUILD_PROGRAMS "/log.c");
    pid = log_start(4, scaled(50000), 0, "./part.so");
    log_runs(pid, "--chunk 4M");
    command_must("dump %d --names \"few|wide|copy|lanes\" --line"
                 " \"{order} {location} {thread} {recorder} {message}\" |"
                 " tail -n +6 >in",
                 pid);
    build_must("test $(wc -l <in) -gt %u", scaled(50000) * 4);
    command_must("dump chunks --names \"few|wide|copy|lanes\" --line"
                 " \"{order} {location} {thread} {recorder} {message}\" |"
                 " tail -n +6 >out; cmp in out || diff -a in out | head");
    build_must("for file in chunks/*; do " RECORDER " dump $file --names"
               " \"few|wide|copy|lanes\" --line"
               " \"{order} {location} {thread} {recorder} {message}\" |"
               " tail -n +6; done | sort -n >out;"
               " cmp in out || diff -a in out | head");
    command_must("save chunks -o whole.rec && " RECORDER " dump chunks |"
                 " tail -n +2 >in; " RECORDER " dump whole.rec |"
                 " tail -n +2 >out; cmp in out");
    command_must("export json %d --names \"wide|copy\" -o in.json &&"
                 " " RECORDER " export json chunks --names \"wide|copy\""
                 " -o out.json; for file in in out; do"
                 " sed \"s/.ns.:[-0-9]*,.wall_ns.:[0-9]*//\" $file.json"
                 " >$file; done; cmp in out || diff -a in out | head -c 2000",
                 pid);
    command_stop(pid);
    command_must("dump chunks --names part --line \"{message}\" |"
                 " tail -n +3 | tr -d \"~\"");
    cr_assert_str_eq(build_text, "the library has 0: a constant of its own\n"
                                 "the library has 1: a constant of its own\n"
                                 "the library has 2: a constant of its own\n");
}

/* Each chunk can be read alone. */
static void chunks_must_be_whole(void)
{
    build_must("for file in chunks/*; do " RECORDER
               " dump $file >out 2>&1 || { cat out; exit 1; };"
               " ! grep recorder: out || exit 1; done");
}

/* Goal: a tool that is killed leaves whole chunks and a part that can be read;
 * a program that is killed ends the log. Method: kill -9 of either at
 * random. */
Test(log, survives_kills)
{
    log_build(1 << 16);
    for (unsigned i = 0; i < scaled(20) + 1; i++) {
        pid_t pid = log_start(2, 100000000, 40000, "");
        bool tool = i % 2 == 0;
        unsigned ms = 200 + (unsigned)rand() % 500;
        char victim[16] = "$log";
        if (!tool)
            snprintf(victim, sizeof victim, "%d", (int)pid);
        build_must("rm -rf chunks; touch go; " RECORDER
                   " log %d --chunk 4M -o chunks >said 2>&1 & log=$!;"
                   " until test $(" RECORDER " dump chunks --names few 2>&1 |"
                   " wc -l) -gt 1100; do sleep 0.01; done;"
                   " sleep 0.%u; kill -9 %s; wait $log; echo $? >status",
                   pid, ms, victim);
        command_stop(pid);
        if (tool) {
            build_must("test $(cat status) = 137");
        } else {
            build_must("set -e; test $(cat status) = 0; ls chunks/*.part && exit 1;"
                       " grep \"the program is gone\" said;"
                       " grep \"missed until that look, 0 lost\" said");
        }
        chunks_must_be_whole();
        command_must("list --json chunks");
        cr_assert_eq(listed("lanes", "lost"), 0);
        cr_assert_gt(listed("few", "kept"), 1000);
    }
}

/* Goal: so it is between any two system calls of a change of chunks. Method: the
 * tool kills itself at each, once it closed a chunk. In 0.3 s without a processor
 * it would miss a whole ring. */
Test(log, survives_kills_between_chunks)
{
    unsigned calls = scaled(20) + 4, parts = 0;
    log_build(1 << 16);
    build_must("gcc -shared -fPIC -o log_killed.so " BUILD_PROGRAMS
               "/log_killed.c -ldl");
    for (unsigned i = 1; i <= calls; i++) {
        pid_t pid = log_start(2, 100000000, 100000, "");
        build_must("rm -rf chunks; touch go; KILL_AT=%u"
                   " LD_PRELOAD=./log_killed.so " BUILD_FIRST RECORDER
                   " log %d --chunk 4M -o chunks; test $? = 137",
                   i, pid);
        command_stop(pid);
        chunks_must_be_whole();
        command_must("list --json chunks");
        cr_assert_eq(listed("lanes", "lost"), 0);
        cr_assert_gt(listed("few", "kept"), 1000, "%s", build_text);
        parts += build_run("ls chunks/*.part") == 0;
        command_must("dump chunks --line \"{thread} {name}\" |"
                     " grep -m 1 \"?\" || true");
        cr_assert_str_eq(build_text, "");
    }
    cr_assert(parts > 0 && parts < calls, "%u of %u have a part", parts, calls);
}

/* Goal: a log can be read while it is written, although chunks are renamed and
 * deleted. Method: some three chunks a second, of which the last two are kept,
 * are dumped again and again, without a complaint. */
Test(log, is_read_while_it_is_written)
{
    pid_t pid;
    log_build(1 << 16);
    pid = log_start(2, 100000000, 20000, "");
    build_must("touch go; " RECORDER
               " log %d --chunk 4M --keep 9M -o chunks & log=$!;"
               " trap \"kill -9 $log\" EXIT;"
               " until ls chunks/0*.rec >/dev/null 2>&1; do sleep 0.01; done;"
               " for i in $(seq %u); do " RECORDER " dump chunks --names few"
               " >out 2>said && ! test -s said || { cat said; exit 1; };"
               " test $(grep -c \" few: \" out) -gt 1000 || exit 2; done;"
               " kill -INT $log; trap - EXIT; wait $log",
               pid, 4 + scaled(20));
    command_stop(pid);
}

/* Goal: a log has the chosen records, and counts the others. Method: one
 * recorder of two has severities. */
Test(log, counts_what_it_leaves_out)
{
    pid_t pid;
    log_build(1 << 15);
    pid = log_start(2, 16000, 0, "");
    log_runs(pid, "--chunk 4M --severity sw2 --names \"few|lanes\"");
    command_stop(pid);
    command_must("list --json chunks");
    cr_assert_eq(listed("few", "kept"), 0);
    cr_assert_eq(listed("few", "left_out") + listed("few", "missed"), 32000);
    cr_assert_eq(listed("lanes", "kept") + listed("lanes", "missed"), 2000);
    cr_assert_eq(listed("lanes", "left_out"), 0);
    cr_assert_null(strstr(build_text, "\"wide\""));
    command_must("dump chunks | grep few");
    cr_assert(strstr(build_text, "0 ENTRIES, "), "%s", build_text);
    cr_assert(strstr(build_text, " LEFT OUT\n"), "%s", build_text);
}

/* Goal: a log is bounded, by size or age, and its oldest chunk goes first.
 * Method: many more records than are kept. */
Test(log, keeps_as_much_as_it_should, .init = build_long)
{
    pid_t pid;
    log_build(1 << 18);
    pid = log_start(1, 400000, 0, "");
    log_runs(pid, "--keep 16M --chunk 4M");
    build_must("set -e; test $(du -sk chunks | cut -f 1) -lt 24000;"
               " test ! -e chunks/000001.rec; ls chunks");
    command_must("dump chunks --last 1 --names few --line \"{message}\" |"
                 " tail -n 1");
    cr_assert_str_eq(build_text, "0: 399999 of them, 133333.00\n");
    command_must("list --json chunks");
    cr_assert_eq(listed("few", "slots_kept") + listed("few", "missed") +
                     listed("few", "slots_overwritten"),
                 400000);
    cr_assert_gt(listed("few", "slots_overwritten"), 0);
    command_stop(pid);
    build_must("mv chunks old");
    pid = log_start(1, 300000, 100000, "");
    log_runs(pid, "--keep 1s");
    build_must("set -e; test ! -e chunks/000001.rec; test -n \"$(ls chunks)\"");
    command_stop(pid);
}

/* Goal: a full disk ends the log with a sentence and a status; chunks that were
 * closed before are whole. */
Test(log, says_that_the_disk_is_full)
{
    pid_t pid;
    log_build(1 << 18);
    pid = log_start(1, 600000, 0, "");
    if (build_run("mkdir folder && unshare -m sh -c \"mount -t tmpfs none"
                  " folder\"") != 0) {
        command_stop(pid);
        build_skip("no tmpfs may be mounted here");
    }
    build_must("touch go; unshare -m sh -c \"mount -t tmpfs -o size=16M none"
               " folder && { " RECORDER
               " log %d --chunk 4M -o folder/chunks 2>said;"
               " echo \\$? >status; " RECORDER " list --json folder/chunks"
               " >there; cp -r --sparse=always folder/chunks .; }\";"
               " " RECORDER " list --json chunks >here; test -s here &&"
               " sed s,folder/,, there | cmp - here",
               pid);
    command_stop(pid);
    build_must("set -e; test $(cat status) = 1; grep \"No space left on device\" said;"
               " grep \"chunks were closed before, and whole\" said;"
               " for file in chunks/*.rec; do " RECORDER
               " dump $file >out 2>&1 || exit 1; done; ls chunks/000001.rec");
    pid = log_start(1, 1000, 0, "");
    cr_assert_eq(build_run("ulimit -f 64; " RECORDER " log %d -o limited", pid),
                 1);
    cr_assert(strstr(build_text, "File too large"), "%s", build_text);
    command_stop(pid);
}

/* Goal: files of others are left alone, an existing log above all. */
Test(log, overwrites_nothing)
{
    pid_t pid;
    log_build(64);
    pid = log_start(1, 10, 0, "");
    build_must("mkdir chunks other; echo mine >chunks/notes; echo x >file;"
               " echo x >other/000007.rec");
    log_runs(pid, "");
    build_must("set -e; grep mine chunks/notes; test -e chunks/000001.rec");
    cr_assert_eq(command("log %d -o chunks", pid), 1);
    cr_assert(strstr(build_text, "holds a log already"), "%s", build_text);
    cr_assert_eq(command("log %d -o other", pid), 1);
    cr_assert_eq(command("log %d -o file", pid), 1);
    cr_assert_eq(command("log %d -o chunks --last 3", pid), 2);
    cr_assert_eq(command("log %d -o x --chunk 1", pid), 2);
    cr_assert_eq(command("log %d -o x --keep much", pid), 2);
    cr_assert_eq(command("save %d -o x --keep 1G", pid), 2);
    cr_assert_eq(command("log chunks -o x"), 1);
    command_stop(pid);
}

/* Goal: missing or damaged chunks are reported, and harm nothing. Method: of a
 * log of several chunks one is deleted, one cut, one of another program; a
 * chunk is cut at every length, and its bytes are flipped. */
Test(log, damaged_chunks_are_said, .init = build_long)
{
    unsigned size, i, step = test_scale() < 1 ? 997 : 61;
    pid_t pid;
    log_build(1 << 16);
    pid = log_start(1, 60000, 0, "");
    log_runs(pid, "--chunk 4M");
    command_stop(pid);
    build_must("set -e; test -e chunks/000003.rec; cp -r chunks whole;"
               " rm chunks/000002.rec");
    cr_assert_eq(command("list chunks"), 1, "%s", build_text);
    cr_assert(strstr(build_text, "chunk 000002 is missing"), "%s", build_text);
    cr_assert_eq(command("list --json chunks 2>/dev/null"), 1);
    cr_assert_eq(listed("few", "slots_kept") + listed("few", "missed"), 60000);
    build_must("head -c 100 whole/000002.rec >chunks/000002.rec");
    cr_assert_eq(command("list chunks"), 1, "%s", build_text);
    cr_assert(strstr(build_text, "000002.rec is left out: "), "%s", build_text);
    pid = log_start(1, 100, 0, "");
    build_must("rm -rf small; mv chunks damaged");
    log_runs(pid, "--chunk 4M --names wide");
    command_stop(pid);
    build_must("cp chunks/000001.rec whole/000002.rec");
    cr_assert_eq(command("list whole"), 1, "%s", build_text);
    cr_assert(strstr(build_text, "is of another program"), "%s", build_text);
    command_must("save chunks --since 1 -o small.rec; wc -c <small.rec");
    size = (unsigned)atoi(build_text);
    cr_assert_gt(size, 4000);
    build_must("mkdir cut; for at in $(seq 0 %u %u); do"
               " head -c $at small.rec >cut/000001.rec;"
               " " RECORDER " dump cut >out 2>&1; test $? -le 1 || exit 1;"
               " done",
               step, size);
    for (i = 0; i < size; i += step)
        build_must(
            "cp small.rec cut/000001.rec; printf \"\\\\%03o\" |"
            " dd of=cut/000001.rec bs=1 seek=%u conv=notrunc 2>/dev/null;"
            " for verb in list dump; do " RECORDER
            " $verb cut >out 2>&1; test $? -le 1 || exit 1; done",
            (i * 37 + 129) & 0xff, i);
}

/* Goal: damage to one chunk costs no record of another, and no record is shown
 * twice; damage is counted, and the status is 1. Method: a chunk in the middle
 * is cut, zeroed, copied, renamed; the records of all intact chunks, each
 * dumped alone, must all be shown. */
Test(log, damage_stays_in_its_chunk)
{
    static const struct {
        const char *how, *says; /* null: nothing is wrong */
        bool whole;             /* all records must be there */
    } cases[] = {
        {"truncate -s 0 $m", "000002.rec is left out: is empty", false},
        {"truncate -s 1000000 $m", "it is cut off", false},
        {"truncate -s -20000 $m", "cut off", false},
        {"truncate -s 1000000 $m && truncate -s 3000000 $m",
         "records are damaged or cut off", false},
        {"dd if=/dev/zero of=$m bs=100k seek=$(python3 dense.py $m) count=2 "
         "conv=notrunc",
         "records are damaged or cut off", false},
        {"head -c 1200000 /dev/urandom |"
         "dd of=$m bs=100k seek=$(python3 dense.py $m) conv=notrunc "
         "iflag=fullblock",
         "damaged or cut off", false},
        {"rm $m", "chunk 000002 is missing", false},
        {"mv $m x && mv bad/000001.rec $m && mv x bad/000001.rec && "
         "python3 start.py bad/000001.rec",
         "000001.rec is left out: is of another program than most chunks",
         false},
        {"head -c 5000 " RECORDER " >$m", "000002.rec is left out: ", false},
        {"cp $m bad/000004.rec", "000004.rec is left out: is a copy", true},
        {"cp $m bad/000002.part", "is left out: is a copy", true},
        {": >bad/000004.rec", "000004.rec is left out: is empty", true},
        {"mkfifo bad/000004.rec", "000004.rec is left out: ", true},
        {"ln -s 000004.rec bad/000004.rec", "000004.rec is left out: ", true},
        {"ln -s /dev/zero bad/000004.rec", "000004.rec is left out: ", true},
        {"mv $m x && mv bad/000003.rec $m && mv x bad/000003.rec", NULL, true},
        {"mv bad/000003.rec bad/000003.part", NULL, true}};
    pid_t pid;
    log_build(1 << 15);
    pid = log_start(1, 30000, 0, "");
    log_runs(pid, "--chunk 4M");
    command_stop(pid);
    build_must("set -e; dump() { timeout 60 " RECORDER
               " dump $1 --line \"{order} {recorder} {message}\" 2>said |"
               " grep \"^[0-9]\" | sort; };"
               " rm -f chunks/00000[4-9].*; ls chunks | wc -l | grep -x 3;"
               " dump chunks >all; for i in 1 2 3; do"
               " dump chunks/00000$i.rec; done | sort >parts;"
               " test $(wc -l <parts) = $(wc -l <all);" /* some in two chunks */
               " test -z \"$(comm -23 parts all | grep -v \"<lost>\")\";"
               " for i in 1 3; do"
               " dump chunks/00000$i.rec; done | sort | comm -12 - all >intact;"
               " test -s intact");
    build_must("cat >start.py <<END\n" /* changes the start of the program */
               "import struct, sys, time\n"
               "all = bytearray(open(sys.argv[1], \"rb\").read())\n"
               "for at in range(0, len(all) - 7, 8):\n"
               "    ns, = struct.unpack_from(\"<Q\", all, at)\n"
               "    if abs(ns - time.time_ns()) < 3600 * 10**9: break\n"
               "all[at - 8] ^= 255\n"
               "open(sys.argv[1], \"wb\").write(all)\n"
               "END");
    build_must("cat >dense.py <<END\n" /* zeros are no damage to a free slot */
               "import sys\n"
               "all = open(sys.argv[1], \"rb\").read()\n"
               "size = 100 << 10\n"
               "used = [size - all[at:at + size].count(0)\n"
               "        for at in range(0, len(all) // 2, size)]\n"
               "print(max(range(2, len(used)), key=used.__getitem__))\n"
               "END");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        build_must("rm -rf bad; cp -r chunks bad; m=bad/000002.rec; %s",
                   cases[i].how);
        build_must("timeout 60 " RECORDER
                   " dump bad --line \"{order} {recorder} {message}\""
                   " >out 2>said; echo $? >status; grep \"^[0-9]\" out | sort"
                   " >shown; cat status said; test $(cat status) = %d &&"
                   " test -z \"$(cut -d \" \" -f 1 shown | uniq -d)\" &&"
                   " test -z \"$(comm -23 %s shown)\" &&"
                   " ! grep -a \" of  *, [0-9]\" shown ||"
                   " { comm -23 %s shown | head -n 4; exit 1; }",
                   cases[i].says != NULL, cases[i].whole ? "all" : "intact",
                   cases[i].whole ? "all" : "intact");
        cr_assert(cases[i].says ? strstr(build_text, cases[i].says) != NULL
                                : strchr(build_text, 'r') == NULL,
                  "%s: %s", cases[i].how, build_text);
    }
}

/* Goal: a dump of a program that laps the reader counts what it missed. Method:
 * one thread at full speed into 50 full rings of 64 slots: kept + missed make up
 * all slots but the one that is being written. With the overwritten records,
 * these make up all orders to between the end of this dump and of the next. The
 * end is unknown where a dump missed its newest records, or all. */
Test(log, a_dump_counts_what_it_missed)
{
    pid_t pid;
    build_once("gcc -O2 " BUILD_INCLUDE "-o pour " BUILD_PROGRAMS "/pour.c");
    pid = command_start("./pour");
    build_must(
        "until " RECORDER " list %d --json | grep -c overwritten.:[1-9] |"
        " grep -qx 50; do sleep 0.1; done; sum=0; for i in $(seq %u);"
        " do timeout 60 " RECORDER " dump %d --line \"{order}\" >out || exit 1;"
        " sum=$(awk -v before=$sum \"/^DUMPING net/ {"
        " for (i = 2; i < NF; i++) {"
        " if (\\$(i + 1) ~ /^(ENTRIES|MISSED)/) held += \\$i;"
        " if (\\$(i + 1) ~ /^MISSED/) missed += \\$i;"
        " if (\\$(i + 1) ~ /^OVERW/) gone += \\$i } }"
        " /^[0-9]/ { last = \\$1 } END { print held + gone;"
        " exit held < 3199 || held > 3200 || held + gone < last ||"
        " (last && last + 1 + missed < before) }\" out) ||"
        " { echo $sum; cat out; exit 2; }; done",
        pid, scaled(40) + 10, pid);
    command_stop(pid);
}

/* Goal: save chooses as dump does, from a process, a recording and a core file,
 * and all verbs read the result. Method: dumps of both. */
Test(log, save_chooses)
{
    static const char *const options[] = {
        "--names \"wide|copy\"",    "--last 100",     "--since 500 --until 900",
        "--thread 1 --since -100s", "--severity sw1", "--names few --last 7"};
    pid_t pid;
    log_build(1024);
    pid = log_start(3, 5000, 0, "");
    command_goes();
    command_must("save %d -o all.rec", pid);
    build_must("gcore -o core %d >/dev/null 2>&1 && mv core.%d core ||"
               " cp all.rec core",
               pid, pid);
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        char live[16];
        const char *sources[] = {live, "all.rec", "core"};
        snprintf(live, sizeof live, "%d", pid);
        for (size_t k = 0; k < 3; k++) {
            command_must("save %s %s -o small.rec", sources[k], options[i]);
            command_must("dump %s %s --json 2>/dev/null |"
                         " sed \"s/.ns.:[-0-9]*,.wall_ns.:[0-9]*//\" >in;"
                         " " RECORDER " dump small.rec --json |"
                         " sed \"s/.ns.:[-0-9]*,.wall_ns.:[0-9]*//\" >out;"
                         " test -s in && cmp in out ||"
                         " { diff -a in out | head -c 2000; exit 1; }",
                         sources[k], options[i]);
        }
    }
    command_must("list --json %d", pid);
    {
        long long few = listed("few", "kept");
        long long gone = listed("few", "overwritten");
        command_must("list --json small.rec");
        cr_assert_eq(listed("few", "kept"), 7);
        cr_assert_eq(listed("few", "left_out"), few - 7);
        cr_assert_eq(listed("few", "overwritten"), gone);
    }
    for (const char *const *verb =
             (const char *const[]){"list", "list --rates", "view -o page.html",
                                   "export sqlite -o x.db",
                                   "export perfetto -o x.pf", NULL};
         *verb; verb++)
        command_must("%s small.rec", *verb);
    build_must("gdb -batch -ex \"source " TEST_ROOT "/gdb/recorder-gdb.py\""
               " -ex \"recorder dump\" ./log -c small.rec >out 2>&1;"
               " test $(grep -c \" few: \" out) = 7 || cat out;"
               " test $(grep -c \" few: \" out) = 7");
    command_stop(pid);
}

/* Goal: a million records a second are logged without a loss, with rings of
 * 2^20 slots, where a core is free. Method: counts are exact always; that
 * nothing was missed is asked for where nothing else runs, by the load of the
 * machine. */
Test(log, a_million_a_second, .init = build_long)
{
    double load;
    pid_t pid;
    log_build(1 << 20);
    build_must("cat /proc/loadavg");
    load = atof(build_text);
    pid = log_start(1, 5000000, 1000000, "");
    log_runs(pid, "--names few");
    command_stop(pid);
    command_must("list --json chunks");
    cr_assert_eq(listed("few", "slots_kept") + listed("few", "missed"),
                 5000000);
    fprintf(stderr, "a million a second at load %.1f: %lld missed\n", load,
            listed("few", "missed"));
    if (load < 0.5)
        cr_assert_eq(listed("few", "missed"), 0);
}
