/* Several SOURCES in one call: one time axis, and each source as it is. */
/* SPDX-License-Identifier: MIT */
#define BUILD_SECONDS 100
#include "harness/command.h"

/* Leaves a.rec, b.rec and c.rec of programs that recorded at the same time;
 * labels declare the clocks of web1 and web2 wrong by 2 s. */
static void recordings_make(void)
{
    static const char *const names[] = {"a", "b", "c"};
    pid_t pids[3];
    build_begin();
    command_build("command", "gcc -O2");
    for (int i = 0; i < 3; i++) {
        char line[160];
        build_must("mkdir -p in_%s && ln -s ../command in_%s/", names[i],
                   names[i]);
        snprintf(line, sizeof line,
                 "sh -c \"cd in_%s && echo PID $$ && until test -e ../go; do "
                 "sleep 0.01; done; exec ./command count 400 1000 >said\"",
                 names[i]);
        pids[i] = command_start(line);
    }
    build_must("touch go");
    for (int i = 0; i < 3; i++)
        build_must("until " RECORDER " dump %d | grep -q \"number 400\"; do "
                   "sleep 0.05; done", pids[i]);
    command_must("save %d -o a.rec --label host=web1 --label service=shop "
                 "--label offset_ns=-2000000000 --label error_ns=400000",
                 pids[0]);
    command_must("save %d -o b.rec --label host=web2 --label "
                 "offset_ns=2000000000",
                 pids[1]);
    command_must("save %d -o c.rec", pids[2]);
    for (int i = 0; i < 3; i++)
        command_stop(pids[i]);
}
TestSuite(several, .init = recordings_make, .fini = build_end, .timeout = 400);

#define LINE "--line \"{order} {wall} {message}\""

/* Goal: the events of each source keep their order, and those of all are sorted
 * by time. Method: without the names in front, the lines of each source are its
 * own dump; programs whose clocks are 2 s apart each follow the other; two
 * whose clocks agree are mixed. */
Test(several, sources_are_merged_by_time)
{
    static const char *const titles[] = {"web1", "c   ", "web2"};
    static const char *const files[] = {"a", "c", "b"};
    command_must("dump b.rec a.rec c.rec " LINE " >all");
    for (int i = 0; i < 3; i++)
        build_must("sed -n \"s/^%s //p\" all | grep -v READ >mine && "
                   RECORDER " dump %s.rec " LINE " | grep -v READ >alone && "
                   "cmp mine alone",
                   titles[i], files[i]);
    build_must("grep -c \"number\" all | grep -x 1200");
    build_must("grep number all | cut -c 1-4 | uniq | tr -d \" \\n\" | grep -x "
               "web1cweb2");
    build_must("grep -x \"web1 CLOCK -2.000 s, +-400.0 us, WHICH ITS TIMES "
               "HAVE\" all && grep -x \"web2 CLOCK +2.000 s, +-unknown, .*\" "
               "all && test $(grep -c CLOCK all) = 2");
    /* The same moment: another offset moves a source among the others. */
    command_must("save a.rec -o same.rec --label offset_ns=0 --label host=x");
    command_must("dump same.rec c.rec " LINE " | grep number >all");
    build_must("test $(cut -c 1 all | uniq | wc -l) -gt 20");
    build_must("sed \"s/^. *[0-9]* //\" all | cut -c 1-29 | sort -c");
}

/* Goal: an unreadable source is reported, and stops no other. Method: one that
 * is no file, one cut off, one of noise among two good ones. */
Test(several, one_damaged_source_stops_no_other)
{
    build_must("head -c 700 b.rec >cut.rec; seq 1000 >noise.rec");
    command_must("dump a.rec c.rec " LINE " | grep number >good");
    cr_assert_eq(command("dump a.rec cut.rec none.rec noise.rec c.rec " LINE
                         " >all 2>said"), 1);
    build_must("grep number all | cmp - good");
    build_must("grep -q \"^recorder: cut.rec: \" said && grep -q \"^recorder: "
               "none.rec: No such file\" said && grep -q \"^recorder: "
               "noise.rec: is no core file\" said && test $(wc -l <said) = 3");
    cr_assert_eq(command("export json none.rec a.rec c.rec -o all.json"), 1);
    build_must("test $(wc -l <all.json) = 800");
    cr_assert_eq(command("list none.rec a.rec c.rec"), 1);
    cr_assert_neq(strstr(build_text, "\nSOURCE web1: a.rec, program command, "
                                     "pid "), NULL, "%s", build_text);
    cr_assert_eq(command("dump none.rec noise.rec >all"), 1);
    build_must("test ! -s all");
}

