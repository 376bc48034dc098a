/* recorder sched: a scheduler's own counts, unknown states, hostile files. */
/* SPDX-License-Identifier: MIT */
#include "harness/command.h"

#include <inttypes.h>

TestSuite(switches, .init = build_begin, .fini = build_end, .timeout = 300);

/* ./it plays a script into a recording: see programs/switches.c. */
static void player_build(void)
{
    build_once("gcc -O1 " BUILD_INCLUDE "-o it " BUILD_PROGRAMS "/switches.c");
}
static FILE *script_open(void)
{
    char path[128];
    FILE *script;
    snprintf(path, sizeof path, "%s/script", build_folder);
    script = fopen(path, "w");
    cr_assert_not_null(script);
    return script;
}
static void script_play(FILE *script)
{
    fclose(script);
    build_must("rm -f rec && ./it \"" RECORDER " save \\$PID -o rec\" <script");
}
static void play(const char *text)
{
    FILE *script = script_open();
    fputs(text, script);
    script_play(script);
}

/* ------------------------------------------------------------------ text -- */

/* Goal: the table, as a user sees it. Method: two tasks and an idle one, nested
 * interrupts, a sleep, all counted by hand. */
Test(switches, as_counted_by_hand)
{
    player_build();
    play("1000 in - 1 sensor 0 0 0\n"
         "81000 switch b 2 encoder 0 0 1\n"
         "100000 enter - 15 tick 0 0 4096\n"
         "105000 enter - 16 uart 0 0 4096\n"
         "106000 exit - 16 uart 0 0 0\n"
         "110000 ready - 1 sensor 0 0 0\n"
         "118000 exit - 15 tick 0 0 0\n"
         "130000 switch p 1 sensor 0 0 2\n"
         "200000 switch b 2 encoder 0 0 1\n"
         "400000 switch b 3 idle 0 0 2\n"
         "400100 sleep - 0 - 0 0 0\n"
         "900000 enter - 15 tick 0 0 4096\n"
         "918000 exit - 15 tick 0 0 0\n"
         "1001000 switch p 2 encoder 0 0 3\n"
         "1100000 text - 5 main 0 0 0\n");
    command_must("sched rec");
    cr_assert_str_eq(
        build_text,
        "THREAD         RUNS    RUNNING     CPU  BLOCKED PREEMPTED LONGEST RUN "
        "    WAITED    LONGEST AFTER WAKE    UNKNOWN\n"
        "idle              1   601.0 us  60.10%        0         1    601.0 us "
        "         -          -          -   399.0 us\n"
        "encoder           3   249.0 us  24.90%        1         1    200.0 us "
        "   70.0 us    70.0 us          -    80.0 us\n"
        "sensor            2   150.0 us  15.00%        2         0     80.0 us "
        "   20.0 us    20.0 us    20.0 us          -\n"
        "\n"
        "INTERRUPT     COUNT       TIME     CPU     LONGEST    UNKNOWN\n"
        "tick              2    35.0 us   3.50%     18.0 us          -\n"
        "uart              1     1.0 us   0.10%      1.0 us          -\n"
        "\n"
        "CPU              SPAN THREADS INTERRUPTS    IDLE\n"
        "0             1.00 ms 100.00%      3.60%  49.99%\n",
        "%s", build_text);
    /* Of a part of the time, with known earlier states. */
    command_must("sched rec --since 0.0001s --until 500us --thread encoder");
    build_must(RECORDER " sched rec --since 0.0001s --until 500us --json |"
                        " head -n 1");
    cr_assert_str_eq(build_text,
                     "{\"thread\":\"encoder\",\"id\":2,\"number\":null,"
                     "\"runs\":1,\"running_ns\":230000,\"ready_ns\":70000,"
                     "\"blocked_ns\":100000,\"ended_ns\":0,\"unknown_ns\":0,"
                     "\"blocked\":1,\"preempted\":1,\"longest_run_ns\":200000,"
                     "\"longest_wait_ns\":70000,"
                     "\"longest_wait_after_wake_ns\":null,"
                     "\"state\":\"running\"}\n");
    build_must(RECORDER " sched rec --since 3 --until 8 --json | "
                        "grep -o span_ns.:[0-9]* | head -n 1");
    cr_assert_str_eq(build_text, "span_ns\":30000\n");
    cr_assert_eq(command("sched rec --thread nobody"), 1);
    cr_assert_str_eq(
        build_text, "recorder: rec: no record says when a thread nobody ran\n");
    cr_assert_eq(command("sched rec --names app"), 1);
    cr_assert(strstr(build_text, "no records of switches: "), "%s", build_text);
}

