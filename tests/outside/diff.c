/* recorder diff on a good run and a bad one. */
/* SPDX-License-Identifier: MIT */
#include "harness/command.h"
#include "harness/shown.h"

#include <math.h>
#include <sys/resource.h>

#include "../../tools/compare/statistics.c"

/* Builds tests/programs/diff.c as ./program. */
static void begin(void)
{
    build_begin();
    build_once("gcc " BUILD_WARNINGS BUILD_INCLUDE "-o program " BUILD_PROGRAMS
               "/diff.c -lpthread");
}
TestSuite(diff, .init = begin, .fini = build_end, .timeout = 400);

enum { BUGS = 15 };

/* The sign of the cause, for the bugs of tests/programs/diff.c: a line with all
 * of these. */
static const char *const causes[BUGS + 1][3] = {
    {NULL},
    {"order: ", "after pool: \"not found %u\"", "\"unlock table\" comes"},
    {"value: ", "argument 1 of net: \"reply", " is 206 in "},
    {"time: ", "to disk: \"checksum %#x\"", " longer: "},
    {": ", "disk: \"retry chunk", "more "},
    {"new: ", "checksum of chunk %u is wrong", " once in BAD"},
    {"order: ", "flush journal", "commit journal"},
    {": ", "chunk %u of %u", " is 8 in 0% "},
    {"time: ", "step from net: ", " takes up to "},
    {"grows: ", "in use\"", "argument "},
    {"ends: ", "thread beat ", "ends early"},
    {"thread: ", "thread sweep ", "in BAD only"},
    {"value: ", "session %p", "null pointer"},
    {"order: ", "after disk: \"close %u\" ", "comes disk: \"close %u\""},
    {"order: ", "after disk: \"checksum %#x\"", "\"close %u\" comes"},
    {"range: ", "argument 2 of net: \"reply", "far from"}};

/* Leaves a recording of a run. A crash is a bug of it, too. */
static void run(unsigned bug, unsigned seed, const char *name)
{
    int status =
        build_run("RECORDER_FILE=%s.rec ./program %u %u", name, bug, seed);
    cr_assert(status == 0 || status == 128 + SIGKILL, "bug %u: %d: %s", bug,
              status, build_text);
}

/* The number of the line of build_text, from 1, that names the cause; 0: none
 * of the first `lines`. */
static int told(unsigned bug, int lines)
{
    const char *at = build_text;
    for (int line = 1; line <= lines && *at && *at != '\n'; line++) {
        size_t size = strcspn(at, "\n");
        char *text = strndup(at, size);
        bool is = true;
        cr_assert_not_null(text);
        for (int i = 0; i < 3; i++)
            is = is && strstr(text, causes[bug][i]);
        free(text);
        if (is)
            return line;
        at += size + (at[size] != '\0');
    }
    return 0;
}

/* Goal: the cause of a bug is among the first five lines, in nine of ten pairs
 * of recordings. Method: fifteen bugs, several seeds; runs differ in length, in
 * requests and in the threads that serve them. */
Test(diff, causes_come_first, .init = build_long)
{
    uint64_t state = seed_of("causes_come_first");
    unsigned seeds = scaled(8), pairs = 0, found = 0, first = 0;
    for (unsigned bug = 1; bug <= BUGS; bug++) {
        unsigned of_bug = 0;
        for (unsigned i = 0; i < seeds; i++, pairs++) {
            int line, status;
            run(0, (unsigned)random_of(&state) % 1000000, "good");
            run(bug, (unsigned)random_of(&state) % 1000000, "bad");
            status = command("diff good.rec bad.rec");
            cr_assert(status == 0 || status == 1, "%d: %s", status, build_text);
            line = told(bug, 5);
            of_bug += line > 0;
            first += line == 2; /* the first has the sources */
            if (!line)
                fprintf(stderr, "bug %u is not told:\n%.1200s\n", bug,
                        build_text);
        }
        found += of_bug;
    }
    fprintf(stderr,
            "the cause is among the first five lines in %u of %u pairs, "
            "the first difference in %u\n",
            found, pairs, first);
    cr_assert(found * 10 >= pairs * 9);
}

/* Leaves a recording of a good run; once more, if it took twice as long as the
 * shortest: another load delayed it. */
static void run_undisturbed(uint64_t *state, const char *name)
{
    static double least = 1e9;
    double took = 1e9;
    for (int i = 0; i == 0 || (i < 10 && took > 2 * least); i++) {
        double start = seconds_now();
        build_run("rm -f %s.rec*", name);
        run(0, (unsigned)random_of(state) % 1000000, name);
        took = seconds_now() - start;
        least = took < least ? took : least;
    }
}