/* Goal: --last, --since and --until choose on the axis of all. */
Test(several, options_choose_among_all)
{
    command_must("dump a.rec b.rec c.rec " LINE " | grep number >all");
    command_must("dump a.rec b.rec c.rec --last 403 " LINE
                 " | grep number >last");
    build_must("tail -n 403 all | cmp - last");
    command_must("dump a.rec b.rec c.rec --since -1s " LINE
                 " | grep number >since && grep \"^web2\" all | cmp - since");
    command_must("dump a.rec b.rec c.rec --until -1s --names flood " LINE
                 " | grep number >until && grep -v \"^web2\" all | "
                 "cmp - until");
    build_must("at=$(grep ^c all | head -n 200 | tail -n 1 | tr -s \" \" |"
               " cut -d \" \" -f 3-4) && " RECORDER " dump a.rec b.rec c.rec --since \"$at\" "
               LINE " | grep -c number | grep -x 601");
    cr_assert_eq(command("dump a.rec b.rec --since 12"), 2);
    cr_assert_eq(command("dump a.rec b.rec --names no_such_recorder"), 1);
    cr_assert_eq(command("dump a.rec b.rec --clear"), 2);
    cr_assert_eq(command("view --live a.rec b.rec"), 2);
    cr_assert_eq(command("list --rates a.rec b.rec"), 2);
}

/* Goal: outputs of several sources tell whose an event is. Method: csv, json,
 * sqlite, perfetto and the page are read back. */
Test(several, outputs_tell_sources_apart)
{
    command_must("export csv a.rec c.rec --label region=eu -o all.csv");
    build_must("head -n 1 all.csv | grep -q ^source,host,service,region,pid,"
               "program,offset_ns,error_ns,order,ns,wall_ns,");
    build_must("grep -c \"^web1,web1,shop,eu,[0-9]*,command,-2000000000,400000,"
               "\" all.csv | grep -x 400");
    build_must("grep -c \"^c,,,eu,[0-9]*,command,0,,\" all.csv | grep -x 400");
    command_must("export csv a.rec -o one.csv"); /* the same columns */
    build_must("head -n 1 one.csv | grep -q ^source,host,service,pid,");
    command_must("export csv c.rec -o one.csv");
    build_must("head -n 1 one.csv | grep -q ^order,ns,");
    command_must("dump --json a.rec c.rec | tail -n 1 | grep -q "
                 "\"^{.source.:.c.,.pid.:[0-9]*,.program.:.command.,"
                 ".offset_ns.:0,.order.:400,\"");
    command_must("export sqlite a.rec b.rec c.rec -o all.db");
    build_must("sqlite3 all.db \"select count(*), count(distinct source) from "
               "log\" | grep -x \"1200|3\"");
    build_must("sqlite3 all.db \"select source, host, service, offset_ns, "
               "error_ns, pid > 0 from source order by id\" >rows; cat rows | "
               "tr \"\\n\" \" \" | grep -x \"web1|web1|shop|-2000000000|400000|1 "
               "web2|web2||2000000000||1 c|||0||1 \"");
    command_must("dump a.rec b.rec c.rec " LINE " | grep number | "
                 "sed \"s/  */ /; s/ [^ ]* [^ ]* number/ number/\" >lines");
    build_must("sqlite3 -separator \" \" all.db \"select source, ord, message "
               "from log\" | cmp - lines");
    command_must("export perfetto a.rec b.rec c.rec -o all.pftrace");
    build_must("protoc --decode=Trace -I" BUILD_PROGRAMS " perfetto.proto "
               "<all.pftrace >text && grep -c \" process_name:\" text | grep -x "
               "3 && grep -q \"process_name: .web1: command\" text && awk \"/"
               "type: INSTANT/ {i = 1} /machine_id:/ {n[\\$2] += i; i = 0} END "
               "{for (m in n) print n[m]}\" text | grep -xc 400 | grep -x 3");
    /* A trace for each, which babeltrace2 merges. */
    command_must("export ctf a.rec b.rec c.rec -o all.ctf");
    build_must("set -e; ls all.ctf | tr \"\\n\" \" \" | grep -x \"c web1 web2 \"; "
               "babeltrace2 all.ctf 2>warnings >text; test ! -s warnings; "
               "sed \"s/.*) \\([a-z0-9]*\\):command:.*message = .number "
               "\\([0-9]*\\).*/\\1 \\2/\" text >is; grep number lines | sed "
               "\"s/ .* / /\" | cmp - is; wc -l <is | grep -x 1200");
    command_must("save a.rec -o d.rec --label host=we/b");
    command_must("save a.rec -o e.rec --label host=we:b");
    command_must("export ctf d.rec e.rec -o two.ctf");
    build_must("ls two.ctf | tr \"\\n\" \" \" | grep -x \"we_b we_b-2 \"");
    command_must("view a.rec b.rec c.rec -o all.html --no-open");
    build_must("grep -q \"sources.:\\[{.title.:.web1.,.program.:.command.,.pid."
               ":.[0-9]*.,.clock.:.-2.000 s, +-400.0 us.},\" all.html");
}