/* The rows of --json, as "NAME runs running ready blocked ended unknown
 * blocked preempted", in the order in which they were first heard of. */
static void must_say(const char *script, const char *rows)
{
    play(script);
    build_must(RECORDER
               " sched rec --json | grep thread.: | sed "
               "\"s/.*\\\"thread\\\":\\\"\\([^\\\"]*\\)\\\",\\\"id\\\":"
               "\\([0-9]*\\).*\\\"runs\\\":\\([0-9]*\\).*running_ns.:"
               "\\([0-9]*\\),.ready_ns.:\\([0-9]*\\),.blocked_ns.:\\([0-9]*\\)"
               ",.ended_ns.:\\([0-9]*\\),.unknown_ns.:\\([0-9]*\\),.blocked.:"
               "\\([0-9]*\\),.preempted.:\\([0-9]*\\).*/"
               "\\2 \\1 \\3 \\4 \\5 \\6 \\7 \\8 \\9/\" | sort -n");
    cr_expect_str_eq(build_text, rows, "of\n%s\nsaid\n%s", script, build_text);
}

/* Goal: each rule of tools/export/switches.h. Method: the least script that needs
 * it. Columns: id name runs running ready blocked ended unknown blocked. */
Test(switches, nothing_is_guessed)
{
    player_build();
    /* The run of a thread that did not leave ends; a second one does not
     * count. */
    must_say("0 in - 1 main 0 0 0\n10 in - 1 main 0 0 0\n"
             "30 in - 2 isp 0 0 0\n100 sleep - 0 - 0 0 0\n",
             "1 main 1 30 0 0 0 70 0\n2 isp 1 70 0 0 0 30 0\n");
    /* But if the end of each run is recorded, it is unknown. */
    must_say("0 in k 1 main 0 0 0\n10 out b 1 main 0 0 0\n"
             "20 in k 1 main 0 0 0\n50 in k 2 isp 0 0 0\n"
             "70 out p 2 isp 0 0 0\n100 sleep - 0 - 0 0 0\n",
             "1 main 2 10 0 10 0 80 1\n2 isp 1 20 30 0 0 50 0\n");
    /* without `out`: the time before is unknown, regardless of other
     * records. */
    must_say("0 ready - 1 main 0 0 0\n40 out b 1 main 0 0 0\n"
             "100 sleep - 0 - 0 0 0\n",
             "1 main 0 0 0 60 0 40 1\n");
    /* The same twice is once. */
    must_say("0 in - 1 main 0 0 0\n40 out b 1 main 0 0 0\n"
             "50 switch b 2 isp 0 0 1\n100 sleep - 0 - 0 0 0\n",
             "1 main 1 40 0 60 0 0 1\n2 isp 1 50 0 0 0 50 0\n");
    /* On two processors at once: when it left the first is not known. */
    must_say("0 in - 1 main 0 0 0\n40 in - 1 main 1 0 0\n"
             "100 sleep - 0 - 0 0 0\n",
             "1 main 2 60 0 0 0 40 0\n");
    /* A thread that runs is ready; a blocked one waits from `ready` on. */
    must_say("0 in - 1 main 0 0 0\n10 ready - 1 main 0 0 0\n"
             "20 out b 1 main 0 0 0\n50 ready - 1 main 0 0 0\n"
             "60 ready - 1 main 0 0 0\n100 sleep - 0 - 0 0 0\n",
             "1 main 1 20 50 30 0 0 1\n");
    /* An id that ended: by another name it is another, else the same. */
    must_say("0 in - 1 main 0 0 0\n10 out e 1 main 0 0 0\n"
             "20 in - 1 isp 0 0 0\n50 out e 1 isp 0 0 0\n"
             "70 in - 1 isp 0 0 0\n100 sleep - 0 - 0 0 0\n",
             "1 isp 2 60 0 0 20 20 0\n1 main 1 10 0 0 90 0 0\n");
    /* A thread that left and has no other record has no name; none left for id
     * 0. */
    must_say("0 switch p 1 main 0 0 7\n10 switch b 2 isp 0 0 0\n"
             "20 sleep - 0 - 0 0 0\n",
             "1 main 1 10 0 0 0 10 0\n2 isp 1 10 0 0 0 10 0\n"
             "7  0 0 20 0 0 0 0\n");
    /* Unknown words of a heading are skipped. */
    must_say("0 strange - 1 main 0 0 0\n10 strange p 2 isp 0 0 0\n"
             "20 sleep - 0 - 0 0 0\n",
             "1 main 1 10 0 0 0 10 0\n2 isp 1 10 0 0 0 10 0\n");
    /* Interrupts: one without an exit took an unknown time, and `exit` without
     * an entry does not count. */
    play("0 enter - 1 tick 0 0 0\n10 enter - 2 uart 0 0 0\n"
         "20 enter - 3 isp 0 0 0\n40 exit - 9 idle 0 0 0\n"
         "50 exit - 2 uart 0 0 0\n60 exit - 1 tick 0 0 0\n"
         "70 enter - 4 idle 0 0 0\n100 sleep - 0 - 0 0 0\n");
    build_must(RECORDER " sched rec --json | grep interrupt.: | cut -c 13-");
    cr_assert_str_eq(build_text, ":\"tick\",\"id\":1,\"count\":1,\"ns\":20,"
                                 "\"longest_ns\":60,\"unknown_ns\":0}\n"
                                 ":\"uart\",\"id\":2,\"count\":1,\"ns\":10,"
                                 "\"longest_ns\":40,\"unknown_ns\":0}\n"
                                 ":\"isp\",\"id\":3,\"count\":1,\"ns\":0,"
                                 "\"longest_ns\":null,\"unknown_ns\":30}\n"
                                 ":\"idle\",\"id\":9,\"count\":0,\"ns\":0,"
                                 "\"longest_ns\":null,\"unknown_ns\":0}\n"
                                 ":\"idle\",\"id\":4,\"count\":1,\"ns\":0,"
                                 "\"longest_ns\":null,\"unknown_ns\":30}\n");
    /* Interrupts off: by the ticks of `on` where no `off` was recorded. */
    play("0 in - 1 main 0 0 0\n10 off - 0 - 0 0 0\n12 off + 0 - 0 0 0\n"
         "14 on + 0 - 0 0 0\n30 on - 0 - 0 0 20\n70 on - 0 - 0 0 25\n"
         "80 on - 0 - 0 0 900\n100 sleep - 0 - 0 0 0\n");
    build_must(RECORDER " sched rec --json | grep -o off_count.*where");
    cr_assert_str_eq(build_text, "off_count\":3,\"off_ns\":55,"
                                 "\"off_longest_ns\":25,\"off_where\n");
    build_must(RECORDER " sched rec | grep -A1 WHERE | cut -d + -f 1");
    cr_assert_str_eq(build_text,
                     "CPU              SPAN THREADS INTERRUPTS    IDLE     OFF "
                     "   LONGEST WHERE\n"
                     "0              100 ns 100.00%          -   0.00%  55.00% "
                     "     25 ns main\n");
}

