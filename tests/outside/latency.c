/* recorder latency: how long from one record to another, as counted by hand. */
/* SPDX-License-Identifier: MIT */
#include "harness/command.h"

#include <inttypes.h>

static uint64_t chances;
static unsigned chance(unsigned of)
{
    return (unsigned)(random_of(&chances) % of);
}

/* ./it plays a script into a recording: see programs/switches.c. */
static void latency_begin(void)
{
    build_begin();
    build_once("gcc -O1 " BUILD_INCLUDE "-o it " BUILD_PROGRAMS "/switches.c");
}
TestSuite(latency, .init = latency_begin, .fini = build_end, .timeout = 300);

static FILE *script_open(const char *name)
{
    char path[128];
    FILE *script;
    snprintf(path, sizeof path, "%s/%s", build_folder, name);
    script = fopen(path, "w");
    cr_assert_not_null(script);
    return script;
}
static void play(const char *text)
{
    FILE *script = script_open("script");
    fputs(text, script);
    fclose(script);
    build_must("rm -f rec && ./it \"" RECORDER " save \\$PID -o rec\" <script");
}

/* Goal: pairs, deadlines and statuses as a user sees them. */
Test(latency, as_counted_by_hand)
{
    play("1000 text > 1 main 0 0 0\n" /* frame 1 ... */
         "2000 text > 2 main 0 0 0\n" /* ends after frame 2 */
         "3000 text < 2 main 0 0 0\n" /* 1 us */
         "5500 text < 1 main 0 0 0\n" /* 4.5 us */
         "6000 text < 7 main 0 0 0\n" /* of no frame */
         "7000 text > 3 main 0 0 0\n" /* never */
         "8000 text > 4 main 0 0 0\n" /* never, but for less */
         "9500 text - 9 isp 0 0 0\n");
    cr_assert_eq(command("latency rec --from \"> main .*\" --to \"< main .*\" "
                         "--by 2 --deadline 2us"),
                 1);
    cr_assert_str_eq(
        build_text,
        "late by 2.500 us: 1 > main 1, 4 < main 1, 4.500 us\n"
        "2 pairs, 2 without an end (1 for longer than 2us), 1 without a "
        "beginning; least 1.000 us, mean 2.750 us, most 4.500 us; 1 beyond "
        "2us\n"
        "half within 1.000 us, 90% 4.500 us, 99% 4.500 us, 99.9% 4.500 us\n");
    /* Without --by the oldest ends first. */
    cr_assert_eq(command("latency rec --from \"> main .*\" --to \"< main .*\" "
                         "--json --deadline 5us"),
                 0);
    cr_assert_str_eq(
        build_text,
        "{\"pairs\":2,\"without_end\":2,\"without_beginning\":1,"
        "\"least_ns\":2000,\"mean_ns\":2750.0,\"most_ns\":3500,"
        "\"p50_ns\":2000,\"p90_ns\":3500,\"p99_ns\":3500,\"p999_ns\":3500,"
        "\"deadline_ns\":5000,\"beyond\":0,\"open_beyond\":0}\n");
    /* Begun too long ago is late, too, where all others were in time. */
    cr_assert_eq(command("latency rec --from \"> main [34]\" --to \"isp.*\" "
                         "--by 2 --deadline 2us"),
                 1);
    /* The same twice is a period; the times, by a bar. */
    command_must("latency rec --from \"> .*\" --to \"> .*\" --histogram");
    cr_assert_str_eq(
        build_text,
        "3 pairs, 1 without an end, 1 without a beginning; least 1.000 us, "
        "mean 2.333 us, most 5.000 us\n"
        "half within 1.000 us, 90% 5.000 us, 99% 5.000 us, 99.9% 5.000 us\n"
        "    500 ns to 1.000 us          2 "
        "########################################\n"
        "  2.000 us to 5.000 us          1 ####################\n",
        "%s", build_text);
}

/* Goal: headings: from ready to running, by either form of a switch. */
Test(latency, by_heading)
{
    play("1000 in - 1 sensor 0 0 0\n"
         "1500 ready - 1 sensor 0 0 0\n" /* it runs */
         "2000 switch b 2 encoder 0 0 1\n"
         "3000 ready - 1 sensor 0 0 0\n"
         "3100 ready - 1 sensor 0 0 0\n" /* said already */
         "3300 enter - 9 tick 0 0 0\n"
         "4000 ready - 3 sensor 0 0 0\n"
         "4300 exit - 9 tick 0 0 0\n"
         "4500 switch p 1 sensor 0 0 2\n"
         "6000 out b 1 sensor 0 0 0\n"
         "6500 in - 3 sensor 0 0 0\n");
    command_must("latency rec --from \"ready sensor\" --to \"in sensor\" "
                 "--by id --json");
    cr_assert(strstr(build_text, "\"pairs\":2,\"without_end\":0,"
                                 "\"without_beginning\":1,\"least_ns\":1500,"
                                 "\"mean_ns\":2000.0,\"most_ns\":2500,"),
              "%s", build_text);
    command_must("latency rec --from \"out sensor\" --to \"ready sensor\" "
                 "--by id --json");
    cr_assert(strstr(build_text, "{\"pairs\":1,\"without_end\":1,"
                                 "\"without_beginning\":1,\"least_ns\":1000,"),
              "%s", build_text);
    command_must("latency rec --from \"enter .*\" --to \"exit tick\" --json");
    cr_assert(strstr(build_text, "{\"pairs\":1,\"without_end\":0,"
                                 "\"without_beginning\":0,\"least_ns\":1000,"),
              "%s", build_text);
}