/* Goal: waveforms of several sources equal those of each, in a scope with its
 * name, on one time axis; gtkwave's reader takes them. */
Test(several, waves_of_each_have_a_scope)
{
    command_must("save a.rec -o d.rec --label host=we/b");
    command_must("save c.rec -o e.rec --label host=we:b");
    build_must("for i in b c d e; do " RECORDER " export vcd $i.rec -o $i.vcd "
               "|| exit; done");
    command_must("export vcd b.rec e.rec d.rec c.rec -o all.vcd");
    build_must("python3 " BUILD_PROGRAMS "/vcd_several.py all.vcd web2 b.vcd "
               "we_b e.vcd we_b_2 d.vcd c c.vcd && vcd2fst all.vcd all.fst && "
               "fst2vcd all.fst | grep -c \"scope module\" | grep -x 12");
    build_must("grep -q \"web2.threads.* .*we_b_2.order\" all.tcl");
    command_must("export vcd --plain d.rec c.rec -o two.vcd");
    build_must("grep -c \"var wire 1 .* \\(c\\|we_b\\)_T1_command \" two.vcd | "
               "grep -x 2 && sigrok-cli -i two.vcd -I vcd -O vcd | grep -c "
               "\"var wire .*_T1_command \" | grep -x 2");
}

/* Goal: two sources of one name are distinguished, and labels never repeat
 * existing columns. */
Test(several, names_and_labels)
{
    command_must("dump a.rec a.rec --last 2 " LINE " >all");
    build_must("grep number all | cut -d \" \" -f 1 | sort -u | tr \"\\n\" \" \""
               " | grep -x \"a.rec#1 a.rec#2 \"");
    build_must("mkdir in && cp c.rec in && " RECORDER " dump c.rec in/c.rec "
               "--last 2 " LINE " | grep number | cut -d \" \" -f 1 | sort -u |"
               " tr \"\\n\" \" \" | grep -x \"c.rec in/c.rec \"");
    cr_assert_eq(command("dump a.rec --label order=1"), 2);
    cr_assert_eq(command("dump a.rec --label Host=1"), 2);
    cr_assert_eq(command("dump a.rec --label host"), 2);
    cr_assert_eq(command("save a.rec -o x.rec --label offset_ns=soon"), 2);
    /* A recording's facts about itself are shown escaped, and kept by save. */
    build_must(RECORDER " save a.rec -o x.rec --label "
               "\"host=$(printf \"w\\033[31m\")\" --last 3");
    command_must("dump x.rec c.rec --last 500 " LINE " >all");
    build_must("grep -c \"^w.x1b.31m [0-9]\" all | grep -x 3 || cat all");
    command_must("list x.rec c.rec >all");
    build_must("grep -q \"service=shop\" all && ! grep -q \"$(printf \"\\033\")"
               "\" all");
}

/* Goal: processes that run are sources as well. */
Test(several, running_processes)
{
    pid_t a, b;
    a = command_start("./command quiet");
    b = command_start("./command quiet");
    command_must("dump %d %d c.rec --last 5 " LINE " | grep -v DUMPING >all",
                 a, b);
    build_must("test $(grep -c \"^%d  *[0-9]\" all) = 2 -o $(grep -c \"^%d  "
               "*[0-9]\" all) = 3", a, b);
    command_stop(a);
    command_stop(b);
}