/* ---------------------------------------------------------------- oracle -- */

static uint64_t chances;
static unsigned chance(unsigned of)
{
    return (unsigned)(random_of(&chances) % of);
}

enum { UNKNOWN, RUNNING, READY, BLOCKED, ENDED, STATES };
enum { THREADS = 8, CPUS = 3 };

/* A scheduler that counts by itself. */
static struct {
    struct {
        int state, cpu;
        bool woken, seen, waited, woke; /* woke: and waited then */
        uint64_t since, ns[STATES], runs, blocked, preempted;
        uint64_t longest_run, longest_wait, longest_wake;
    } threads[THREADS + 1];
    int runs[CPUS];
    uint64_t now, cpu_ns[CPUS];
    FILE *script;
} sim;

static void sim_becomes(int id, int state)
{
    uint64_t ns = sim.now - sim.threads[id].since;
    int was = sim.threads[id].state;
    sim.threads[id].ns[was] += ns;
    if (was == RUNNING) {
        sim.cpu_ns[sim.threads[id].cpu] += ns;
        if (ns > sim.threads[id].longest_run)
            sim.threads[id].longest_run = ns;
    }
    sim.threads[id].waited |= was == READY;
    sim.threads[id].woke |= was == READY && sim.threads[id].woken;
    if (was == READY && ns > sim.threads[id].longest_wait)
        sim.threads[id].longest_wait = ns;
    if (was == READY && sim.threads[id].woken &&
        ns > sim.threads[id].longest_wake)
        sim.threads[id].longest_wake = ns;
    sim.threads[id].state = state;
    sim.threads[id].since = sim.now;
}

