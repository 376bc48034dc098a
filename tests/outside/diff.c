/* The report of recorder diff on a good run and a bad one. */
/* SPDX-License-Identifier: MIT */
#include "harness/command.h"
#include "harness/shown.h"

#include <sys/resource.h>

/* Builds tests/programs/diff.c as ./program, and diffs.c as ./small. */
static void begin(void)
{
    build_begin();
    build_once("gcc " BUILD_WARNINGS BUILD_INCLUDE "-o program " BUILD_PROGRAMS
               "/diff.c -lpthread");
    build_once("gcc " BUILD_WARNINGS BUILD_INCLUDE "-o small " BUILD_PROGRAMS
               "/diffs.c -lm -lpthread");
}
TestSuite(diff, .init = begin, .fini = build_end, .timeout = 400);

enum { BUGS = 15 };

/* The texts that the line of each bug of tests/programs/diff.c has. */
static const char *const causes[BUGS + 1][3] = {
    {NULL},
    {"order: ", "after pool: \"not found %u\"", "\"unlock table\" comes"},
    {"value: ", "argument 1 of net: \"reply", " is 206 in "},
    {"time: ", "to disk: \"checksum %#x\"", " longer: "},
    {": ", "disk: \"retry chunk", "more "},
    {"new: ", "checksum of chunk %u is wrong", " once in BAD"},
    {"order: ", "comes disk: ", " journal"},
    {"order: ", "chunk %u of %u", "with the value 7 comes disk: \"checksum"},
    {"time: ", "step from net: ", " is late "},
    {"drift: ", "in use\"", "argument "},
    {"ends: ", "thread beat ", "ends early"},
    {"thread: ", "thread sweep ", "in BAD only"},
    {": ", "session %p", "null pointer"},
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

/* The number of the line of build_text, from 1, that tells a cause: that has all
 * of its texts; 0: none of the first lines does. */
static int told_of(const char *const cause[3], int lines)
{
    const char *at = build_text;
    for (int line = 1; line <= lines && *at && *at != '\n'; line++) {
        size_t size = strcspn(at, "\n");
        char *text = strndup(at, size);
        bool is = true;
        cr_assert_not_null(text);
        for (int i = 0; i < 3; i++)
            is = is && (!cause[i] || strstr(text, cause[i]));
        free(text);
        if (is)
            return line;
        at += size + (at[size] != '\0');
    }
    return 0;
}

static int told(unsigned bug, int lines)
{
    return told_of(causes[bug], lines);
}

/* Goal: the cause of a bug is among the first five lines, in nine of ten
 * pairs of recordings. Method: fifteen bugs, several seeds; each run differs in
 * length, in requests and in which thread serves them. */
Test(diff, causes_come_first, .init = build_long)
{
    uint64_t state = seed_of("causes_come_first");
    unsigned seeds = scaled(8), pairs = 0, found = 0, first = 0;
    double least;
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
    /* Of few pairs, two standard deviations fewer may be found by chance. */
    least = 0.9 * pairs;
    cr_assert(found >= least ||
              (least - found) * (least - found) <= 4 * 0.09 * pairs);
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
    fprintf(stderr, "%u of %u pairs of good runs differ\n", told_of, pairs);
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

/* Goal: git bisect run takes the statuses, 125 for a source that cannot be
 * compared; options select as in other verbs. */
Test(diff, statuses_and_selections)
{
    run(0, 1, "good");
    run(5, 2, "bad");
    cr_assert_eq(command("diff good.rec good.rec"), 0, "%s", build_text);
    cr_assert_not_null(strstr(build_text, "No difference"), "%s", build_text);
    cr_assert_eq(command("diff good.rec nothing"), 125, "%s", build_text);
    cr_assert_str_eq(build_text,
                     "recorder: nothing: No such file or directory\n");
    cr_assert_eq(command("diff good.rec"), 2, "%s", build_text);
    cr_assert_eq(command("diff good.rec bad.rec good.rec"), 2, "%s",
                 build_text);
    cr_assert_eq(command("diff --names nothing good.rec bad.rec"), 125, "%s",
                 build_text);
    cr_assert_eq(command("diff --most x good.rec bad.rec"), 2, "%s",
                 build_text);
    build_must("head -c -1 bad.rec >cut.rec");
    cr_assert_eq(command("diff good.rec cut.rec"), 125, "%s", build_text);
    cr_assert_eq(command("diff good.rec bad.rec >/dev/full"), 125, "%s",
                 build_text);
    cr_assert_eq(command("diff --last 2 good.rec bad.rec"), 125, "%s",
                 build_text);
    cr_assert_not_null(strstr(build_text, "too few"), "%s", build_text);
    cr_assert_eq(command("diff --exact --last 50 good.rec bad.rec"), 125, "%s",
                 build_text);
    cr_assert_eq(command("diff good.rec bad.rec"), 1, "%s", build_text);
    cr_assert(told(5, 5), "%s", build_text);
    cr_assert_eq(command("diff --thread worker good.rec bad.rec"), 1, "%s",
                 build_text);
    cr_assert(told(5, 5), "%s", build_text);
    /* A busy machine may make a difference there, too, but not in disk. */
    cr_assert_leq(command("diff --names \"net|main\" good.rec bad.rec"), 1,
                  "%s", build_text);
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
    build_must("set -e; " RECORDER " diff --json good.rec bad.rec >diff.json || "
                        "test $? = 1; " RECORDER
                        " diff good.rec bad.rec >text || test $? = 1; " RECORDER
                        " dump --json good.rec >good.json && " RECORDER
                        " dump --json bad.rec >bad.json");
    build_must(
        "cat >check.py <<E\n"
        "import json\n"
        "all = [json.loads(l) for l in open(\"diff.json\")]\n"
        "text = open(\"text\").read()\n"
        "dump = {s: {json.loads(l)[\"order\"]: json.loads(l)\n"
        "    for l in open(s + \".json\")} for s in (\"good\", \"bad\")}\n"
        "found = [d for d in all if \"good_records\" in d]\n"
        "assert all[0][\"differences\"] == sum(d[\"significant\"] for d in "
        "found) > 0\n"
        "for d in all:\n"
        "    if \"consequence_of\" in d:\n"
        "        assert d[\"kind\"] + \": \" + d[\"text\"] in text, d\n"
        "times = [d for d in all if \"verdict\" in d]\n"
        "assert times and not [t for t in times if len(t) != 13]\n"
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
            cr_assert(status == 0 || status == 1 || status == 125, "%d: %s",
                      status, build_text);
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

/* ------------------------------------------------------ programs of diffs.c -- */

/* Leaves a recording of a program of diffs.c. Other programs must not delay the
 * steps of "frames". */
static void small(const char *name, const char *program, int bug, unsigned seed,
                  double sigmas)
{
    build_must("rm -f %s.rec* && RECORDER_FILE=%s.rec %s./small %s %d %u %g",
               name, name, strcmp(program, "frames") == 0 ? BUILD_FIRST : "",
               program, bug, seed, sigmas);
}

/* Goal: the causes of 28 bugs in small programs are among the first five lines.
 * Method: each bug has runs with seeds of their own. */
Test(diff, small_programs)
{
    static const struct {
        const char *program;
        int bug;
        const char *cause[3];
    } all[] = {{"tokens", 1, {"exact: value of work: \"token"}},
               {"tokens", 2, {"exact: ", "1 record that BAD lacks"}},
               {"tokens", 3, {"exact: ", "1 record more"}},
               {"tokens", 4, {"flags of main: ", "is 3 in BAD, 1 in GOOD"}},
               {"tokens", 5, {"exact: value of work: \"token"}},
               {"tokens", 6, {"exact: value of work: \"token"}},
               {"sensor", 1, {"drift: temp of work", "grows"}},
               {"sensor", 2, {"nan: temp of work", "40% of 3000"}},
               {"sensor", 3, {"stuck: temp of work"}},
               {"sensor", 4, {"range: temp of work", "varies more"}},
               {"sensor", 5, {"range: temp of work", "larger"}},
               {"sensor", 6, {"varies: mode of work", "always 1"}},
               {"frames", 1, {"time: everything is ", "x slower"}},
               {"frames", 2, {"time: ", "to work: \"scale\"", "longer"}},
               {"frames", 3, {"time: ", "to work: \"mix\"", "late"}},
               {"frames", 4, {"time: ", "takes longer"}},
               {"sessions", 1, {"of the same name, comes work: \"closes"}},
               {"sessions", 2, {"order: ", "with kind \"mail\" comes"}},
               {"sessions", 3, {"value: ", "size %u", "is 3000 in "}},
               {"sessions", 4, {"share: ", "tries again", "more often"}},
               {"bank", 1, {"share: ", "\"miss\"", "more often"}},
               {"bank", 2, {"order: ", "lock"}},
               {"bank", 3, {"order: after work: \"note %p\""}},
               {"bank", 4, {"status of cash", " 3 in "}},
               {"handles", 1, {"order: ", "same name, comes work: \"shut"}},
               {"units", 1, {"exact: ", "op %u of %u", "BAD lacks"}},
               {"flushes", 1, {"range: took of work", "is larger"}},
               {"flushes", 2, {"waits at most %d ms", ": 50 in 400 of 400"}}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        bool frames = strcmp(all[i].program, "frames") == 0;
        bool late = frames && all[i].bug == 3;
        int status = 0, tries = frames ? 10 : 3; /* of another load each */
        while (tries-- && (status != 1 || !told_of(all[i].cause, 5))) {
            small("good", all[i].program, 0, 3 + (unsigned)i, 0);
            small("bad", all[i].program, all[i].bug, 40 + (unsigned)i, 5);
            status = command("diff good.rec bad.rec");
        }
        /* Where other programs make steps late all the time, it may be chance. */
        cr_assert(status == 1 || (late && status == 0), "%s %d: %s",
                  all[i].program, all[i].bug, build_text);
        cr_expect(told_of(all[i].cause, 5), "%s %d: %.600s", all[i].program,
                  all[i].bug, build_text);
    }
}

/* Goal: of runs without a bug none differ. Method: each program, several
 * pairs. The frames of a machine that is busy elsewhere may be late. */
Test(diff, small_programs_are_alike)
{
    static const char *const programs[] = {
        "tokens", "sensor", "sessions", "handles", "units", "flushes",
        "bank",   "frames"};
    unsigned told_of_all = 0, pairs = 0;
    for (unsigned i = 0; i < 8 * (2 + scaled(8)); i++, pairs++) {
        int status = 1;
        for (int k = 0; k < 3 && status == 1; k++) { /* another load */
            small("good", programs[i % 8], 0, 100 + i, 0);
            small("bad", programs[i % 8], 0, 300 + i, 0);
            status = command("diff good.rec bad.rec");
            if (i % 8 < 6)
                break;
        }
        cr_assert(status == 0 || (status == 1 && i % 8 >= 6), "%s: %s",
                  programs[i % 8], build_text);
        told_of_all += (unsigned)status;
        if (status)
            fprintf(stderr, "%.600s\n", build_text);
    }
    fprintf(stderr, "%u of %u pairs differ\n", told_of_all, pairs);
    cr_assert_leq(told_of_all, pairs / 20);
}

/* Goal: a drift is found at each strength from 2 to 10 sigma, and tells the
 * more the stronger it is. */
Test(diff, drift_is_a_curve)
{
    double before = 0;
    small("good", "sensor", 0, 1, 0);
    for (int sigmas = 2; sigmas <= 10; sigmas++) {
        const char *size;
        small("bad", "sensor", 1, 2, sigmas);
        cr_assert_eq(command("diff --json good.rec bad.rec | "
                             "grep \"drift.*temp of work\""),
                     0, "%d: %s", sigmas, build_text);
        size = strstr(build_text, "\"size\":");
        cr_assert_not_null(size);
        cr_assert_gt(strtod(size + 7, NULL), before, "%d sigma: %s", sigmas,
                     build_text);
        before = strtod(size + 7, NULL);
        cr_assert_gt(before, 1);
    }
}

/* Goal: two deterministic runs that differ in a record show it, with both sides
 * next to each other; --exact insists on it where runs are not deterministic. */
Test(diff, the_first_difference)
{
    small("good", "tokens", 0, 1, 0);
    small("bad", "tokens", 2, 2, 0);
    cr_assert_eq(command("diff good.rec bad.rec >text; "
                         "grep -c \" < *\\$\" text | grep -x 1 && "
                         "grep \"token 1000 .* <\" text && "
                         "grep \"token 1001 .*token 1001 \" text"),
                 0, "%s", build_text);
    small("good", "bank", 0, 1, 0);
    small("bad", "bank", 0, 2, 0);
    cr_assert_eq(command("diff good.rec bad.rec"), 0, "%s", build_text);
    cr_assert_eq(command("diff --exact good.rec bad.rec"), 1, "%s", build_text);
    cr_assert_not_null(strstr(build_text, "1. exact: "), "%s", build_text);
}

/* Goal: a record that some good run has is no difference, a record that none
 * has is one. Method: three good runs, and then one of them. */
Test(diff, several_good_runs)
{
    small("one", "bank", 0, 1, 0);
    small("two", "bank", 6, 2, 0);
    small("three", "bank", 0, 3, 0);
    small("bad", "bank", 5, 4, 0);
    cr_assert_eq(command("diff one.rec bad.rec"), 1, "%s", build_text);
    cr_assert_not_null(strstr(build_text, "new: work: \"audit\""), "%s",
                       build_text);
    cr_assert_eq(command("diff one.rec two.rec three.rec -- bad.rec"), 0, "%s",
                 build_text);
    cr_assert_eq(command("diff one.rec three.rec -- bad.rec"), 1, "%s",
                 build_text);
    small("bad", "bank", 4, 5, 0);
    cr_assert_eq(command("diff one.rec two.rec three.rec -- bad.rec"), 1, "%s",
                 build_text);
    small("one", "handles", 0, 1, 0); /* what is made once, is sure of three */
    small("two", "handles", 0, 2, 0);
    small("three", "handles", 0, 3, 0);
    small("bad", "handles", 2, 4, 0);
    cr_assert_eq(command("diff one.rec two.rec -- bad.rec"), 0, "%s",
                 build_text);
    cr_assert_eq(command("diff one.rec two.rec three.rec -- bad.rec"), 1, "%s",
                 build_text);
    cr_assert_not_null(strstr(build_text, "1. once: limit of main"), "%s",
                       build_text);
    for (int bug = 0; bug < 2; bug++) { /* of deterministic runs */
        small("one", "tokens", 0, 1, 0);
        small("two", "tokens", 0, 2, 0);
        small("bad", "tokens", bug, 3, 0);
        cr_assert_eq(command("diff one.rec two.rec -- bad.rec"), bug, "%s",
                     build_text);
    }
}

/* Goal: a record that comes three times as often in the same work is a difference
 * from three good runs, with the counts of a run. */
Test(diff, counts)
{
    build_must("gcc " BUILD_WARNINGS BUILD_INCLUDE "-o counts " BUILD_PROGRAMS
               "/counts.c -lpthread; for i in 1 2 3 4; do "
               "RECORDER_FILE=$i.rec ./counts 26; done; "
               "RECORDER_FILE=bad.rec ./counts 74; "
               "RECORDER_FILE=near.rec ./counts 30");
    cr_assert_eq(command("diff 1.rec 2.rec 3.rec -- bad.rec"), 1, "%s",
                 build_text);
    cr_assert_not_null(strstr(build_text, "new key\" counts.c:18 comes 74 times "
                                          "in BAD, 26 times in each of 3 runs"),
                       "%s", build_text);
    command("diff --times 1.rec 2.rec 3.rec -- bad.rec");
    cr_assert_not_null(strstr(build_text, " 26/74 "), "%s", build_text);
    cr_assert_eq(command("diff 1.rec 2.rec 3.rec -- 4.rec"), 0, "%s",
                 build_text);
    cr_assert_eq(command("diff 1.rec 2.rec 3.rec -- near.rec"), 0, "%s",
                 build_text);
}

/* Goal: where everything is slower, switches tell whether time on CPUs is
 * longer, too; that they are others is no difference. Method: a script of steps
 * that run, block and run again on the other processor. */
Test(diff, cpu_time)
{
    static const struct {
        int runs_ns, blocks_ns;
        const char *what;
    } all[] = {{9000, 9000, "No difference"},
               {270000, 9000, "; CPU time too: 33.6"},
               {9000, 270000, "; only wall time: CPU time 1 x"}};
    build_once("gcc -O1 " BUILD_INCLUDE "-o it " BUILD_PROGRAMS "/switches.c");
    for (int i = 0; i < 3; i++) {
        build_must(
            "rm -f bad.rec; awk \"BEGIN { split(\\\"- > <\\\", how); "
            "for (i = 0; i < 300; i++) { cpu = i %% %d; print t + 1000, "
            "\\\"in - 1 main\\\", cpu, 1, 0; print t + 2000, "
            "\\\"text\\\", how[i %% 3 + 1], i %% 3, \\\"main 0 0 0\\\"; "
            "print t += %d, \\\"out b 1 main\\\", cpu, 1, 0; t += %d } }\" | "
            "./it \"" RECORDER " save \\$PID -o bad.rec\"",
            1 + i, all[i].runs_ns, all[i].blocks_ns);
        if (!i)
            build_must("cp bad.rec good.rec");
        cr_assert_eq(command("diff good.rec bad.rec"), i > 0, "%s", build_text);
        cr_assert_not_null(strstr(build_text, all[i].what), "%s", build_text);
        cr_assert_null(strstr(build_text, "switches"), "%s", build_text);
    }
}

/* Goal: a difference that may be chance sets the status with --any only. */
Test(diff, any)
{
    small("good", "bank", 0, 1, 0);
    build_must("sed \"s/opens with %%d clerks\\\", 4/opens with %%d "
               "clerks\\\", 5/\" " BUILD_PROGRAMS "/diffs.c >other.c && "
               "gcc " BUILD_INCLUDE "-o small other.c -lm -lpthread");
    small("bad", "bank", 0, 2, 0);
    cr_assert_eq(command("diff good.rec bad.rec"), 0, "%s", build_text);
    cr_assert_eq(command("diff --any good.rec bad.rec"), 1, "%s", build_text);
    cr_assert_not_null(strstr(build_text, "is 5 in BAD, 4 in GOOD"), "%s",
                       build_text);
}

/* Goal: another end of the program is a difference, where both ends are known. */
Test(diff, ends)
{
    build_must("cat >p.c <<X\n"
               "#include \"recorder_dump.h\"\n"
               "#include <signal.h>\n#include <stdlib.h>\n#include <unistd.h>\n"
               "RECORDER(net, 64, \"\")\n"
               "int main(int n, char **a)\n"
               "{\n"
               "    recorder_dump_on_common_signals(0, 0);\n"
               "    for (int i = 0; i < 9; i++)\n"
               "        record(net, \"step %%d\", i);\n"
               "    if (n > 2)\n"
               "        kill(getpid(), atoi(a[2]));\n"
               "    return atoi(a[1]);\n"
               "}\nX\n"
               "gcc " BUILD_INCLUDE "-w p.c -o p && RECORDER_FILE=a ./p 0 && "
               "RECORDER_FILE=b ./p 0 && ! RECORDER_FILE=c ./p 7 && "
               "! RECORDER_FILE=d ./p 0 6 2>said && ! RECORDER_FILE=e ./p 0 9");
    command_must("diff a b");
    cr_assert_eq(command("diff a c"), 1);
    cr_assert(
        strstr(build_text, "\nended: exited 7 in BAD, exited 0 in GOOD\n"), "%s",
        build_text);
    cr_assert_eq(command("diff a b -- d"), 1);
    cr_assert(
        strstr(build_text, "\nended: SIGABRT in BAD, exited 0 in GOOD\n"), "%s",
        build_text);
    command_must("diff d d");
    command_must("diff a c -- c");
    command_must("diff a e"); /* an end that is not known is no difference */
    command_must("list d | grep \"^ENDED SIGABRT: it was sent, by kill(); \"");
}

/* Goal: a source file with another name pairs by text and function. */
Test(diff, renamed_file)
{
    small("good", "bank", 0, 1, 0);
    build_must("sed \"1i\\\\\\n\" " BUILD_PROGRAMS "/diffs.c >renamed.c && "
               "gcc -g " BUILD_INCLUDE "-o small renamed.c -lm -lpthread");
    small("bad", "bank", 4, 2, 0);
    cr_assert_eq(command("diff good.rec bad.rec"), 1, "%s", build_text);
    cr_assert_not_null(strstr(build_text, "status of cash"), "%s", build_text);
    cr_assert_null(strstr(build_text, "new: "), "%s", build_text);
    cr_assert_null(strstr(build_text, "gone: "), "%s", build_text);
}