/* Goal: to learn how fast this machine's clock ticks, a command waits once, not
 * for each of its sources. Method: its waits are counted, of one program that
 * has just started and of eight. Each wait that is not long enough is followed
 * by a longer one: there are up to three. */
Test(several, clocks_are_waited_for_once)
{
    char pids[128] = "";
    pid_t all[8];
    build_must("cat >waits.c <<END\n"
               "#include <time.h>\n#include <stdio.h>\n"
               "static int waits;\n"
               "int nanosleep(const struct timespec *t, struct timespec *left)"
               "\n{ waits++; return clock_nanosleep(CLOCK_MONOTONIC, 0, t, "
               "left); }\n"
               "__attribute__((destructor)) static void say(void)\n"
               "{ FILE *f = fopen(\"waits\", \"w\"); fprintf(f, "
               "\"%%d\\n\", waits); fclose(f); }\nEND\n"
               "gcc -shared -fPIC -O1 waits.c -o waits.so");
    for (int i = 0; i < 8; i++) {
        all[i] = command_start("./command count 100 2000");
        sprintf(pids + strlen(pids), " %d", (int)all[i]);
    }
    for (int i = 0; i < 8; i++)
        build_must("until " RECORDER " dump %d | grep -q \"number 100\"; do "
                   "sleep 0.05; done", (int)all[i]);
    build_must("LD_PRELOAD=./waits.so " RECORDER " dump%s >all && cat waits && "
               "test $(cat waits) -ge 1 -a $(cat waits) -le 3", pids);
    build_must("test $(grep -c \"number 100\" all) = 8");
    for (int i = 0; i < 8; i++)
        command_stop(all[i]);
}

/* Goal: a million events of 60 recordings take at most half as much again as
 * those recordings one by one, and 100 recordings at most 250 MB. On an idle
 * machine the result takes 3 s. Method: the processor's time of both, the least
 * of some. */
Test(several, a_million_events_of_60_recordings, .init = build_long)
{
    many_build();
    build_must("mkdir m && for i in $(seq 100); do RECORDER_FILE=m/$i.rec "
               "./many 17500; done");
    build_must("python3 -c \"\n"
               "import resource, subprocess, sys, glob, time\n"
               "files = sorted(glob.glob(sys.argv[2]))[:60]\n"
               "def dump(out, *files):\n"
               "  before = resource.getrusage(resource.RUSAGE_CHILDREN)\n"
               "  subprocess.run([sys.argv[1], \\\"dump\\\", *files], "
               "stdout=out, check=True)\n"
               "  after = resource.getrusage(resource.RUSAGE_CHILDREN)\n"
               "  return after.ru_utime - before.ru_utime\n"
               "both = alone = wall = 1e9\n"
               "for i in range(6):\n"
               "  with open(\\\"all\\\", \\\"w\\\") as out:\n"
               "    began = time.monotonic()\n"
               "    both = min(both, dump(out, *files))\n"
               "    wall = min(wall, time.monotonic() - began)\n"
               "  null = subprocess.DEVNULL\n"
               "  alone = min(alone, sum(dump(null, i) for i in files))\n"
               "  if both < 1.5 * alone: break\n"
               "print(both, alone, wall)\n"
               "assert both < 1.5 * alone\n\" " RECORDER " \"m/*.rec\"");
    fprintf(stderr, "CPU of all, one by one; wall: %s", build_text);
    build_must("test $(grep -c bytes all) = 945000");
    build_must("rm all; bash -c \"ulimit -n 1024; exec " RECORDER
               " dump m/*.rec\" >/dev/null");
    build_must("python3 -c \"\n"
               "import resource, subprocess, sys, glob\n"
               "subprocess.run([sys.argv[1], sys.argv[2]] + "
               "glob.glob(sys.argv[3]), stdout=subprocess.DEVNULL, "
               "check=True)\n"
               "used = resource.getrusage(resource.RUSAGE_CHILDREN)\n"
               "print(used.ru_maxrss)\n\" " RECORDER " dump \"m/*.rec\" >took");
    build_must("cat took; test $(cat took) -lt 250000");
}