static void sim_line(const char *what, char how, int id, int cpu, int more)
{
    static const char *const names[] = {"sensor", "encoder", "idle", "isp"};
    sim.threads[id].seen = true;
    fprintf(sim.script, "%" PRIu64 " %s %c %d %s %d 0 %d\n", sim.now, what, how,
            id, names[id % 4], cpu, more);
}

static int sim_next(void)
{
    int first = 1 + (int)chance(THREADS);
    for (int i = 0; i < THREADS; i++) {
        int id = 1 + (first + i) % THREADS;
        if (sim.threads[id].state != RUNNING && sim.threads[id].state != ENDED)
            return id;
    }
    return 0;
}

static void sim_in(int id, int cpu)
{
    sim_becomes(id, RUNNING);
    sim.threads[id].cpu = cpu;
    sim.threads[id].runs++;
    sim.runs[cpu] = id;
}

/* A thread leaves, or none, and one comes, or none: by one record or two. */
static void sim_step(int cpu)
{
    static const char whys[] = "bbbppe";
    char why = whys[chance(chance(50) ? 5 : 6)];
    int from = sim.runs[cpu], to = sim_next();
    bool one = chance(2) && from && to;
    if (from) {
        sim_becomes(from, why == 'b' ? BLOCKED : why == 'p' ? READY : ENDED);
        sim.threads[from].woken = false;
        sim.threads[from].blocked += why == 'b';
        sim.threads[from].preempted += why == 'p';
        sim.runs[cpu] = 0;
        if (!one)
            sim_line("out", why, from, cpu, 0);
    }
    if (one) {
        sim_line("switch", why, to, cpu, from);
    } else if (to && chance(4)) {
        sim.now += chance(20);
        sim_line("in", '-', to, cpu, 0);
    } else {
        return;
    }
    sim_in(to, cpu);
}

static void sim_run(size_t steps)
{
    memset(sim.threads, 0, sizeof sim.threads);
    memset(sim.runs, 0, sizeof sim.runs);
    memset(sim.cpu_ns, 0, sizeof sim.cpu_ns);
    sim.now = 1000 + chance(1000);
    sim.script = script_open();
    fprintf(sim.script, "%" PRIu64 " sleep - 0 - 0 0 0\n", sim.now);
    for (int id = 1; id <= THREADS; id++)
        sim.threads[id].since = sim.now;
    for (size_t i = 0; i < steps; i++) {
        int id = 1 + (int)chance(THREADS);
        sim.now += chance(chance(4) ? 100 : 3);
        if (chance(3)) {
            sim_step((int)chance(CPUS));
        } else if (sim.threads[id].state != ENDED) {
            sim_line("ready", '-', id, 0, 0);
            if (sim.threads[id].state == BLOCKED ||
                sim.threads[id].state == UNKNOWN) {
                sim_becomes(id, READY);
                sim.threads[id].woken = true;
            }
        }
    }
    fprintf(sim.script, "%" PRIu64 " sleep - 0 - 0 0 0\n", sim.now);
    for (int id = 1; id <= THREADS; id++)
        sim_becomes(id, sim.threads[id].state);
    script_play(sim.script);
}

static void sim_number(FILE *to, const char *key, uint64_t number, bool known)
{
    fprintf(to, known ? ",\"%s\":%" PRIu64 : ",\"%s\":null", key, number);
}