/* Goal: a sentence reports records that cannot be measured. */
Test(latency, refusals)
{
    play("1000 text > 1 main 0 0 0\n2000 text < 1 main 0 0 0\n");
    cr_assert_eq(command("latency rec --from main --to \".*\""), 2);
    cr_assert_str_eq(build_text,
                     "recorder: rec: no record is --from main: it is compared "
                     "with whole messages, and with \"in NAME\", \"out NAME\", "
                     "\"ready NAME\" of switches; .* matches any text\n");
    cr_assert_eq(command("latency rec --from \".*\""), 2);
    cr_assert_eq(command("latency rec --from a --to b --most 3"), 2);
    cr_assert_not_null(strstr(build_text, "--most 3: without --deadline"));
    cr_assert_eq(command("latency rec --from \"(\" --to x"), 2);
    cr_assert_eq(command("latency rec --from \".*\" --to \".*\" --by 13"), 2);
    cr_assert_eq(
        command("latency rec --from \".*\" --to \".*\" --deadline soon"), 2);
    cr_assert_eq(command("latency nothing --from \".*\" --to \".*\""), 2);
    cr_assert_eq(
        command("latency rec --from \".*\" --to \".*\" --by 3 --json"), 2);
    cr_assert_str_eq(
        build_text,
        "recorder: rec: no record that matches has an argument 3\n");
}

/* Goal: every pair is that which a program counts that makes them. Method: tasks
 * that begin and end at random; some never end, as a ring that went round has
 * lost the oldest. */
Test(latency, equal_a_count)
{
    enum { JOBS = 20, RING = 4096 };
    chances = seed_of("equal_a_count");
    for (size_t i = 0; i < 3 + scaled(20); i++) {
        uint64_t begun[JOBS] = {0}, time = 1000, pairs = 0, sum = 0, least = 0,
                 most = 0, late = 0, limit = 1 + chance(3000), open = 0;
        size_t records = 1 + chance(2 * RING), first;
        FILE *script = script_open("script");
        first = records > RING ? records - RING : 0;
        for (size_t n = 0; n < records; n++) {
            unsigned job = chance(JOBS);
            bool begins = n < 2 || chance(2);
            time += chance(200);
            if (begins && begun[job])
                begins = false; /* a job has one begin at a time */
            fprintf(script, "%" PRIu64 " text %c %u worker 0 0 0\n", time,
                    begins ? '>' : '<', job);
            if (n < first) {
                continue;
            } else if (begins) {
                begun[job] = time;
            } else if (begun[job]) {
                uint64_t took = time - begun[job];
                begun[job] = 0;
                least = pairs && least < took ? least : took;
                most = most > took ? most : took;
                late += took > limit;
                sum += took;
                pairs++;
            }
        }
        for (unsigned job = 0; job < JOBS; job++)
            open += begun[job] != 0;
        fclose(script);
        build_must("rm -f rec && ./it \"" RECORDER
                   " save \\$PID -o rec\" <script");
        if (build_run(RECORDER " latency rec --from \"> worker .*\" --to "
                               "\"< worker .*\" --by 2 --json --deadline "
                               "%" PRIu64 "ns --most 0",
                      limit) == 2)
            continue; /* there is no end, or no begin */
        if (pairs) {
            char must[512];
            snprintf(must, sizeof must,
                     "{\"pairs\":%" PRIu64 ",\"without_end\":%" PRIu64 ",",
                     pairs, open);
            cr_assert(strncmp(build_text, must, strlen(must)) == 0,
                      "must be %s\n%s", must, build_text);
            snprintf(must, sizeof must,
                     "\"least_ns\":%" PRIu64 ",\"mean_ns\":%.1f,\"most_ns\":"
                     "%" PRIu64 ",",
                     least, (double)sum / (double)pairs, most);
            cr_assert(strstr(build_text, must), "must be %s\n%s", must,
                      build_text);
            snprintf(must, sizeof must,
                     "\"deadline_ns\":%" PRIu64 ",\"beyond\":%" PRIu64 ",",
                     limit, late);
            cr_assert(strstr(build_text, must), "must be %s\n%s", must,
                      build_text);
        }
    }
}