/* Goal: of two good runs no difference is reported, in 95 of 100 pairs. Method:
 * each of some recordings with each other. One of them may differ: another load
 * once delayed a run by 0.8 s, which was reported. */
Test(diff, good_runs_are_alike)
{
    uint64_t state = seed_of("good_runs_are_alike");
    unsigned runs = 3 + scaled(9), pairs = 0, told_of = 0, most = 0;
    unsigned *of_run = calloc(runs, sizeof *of_run);
    char name[2][16];
    cr_assert(of_run);
    for (unsigned k = 0; k < 2; k++) /* the first may have been disturbed */
        for (unsigned i = 0; i < runs; i++) {
            snprintf(name[0], sizeof *name, "good%u", i);
            run_undisturbed(&state, name[0]);
        }
    for (unsigned i = 0; i < runs * runs; i++) {
        int status;
        if (i / runs == i % runs)
            continue;
        snprintf(name[0], sizeof *name, "good%u", i / runs);
        snprintf(name[1], sizeof *name, "good%u", i % runs);
        status = command("diff %s.rec %s.rec", name[0], name[1]);
        cr_assert(status == 0 || status == 1, "%d: %s", status, build_text);
        pairs++;
        told_of += status == 1;
        of_run[i / runs] += status == 1;
        of_run[i % runs] += status == 1;
        if (status)
            fprintf(stderr, "of two good runs:\n%.1000s\n", build_text);
    }
    fprintf(stderr, "%u of %u pairs of good runs are told apart\n", told_of,
            pairs);
    for (unsigned i = 0; i < runs; i++)
        most = of_run[i] > most ? of_run[i] : most;
    free(of_run);
    cr_assert((told_of - (runs > 3 ? most : 0)) * 20 <= pairs);
}

/* Goal: overwritten records are neither new nor gone. Method: a run of eight
 * times the requests, with full rings, against one with its start. */
Test(diff, overwritten_is_not_gone)
{
    static const char *const kinds[] = {". new: ", ". gone: ", ". order: "};
    build_must(
        "RECORDER_FILE=long.rec ./program 0 1 8 && "
        "RECORDER_FILE=short.rec ./program 0 2 && " RECORDER
        " list long.rec | grep \"^net .* [1-9][0-9]* .* 0 *on\" && " RECORDER
        " list short.rec | grep \"^net .* 0 .* 0 *on\"");
    for (int i = 0; i < 2; i++) {
        int status = i ? command("diff long.rec short.rec")
                       : command("diff short.rec long.rec");
        cr_assert(status == 0 || status == 1, "%d: %s", status, build_text);
        cr_assert_not_null(strstr(build_text, i ? "GOOD has not its beginning"
                                                : "BAD has not its beginning"),
                           "%s", build_text);
        /* An order that is reported as chance is one: threads race. */
        for (int k = 0; k < 2 + status; k++)
            cr_assert_null(strstr(build_text, kinds[k]), "%s", build_text);
    }
    /* New records are reported anyway. */
    build_must("RECORDER_FILE=bad.rec ./program 5 3 8");
    cr_assert_eq(command("diff long.rec bad.rec"), 1);
    cr_assert(told(5, 5), "%s", build_text);
    cr_assert_eq(command("diff short.rec bad.rec"), 1);
    cr_assert(told(5, 5), "%s", build_text);
}

/* Goal: two builds are reported, and records are the same although their lines
 * moved. Method: a bug, and three lines in front. */
Test(diff, two_builds)
{
    run(0, 1, "good");
    build_must("sed \"1i\\\\\\n\\n\" " BUILD_PROGRAMS "/diff.c >diff.c && "
               "gcc " BUILD_INCLUDE "-o program diff.c -lpthread");
    run(5, 2, "bad");
    cr_assert_eq(command("diff good.rec bad.rec"), 1, "%s", build_text);
    cr_assert_eq(told(5, 5), 2, "%s", build_text);
    cr_assert_not_null(strstr(build_text, "These are two builds, "), "%s",
                       build_text);
    cr_assert_null(strstr(build_text, ". gone: "), "%s", build_text);
    cr_assert_null(strstr(build_text, "\n2. new: "), "%s", build_text);
}

/* Goal: a running process is a source as others are, and so is a recording that
 * was saved. */