/* What --json must say of the threads. */
static void sim_write(void)
{
    char path[128];
    FILE *to;
    snprintf(path, sizeof path, "%s/must", build_folder);
    to = fopen(path, "w");
    for (int id = 1; id <= THREADS; id++) {
        if (!sim.threads[id].seen)
            continue;
        fprintf(to, "\"id\":%d,\"number\":null", id);
        sim_number(to, "runs", sim.threads[id].runs, true);
        sim_number(to, "running_ns", sim.threads[id].ns[RUNNING], true);
        sim_number(to, "ready_ns", sim.threads[id].ns[READY], true);
        sim_number(to, "blocked_ns", sim.threads[id].ns[BLOCKED], true);
        sim_number(to, "ended_ns", sim.threads[id].ns[ENDED], true);
        sim_number(to, "unknown_ns", sim.threads[id].ns[UNKNOWN], true);
        sim_number(to, "blocked", sim.threads[id].blocked, true);
        sim_number(to, "preempted", sim.threads[id].preempted, true);
        sim_number(to, "longest_run_ns", sim.threads[id].longest_run,
                   sim.threads[id].longest_run);
        sim_number(to, "longest_wait_ns", sim.threads[id].longest_wait,
                   sim.threads[id].waited);
        sim_number(to, "longest_wait_after_wake_ns",
                   sim.threads[id].longest_wake, sim.threads[id].woke);
        fputc('\n', to);
    }
    for (int cpu = 0; cpu < CPUS; cpu++)
        if (sim.cpu_ns[cpu])
            fprintf(to, "%d %" PRIu64 "\n", cpu, sim.cpu_ns[cpu]);
    fclose(to);
}

/* Goal: every figure equals a scheduler's own. Method: one with 8 threads and 3
 * processors, which records a switch as one record or as two, and schedules by
 * chance. */
Test(switches, equal_a_scheduler)
{
    chances = seed_of("equal_a_scheduler");
    player_build();
    for (size_t i = 0; i < 4 + scaled(30); i++) {
        sim_run(1 + chance(1000));
        sim_write();
        build_must(RECORDER
                   " sched rec --json >json && { grep thread.: json | sed "
                   "\"s/.*\\(\\\"id\\\"\\)/\\1/; s/,\\\"state.*//\" | sort; "
                   "sed -n \"s/.*cpu.:\\([0-9]*\\).*threads_ns.:\\([1-9][0-9]*"
                   "\\),.*/\\1 \\2/p\" json; } >is && diff must is");
    }
}

/* Goal: times whose records were overwritten are unknown, and no others.
 * Method: the kept records alone give the same; interrupts off, of another ring
 * that kept all, reach back further, and change no state. */
Test(switches, overwritten_is_unknown)
{
    chances = seed_of("overwritten_is_unknown");
    build_once("gcc -O1 -DSIZE=64 " BUILD_INCLUDE "-o small " BUILD_PROGRAMS
               "/switches.c");
    player_build();
    for (size_t i = 0; i < 3 + scaled(20); i++) {
        sim_run(100 + chance(300));
        build_must("./small \"" RECORDER " save \\$PID -o rec\" <script && "
                   "kept=$(" RECORDER " dump rec | grep -c \"^[0-9]\") && "
                   "test $kept -lt $(wc -l <script) && " RECORDER
                   " sched rec --json >must && tail -n $kept script >tail "
                   "&& ./it \"" RECORDER
                   " save \\$PID -o rec\" <tail && " RECORDER
                   " sched rec --json | diff must -");
        build_must("set -e; { echo 1 off - 0 - 0 0 0; cat script; } >more; "
                   "./small \"" RECORDER
                   " save \\$PID -o rec\" <more; " RECORDER
                   " sched rec --json | grep -o .runs.*unknown_ns "
                   ">is; grep -o .runs.*unknown_ns must | diff - is");
    }
}

/* --------------------------------------------------------------- exports -- */

/* Goal: the exports add up to the table. Method: random schedules; read back
 * VCD and, by protoc, Perfetto's states. */
Test(switches, exports_add_up)
{
    chances = seed_of("exports_add_up");
    player_build();
    for (size_t i = 0; i < 2 + scaled(15); i++) {
        sim_run(1 + chance(500));
        build_must(RECORDER " sched rec --json >json; "
                            "for i in vcd perfetto; do " RECORDER
                            " export $i rec -o $i || exit; done; "
                            "protoc --decode=Trace -I" BUILD_PROGRAMS
                            " perfetto.proto <perfetto >text && "
                            "python3 " BUILD_PROGRAMS
                            "/switches.py json vcd text");
    }
}

/* Goal: switches of several sources are shown for each, below its process or,
 * in Perfetto's tables, as a separate machine. Method: random schedules of two;
 * the sums by source and thread of Perfetto's states equal the tables'. */
Test(switches, of_several_sources_stand_apart)
{
    chances = seed_of("of_several_sources_stand_apart");
    player_build();
    for (size_t i = 0; i < 1 + scaled(8); i++) {
        for (int k = 0; k < 2; k++) {
            sim_run(50 + chance(300));
            build_must(RECORDER " sched rec --json >json%d && rm -f rec%d && "
                                RECORDER " save rec -o rec%d --label host=h%d",
                       k, k, k, k);
        }
        build_must("for i in 0 1; do " RECORDER " export vcd rec$i -o vcd$i "
                   "|| exit; done; " RECORDER " export vcd rec0 rec1 -o vcd && "
                   "python3 " BUILD_PROGRAMS "/vcd_several.py vcd h0 vcd0 h1 "
                   "vcd1");
        build_must(RECORDER " export perfetto rec0 rec1 -o perfetto && protoc "
                   "--decode=Trace -I" BUILD_PROGRAMS
                   " perfetto.proto <perfetto >text && python3 " BUILD_PROGRAMS
                   "/switches_several.py text h0 json0 h1 json1");
    }
}

/* Goal: sigrok reads the wires of --plain; two threads never run at once on the
 * one processor, and the running one is the script's. */
Test(switches, sigrok_reads_wires)
{
    player_build();
    play("0 in - 1 sensor 0 0 0\n"
         "20000 switch b 2 encoder 0 0 1\n"
         "24000 enter - 9 tick 0 0 0\n"
         "28000 exit - 9 tick 0 0 0\n"
         "30000 ready - 1 sensor 0 0 0\n"
         "40000 switch p 1 sensor 0 0 2\n"
         "60000 switch b 2 encoder 0 0 1\n"
         "60000 sleep - 0 - 0 0 0\n"
         "80000 wake - 0 - 0 0 0\n");
    build_must(RECORDER " export vcd --plain rec -o vcd && "
                        "sigrok-cli -i vcd -I vcd:downsample=4000 -O "
                        "ascii:width=60 | grep -v \"^META\\|libsigrok\\|"
                        "Acquisition\"");
    cr_assert_str_eq(build_text,
                     "T1_it:....................\n"
                     "T1_it_span:....../\\............\n"
                     "sensor:\"\"\"\"\"\\..../\"\"\"\"\\....\n"
                     "sensor_ready:......./\"\"\\.........\n"
                     "encoder:...../\"\"\"\"\\..../\"\"\"\"\n"
                     "encoder_ready:........../\"\"\"\"\\....\n"
                     "tick:....../\\............\n"
                     "0_idle:.............../\"\"\"\"\n",
                     "%s", build_text);
}

/* Goal: for a run on Linux it agrees with perf sched. Method: both look at
 * threads that spin, sleep and yield; as root, if perf is installed. Up to five
 * runs: on a busy machine perf loses events. */
Test(switches, as_perf_sched, .init = build_long)
{
    build_needs("perf");
    if (build_run("perf sched record -o perf.data true") != 0)
        build_skip("perf sched does not work here");
    build_once("gcc -O1 " BUILD_INCLUDE "-o threads " BUILD_PROGRAMS
               "/switching.c -lpthread");
    for (int i = 0, status = 1; status; i++) {
        cr_assert_lt(i, 5, "%s", build_text);
        if (build_run("rm -f rec*; RECORDER_FILE=rec perf sched record -o "
                      "perf.data ./threads 2>&1 && test -e rec && " RECORDER
                      " sched rec") != 0)
            build_skip("the kernel shows no switches: %s", build_text);
        status = build_run(RECORDER
                           " sched rec --json | grep -v \"interrupt.:\" "
                           ">json; perf sched timehist -i perf.data --summary "
                           "2>&- >text; python3 " BUILD_PROGRAMS
                           "/switches.py json text");
    }
}

/* --------------------------------------------------------------- hostile -- */

static void must_be_sane(void)
{
    build_must(RECORDER " sched rec >table && " RECORDER
                        " sched rec --json >json && python3 " BUILD_PROGRAMS
                        "/switches.py json");
}

static const char *const whats[] = {"switch", "in",   "out",     "ready",
                                    "sleep",  "wake", "enter",   "exit",
                                    "off",    "on",   "strange", "text"};