Test(diff, processes)
{
    pid_t good = command_start("./program 0 1 1 stay");
    pid_t bad = command_start("./program 2 2 1 stay");
    cr_assert_eq(command("diff %d %d", (int)good, (int)bad), 1, "%s",
                 build_text);
    cr_assert(told(2, 5), "%s", build_text);
    command_must("save %d -o good.rec", (int)good);
    cr_assert_eq(command("diff good.rec %d", (int)bad), 1, "%s", build_text);
    cr_assert(told(2, 5), "%s", build_text);
    cr_assert_eq(command("diff good.rec %d", (int)good), 0, "%s", build_text);
    command_stop(good);
    command_stop(bad);
}

/* Goal: statuses equal diff(1)'s; options select as in other verbs. */
Test(diff, statuses_and_selections)
{
    run(0, 1, "good");
    run(5, 2, "bad");
    cr_assert_eq(command("diff good.rec good.rec"), 0, "%s", build_text);
    cr_assert_not_null(strstr(build_text, "No difference"), "%s", build_text);
    cr_assert_eq(command("diff good.rec nothing"), 2, "%s", build_text);
    cr_assert_str_eq(build_text,
                     "recorder: nothing: No such file or directory\n");
    cr_assert_eq(command("diff good.rec"), 2, "%s", build_text);
    cr_assert_eq(command("diff good.rec bad.rec good.rec"), 2, "%s",
                 build_text);
    cr_assert_eq(command("diff --names nothing good.rec bad.rec"), 2, "%s",
                 build_text);
    cr_assert_eq(command("diff --most x good.rec bad.rec"), 2, "%s",
                 build_text);
    cr_assert_eq(command("diff good.rec bad.rec >/dev/full"), 2, "%s",
                 build_text);
    cr_assert_eq(command("diff good.rec bad.rec"), 1, "%s", build_text);
    cr_assert(told(5, 5), "%s", build_text);
    cr_assert_eq(command("diff --thread worker good.rec bad.rec"), 1, "%s",
                 build_text);
    cr_assert(told(5, 5), "%s", build_text);
    /* A busy machine may make a difference there, too, but not in disk. */
    cr_assert_leq(command("diff --names \"net|main\" good.rec bad.rec"), 1, "%s",
                  build_text);
    cr_assert_null(strstr(build_text, "disk: "), "%s", build_text);
    cr_assert_eq(command("diff --context 0 --most 1 good.rec bad.rec | "
                         "grep -c \"^  > \" | grep -x 2"),
                 0, "%s", build_text);
}

/* Goal: --json agrees with the text, and each of its records is in the dump,
 * except for its times, which differ with each reading. */
Test(diff, json_agrees)
{
    run(0, 1, "good");
    run(2, 2, "bad");
    build_must(RECORDER " diff --json good.rec bad.rec >diff.json; "
                        "test $? = 1 && " RECORDER
                        " diff good.rec bad.rec >text; " RECORDER
                        " dump --json good.rec >good.json && " RECORDER
                        " dump --json bad.rec >bad.json");
    build_must(
        "cat >check.py <<E\n"
        "import json\n"
        "all = [json.loads(l) for l in open(\"diff.json\")]\n"
        "text = open(\"text\").read()\n"
        "dump = {s: {json.loads(l)[\"order\"]: json.loads(l)\n"
        "    for l in open(s + \".json\")} for s in (\"good\", \"bad\")}\n"
        "found = [d for d in all if \"difference\" in d]\n"
        "assert all[0][\"differences\"] == sum(d[\"significant\"] for d in "
        "found) > 0\n"
        "for d in found:\n"
        "    assert \"%%d. %%s: %%s\" %% (d[\"difference\"], d[\"kind\"],\n"
        "        d[\"text\"]) in text, d[\"text\"]\n"
        "    for s in (\"good\", \"bad\"):\n"
        "        for r in d[s + \"_records\"]:\n"
        "            d0 = dict(dump[s][r[\"order\"]])\n"
        "            for key in (\"ns\", \"wall_ns\"):\n"
        "                d0[key] = r[key]\n"
        "            assert d0 == r\n"
        "        assert d[s + \"_order\"] in dump[s]\n"
        "v = found[0]\n"
        "assert v[\"kind\"] == \"value\" and v[\"argument\"] == 0\n"
        "assert v[\"at\"][\"location\"].startswith(\"diff.c:\")\n"
        "E\n"
        "python3 check.py");
}

/* Goal: damaged recordings neither crash nor hang it, nor pass harmful bytes to
 * a terminal. Method: words all over both are overwritten by chance. */