/* Goal: whatever is recorded in whatever order, no time is negative, no sum
 * above the span, nothing crashes. Method: random lines; ids and names that
 * point nowhere, any processor, times that go back. */
Test(switches, hostile_sequences, .init = build_long)
{
    static const char *const names[] = {"sensor", "?", "-", "x", "worker"};
    static const uint64_t ids[] = {0, 1, 2, 3, UINT64_MAX, 1u << 31};
    chances = seed_of("hostile_sequences");
    player_build();
    for (size_t i = 0; i < 3 + scaled(40); i++) {
        FILE *script = script_open();
        uint64_t time = 1 + chance(1000);
        size_t lines = chance(2) ? chance(30) : chance(3000);
        bool wild = chance(2), back = chance(2);
        fprintf(script, "%" PRIu64 " in - 1 sensor 0 0 0\n", time);
        while (lines--) {
            time += chance(50);
            if (back && !chance(20))
                time -= chance(time < 500 ? (unsigned)time : 500);
            fprintf(script,
                    "%" PRIu64 " %s %c %" PRIu64 " %s %u %u %" PRIu64 "\n",
                    time, whats[chance(12)], "-bpe+"[chance(5)],
                    wild ? ids[chance(6)] : chance(4), names[chance(5)],
                    wild ? (unsigned)chance(300) : chance(2),
                    wild ? (unsigned)chance(99) : 0,
                    wild ? ids[chance(6)] : chance(60));
        }
        script_play(script);
        must_be_sane();
        build_must("for i in perfetto ctf vcd sqlite csv; do rm -rf "
                   "x; " RECORDER " export $i rec -o x || exit; done; " RECORDER
                   " view rec -o x.html; " RECORDER
                   " latency rec --from \"out .*\" --to \"in .*\" "
                   "--by id >x; test $? -lt 3");
    }
}

/* Goal: 10,000 threads are 10,000 rows, soon. */
Test(switches, ten_thousand_threads)
{
    FILE *script = script_open();
    player_build();
    for (unsigned i = 0; i < 20000; i++)
        fprintf(script, "%u switch p %u - %u 0 %u\n", 10 * i, 1 + i % 10000,
                i & 3, i % 10000);
    script_play(script);
    must_be_sane();
    build_must("set -e; grep -c thread.: json; timeout 5 " RECORDER " sched rec |"
               "grep -c %%");
    cr_assert_str_eq(build_text, "10000\n10004\n");
}

/* Goal: a million switches are a table in 2 s. Method: within one run it takes
 * at most twice the processor time in which recorder dump makes lines of them,
 * which make bench measures to be less than 1 s; the least of each in turns. */
Test(switches, million_is_no_slower_than_its_text)
{
    const unsigned count = scaled(1000000);
    FILE *script;
    build_must("gcc -O1 -DSIZE=1048576 " BUILD_INCLUDE "-o it " BUILD_PROGRAMS
               "/switches.c");
    script = script_open();
    for (unsigned i = 0; i < count; i++)
        fprintf(script, "%u switch %c %u - %u 0 %u\n", 10 * i,
                i % 3 ? 'b' : 'p', 1 + i * 7 % 1000, i & 3,
                1 + (i + 999) * 7 % 1000);
    script_play(script);
    build_must("python3 -c \"import resource, subprocess\n"
               "def took(verb):\n"
               "    was = resource.getrusage(resource.RUSAGE_CHILDREN)\n"
               "    subprocess.run([\\\"" RECORDER "\\\", verb, "
               "\\\"rec\\\"], stdout=subprocess.DEVNULL, check=True)\n"
               "    now = resource.getrusage(resource.RUSAGE_CHILDREN)\n"
               "    return now.ru_utime - was.ru_utime\n"
               "switches = dump = 1e9\n"
               "for i in range(6):\n"
               "    switches = min(switches, took(\\\"sched\\\"))\n"
               "    dump = min(dump, took(\\\"dump\\\"))\n"
               "    if i and switches < 2 * dump + 0.02: break\n"
               "print(switches, dump)\n"
               "assert switches < 2 * dump + 0.02\"");
    build_must(RECORDER " sched rec --json | python3 -c \"import json, sys; "
                        "print(sum(e.get(\\\"runs\\\", 0) for e in "
                        "map(json.loads, sys.stdin)))\"");
    cr_assert_eq((unsigned)atoi(build_text), count, "%s", build_text);
}