Test(diff, hostile, .init = build_long)
{
    uint64_t state = seed_of("hostile");
    unsigned rounds_count = scaled(60), whole = 0;
    run(0, 1, "good");
    run(2, 2, "bad");
    for (unsigned i = 0; i < rounds_count; i++) {
        const char *wrong;
        int status;
        build_must(
            "cp bad.rec hurt.rec && python3 -c \"\n"
            "import random\n"
            "r = random.Random(%u)\n"
            "b = bytearray(open(\\\"hurt.rec\\\", \\\"rb\\\").read())\n"
            "used = [i for i in range(4096, len(b), 8) if any(b[i:i+8])]\n"
            "for k in range(r.choice([1, 10, 100, 3000])):\n"
            "    at = r.choice(used) + r.randrange(8)\n"
            "    b[at] = r.choice([0, 27, 155, 255, r.randrange(256)])\n"
            "open(\\\"hurt.rec\\\", \\\"wb\\\").write(b)\n\"",
            (unsigned)random_of(&state) % 1000000);
        for (int k = 0; k < 2; k++) {
            status = build_run(
                "ulimit -v 2000000; timeout 20 " RECORDER " diff %s %s",
                k ? "hurt.rec" : "good.rec", k ? "good.rec" : "hurt.rec");
            cr_assert(status >= 0 && status <= 2, "%d: %s", status, build_text);
            whole += status < 2;
            wrong = shown_wrong(build_text, strlen(build_text));
            cr_assert_null(wrong, "%s", wrong);
        }
    }
    fprintf(stderr, "%u of %u damaged recordings were compared\n", whole,
            2 * rounds_count);
    cr_assert(whole > 0);
}

/* Goal: a million records a side take a few seconds of a processor. Method: 80
 * times the requests, in rings that keep a million. */
Test(diff, million_records, .init = build_long)
{
    struct rusage before, after;
    long seconds;
    build_must("gcc -O1 -g -DSLOTS=1048576 " BUILD_INCLUDE
               "-o program " BUILD_PROGRAMS "/diff.c -lpthread");
    build_must("RECORDER_FILE=good.rec ./program 0 1 100");
    build_must("RECORDER_FILE=bad.rec ./program 2 1 100");
    getrusage(RUSAGE_CHILDREN, &before);
    cr_assert_eq(command("diff good.rec bad.rec"), 1, "%s", build_text);
    getrusage(RUSAGE_CHILDREN, &after);
    seconds = after.ru_utime.tv_sec - before.ru_utime.tv_sec;
    fprintf(stderr, "%.100s: %ld s\n", build_text, seconds);
    cr_assert_lt(seconds, 20);
    cr_assert(told(2, 5), "%s", build_text);
}

/* ------------------------------------------------------------ statistics -- */

static bool is_near(double is, double must)
{
    return fabs(is - must) <= 1e-3 * must;
}

/* Goal: the tests agree with their definitions. Method: small cases, summed or
 * multiplied out by hand or by Python's math module. */
Test(diff, statistics_are_right)
{
    double a[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    double b[] = {6.5, 7.5, 8.5, 9.5, 10.5, 11.5, 12.5, 13.5, 14.5, 15.5};
    double p[] = {0.01, 0.04, 0.03}, *all[] = {&p[0], &p[1], &p[2]};
    struct statistics_comparison c;
    cr_expect(is_near(statistics_poisson(5, 1), 0.003659847));
    cr_expect(is_near(statistics_poisson(20, 8), 0.00025293940));
    cr_expect(is_near(statistics_none(5, 100, 100),
                      0.5 * 99 / 199 * 98 / 198 * 97 / 197 * 96 / 196));
    cr_expect(is_near(statistics_precedence(2, 10, 10), 0.5 * 9 / 19));
    cr_expect(is_near(statistics_rates(10, 30, 1, 1), 0.0012165999));
    cr_expect(statistics_shares(10, 100, 20, 200, 1) > 0.999);
    cr_assert(statistics_compare((struct statistics_sample){a, 10},
                                 (struct statistics_sample){b, 10}, &c));
    cr_expect(is_near(c.superiority, 0.9), "%g", c.superiority);
    cr_expect(is_near(c.of[0].trend, 1), "%g", c.of[0].trend);
    cr_expect_gt(c.of[0].weight, 2, "values that grow are not independent");
    statistics_holm(all, 3);
    cr_expect(is_near(p[0], 0.03) && is_near(p[1], 0.06) && is_near(p[2], 0.06),
              "%g %g %g", p[0], p[1], p[2]);
}
