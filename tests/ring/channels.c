/* tests/channels.c - arguments exported to shared memory, read by a viewer. */
/* SPDX-License-Identifier: MIT */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "harness/build.h"
#include "compat/recorder/recorder.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

RECORDER(load, 16, "Load of the machine");
RECORDER(net_in, 16, "Received");
RECORDER(net_out, 16, "Sent");
RECORDER_TWEAK_DEFINE(asked, 0, "What a viewer may ask for")

static char path[64];
static void begin(void)
{
    sprintf(path, "/tmp/recorder-share-%d", (int)getpid());
    setenv("RECORDER_SHARE", path, 1);
}
static void end(void) { unlink(path); }
TestSuite(channels, .init = begin, .fini = end, .timeout = 240);

static void sleep_ms(long ms)
{
    struct timespec time = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&time, NULL);
}

/* Runs what follows in another process, which must agree. */
#define VIEWER(...)                                                            \
    do {                                                                       \
        int status_;                                                           \
        pid_t child_ = fork();                                                 \
        cr_assert(child_ >= 0);                                                \
        if (child_ == 0) {                                                     \
            alarm(60);                                                         \
            __VA_ARGS__;                                                       \
            _exit(0);                                                          \
        }                                                                      \
        cr_assert(waitpid(child_, &status_, 0) == child_);                     \
        cr_assert_eq(status_, 0, "the viewer failed in line %d",               \
                     WEXITSTATUS(status_) + 30);                               \
    } while (0)
#define SEE(condition)                                                         \
    do {                                                                       \
        if (!(condition))                                                      \
            _exit((__LINE__ - 30) & 255);                                      \
    } while (0)

/* Goal: name=a,b exports the first two arguments; another process finds them by
 * name, knows their types, and reads time and value. Nothing is printed. */
Test(channels, exported_arguments)
{
    int i;
    cr_assert_eq(recorder_trace_set("load=cpu,memory,,state"), 0);
    cr_assert(RECORDER_TRACE(load) > 0);
    for (i = 0; i < 10; i++)
        record(load, "%.1f of %u, %d, %d", i * 0.5, (unsigned)i, 1000, -i);
    VIEWER({
        recorder_chans_p chans = recorder_chans_open(path);
        recorder_chan_p cpu, memory, state;
        recorder_data sample[40];
        ringidx_t reader = 0;
        SEE(chans && recorder_chans_valid(chans));
        cpu = recorder_chan_find(chans, "cpu", NULL);
        memory = recorder_chan_find(chans, "MEM.*", NULL);
        state = recorder_chan_find(chans, "state", NULL);
        SEE(cpu && memory && state);
        SEE(!recorder_chan_find(chans, "load", NULL));
        SEE(!recorder_chan_find(chans, "cpu", cpu));
        SEE(recorder_chan_type(cpu) == RECORDER_REAL);
        SEE(recorder_chan_type(memory) == RECORDER_UNSIGNED);
        SEE(recorder_chan_type(state) == RECORDER_SIGNED);
        SEE(strcmp(recorder_chan_name(cpu), "cpu") == 0);
        SEE(strcmp(recorder_chan_description(cpu), "Load of the machine") == 0);
        SEE(strcmp(recorder_chan_unit(cpu), "") == 0);
        SEE(recorder_chan_size(cpu) == 2048);
        SEE(recorder_chan_min(cpu).unsigned_value == 0);
        SEE(recorder_chan_max(cpu).unsigned_value == 0);
        SEE(recorder_chan_readable(cpu, &reader) == 10);
        SEE(recorder_chan_read(cpu, sample, 4, &reader) == 4 && reader == 4);
        SEE(sample[7].real_value == 1.5);
        SEE(recorder_chan_read(cpu, sample, 20, &reader) == 6 && reader == 10);
        SEE(sample[11].real_value == 4.5);
        SEE(sample[10].unsigned_value >= sample[0].unsigned_value);
        SEE(recorder_chan_read(cpu, sample, 20, &reader) == 0);
        reader = 0;
        SEE(recorder_chan_read(state, sample, 20, &reader) == 10);
        SEE(sample[19].signed_value == -9);
        recorder_chans_close(chans);
    });
}

/* Goal: several recorders get channels under their names; a plain item ends the
 * export, and the viewer finds the channels no more. */
Test(channels, several_and_no_longer)
{
    cr_assert_eq(recorder_trace_set("net_.*=bytes recorder_order=0:"
                                    "recorder_reltime=0"),
                 0);
    record(net_in, "%d", 5);
    record(net_out, "%d", 6);
    VIEWER({
        recorder_chans_p chans = recorder_chans_open(path);
        recorder_chan_p in = recorder_chan_find(chans, "net_in/bytes", NULL);
        recorder_chan_p out = recorder_chan_find(chans, "net_out/bytes", NULL);
        recorder_data sample[2];
        SEE(in && out);
        SEE(recorder_chan_read(out, sample, 1, NULL) == 1);
        SEE(sample[1].signed_value == 6);
    });
    recorder_trace_set("-net_in");
    cr_assert_eq(RECORDER_TRACE(net_in), 0);
    VIEWER({
        recorder_chans_p chans = recorder_chans_open(path);
        SEE(!recorder_chan_find(chans, "net_in/.*", NULL));
        SEE(recorder_chan_find(chans, "net_out/.*", NULL));
    });
}

static intptr_t asked_now(void)
{
    return __atomic_load_n(&RECORDER_TWEAK(asked), __ATOMIC_ACQUIRE);
}

/* Goal: a viewer leaves a specification, and the program does it soon. */
Test(channels, configured_by_the_viewer)
{
    int i;
    recorder_trace_set("recorder_configuration_sleep=10:load=cpu");
    VIEWER({
        recorder_chans_p chans = recorder_chans_open(path);
        char text[600];
        SEE(recorder_chans_configure(chans, "asked=3"));
        memset(text, 'x', sizeof text);
        text[599] = '\0';
        SEE(!recorder_chans_configure(chans, text));
    });
    for (i = 0; i < 6000 && asked_now() != 3; i++) /* a minute */
        sleep_ms(10);
    cr_assert_eq(asked_now(), 3);
}

/* Goal: share= says where; a file that is none of ours is left alone; one of an
 * earlier run is replaced. */
Test(channels, share)
{
    const char *text = "a thesis";
    char item[100], kept[20] = "";
    FILE *file = fopen(path, "w");
    recorder_chans_p first, second;
    struct stat status;
    cr_assert_not_null(file);
    fputs(text, file);
    fclose(file);
    sprintf(item, "share=%s", path);
    cr_assert_eq(recorder_trace_set(item), 0);
    cr_assert_null(recorder_1x_chans);
    cr_assert_eq(recorder_trace_set("load=cpu"), RECORDER_TRACE_INVALID_VALUE);
    file = fopen(path, "r");
    cr_assert_not_null(fgets(kept, sizeof kept, file));
    fclose(file);
    cr_assert_str_eq(kept, text);
    cr_assert_null(recorder_chans_open(path));
    unlink(path);
    cr_assert_null(recorder_chans_open(path));
    first = recorder_chans_new(path);
    second = recorder_chans_new(path);
    cr_assert(first && second);
    cr_assert_eq(stat(path, &status), 0);
    cr_assert_eq(status.st_mode & 0777, 0600);
    cr_assert(status.st_blocks * 512 < 1 << 20, "it is sparse");
    recorder_chans_delete(second);
    cr_assert_not(recorder_chans_valid(second));
    cr_assert_neq(stat(path, &status), 0);
    cr_assert_eq(recorder_trace_set(item), 0);
    cr_assert_str_eq(recorder_export_file(), path);
    cr_assert_eq(recorder_trace_set("load=cpu"), RECORDER_TRACE_OK);
}

/* Goal: channels of the program's own; what does not fit is refused. */
Test(channels, own)
{
    recorder_chans_p chans = recorder_chans_new(path);
    recorder_data min, max, sample[6];
    recorder_chan_p chan;
    ringidx_t reader = 0;
    uintptr_t i;
    min.signed_value = -1;
    max.signed_value = 1;
    chan = recorder_chan_new(chans, RECORDER_SIGNED, 3, "own", "Mine", "kg",
                             min, max);
    cr_assert_not_null(chan);
    cr_assert_str_eq(recorder_chan_unit(chan), "kg");
    cr_assert_eq(recorder_chan_min(chan).signed_value, -1);
    cr_assert_eq(recorder_chan_max(chan).signed_value, 1);
    for (i = 0; i < 5; i++)
        recorder_chan_write(chan, i, 10 * i);
    cr_assert_eq(recorder_chan_readable(chan, &reader), 3);
    cr_assert_eq(recorder_chan_read(chan, sample, 3, &reader), 3);
    cr_assert_eq(reader, 5);
    cr_assert_eq(sample[0].unsigned_value, 2);
    cr_assert_eq(sample[5].unsigned_value, 40);
    cr_assert_null(
        recorder_chan_new(chans, RECORDER_REAL, 0, "", "", "", min, max));
    cr_assert_null(recorder_chan_new(chans, RECORDER_REAL, 1u << 30, "", "", "",
                                     min, max));
    cr_assert_null(recorder_chan_new(chans, RECORDER_REAL, 64u << 20, "", "",
                                     "", min, max));
    recorder_chan_delete(chan);
    cr_assert_null(recorder_chan_find(chans, NULL, NULL));
    recorder_chans_delete(chans);
}

/* Goal: a reader accepts no mix. Method: four threads write pairs that belong
 * together into a ring of three samples, a reader checks them. */
enum { WRITES = 200000 };
static void *writer(void *chan)
{
    uintptr_t i, n = RECORDER_TICKETS ? scaled(WRITES) : 0;
    for (i = 0; i < n; i++)
        recorder_chan_write((recorder_chan_p)chan, i, ~i);
    return NULL;
}
Test(channels, whole)
{
    recorder_chans_p chans = recorder_chans_new(path);
    recorder_data none = {0}, sample[6];
    recorder_chan_p chan =
        recorder_chan_new(chans, RECORDER_UNSIGNED, 3, "n", "", "", none, none);
    pthread_t threads[4];
    ringidx_t reader = 0;
    size_t seen = 0, i, got;
    for (i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, writer, chan);
    do {
        got = recorder_chan_read(chan, sample, 3, &reader);
        for (i = 0; i < got; i++)
            cr_assert_eq(sample[2 * i].unsigned_value,
                         ~sample[2 * i + 1].unsigned_value);
        seen += got;
    } while (reader < 4 * scaled(WRITES) - 3);
    for (i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    cr_assert_gt(seen, 0);
    recorder_chans_delete(chans);
}

/* Goal: a file that is cut off or scribbled over is refused, or shows nothing
 * that is not in it. */
Test(channels, hostile)
{
    recorder_chans_p chans = recorder_chans_new(path), other;
    recorder_data none = {0};
    recorder_chan_p chan = recorder_chan_new(chans, RECORDER_REAL, 8, "victim",
                                             "", "", none, none);
    uintptr_t bad[] = {1,
                       63,
                       64,
                       UINTPTR_MAX,
                       RECORDER_CHANS_BYTES,
                       RECORDER_CHANS_BYTES - 64,
                       UINTPTR_MAX - 63};
    size_t i;
    chan->next = chan->offset; /* goes round */
    cr_assert_null(recorder_chan_find(chans, "nobody", NULL));
    for (i = 0; i < sizeof bad / sizeof *bad; i++) {
        chans->first = bad[i];
        cr_assert_null(recorder_chan_find(chans, NULL, NULL));
        chans->first = chan->offset;
        chan->size = bad[i] > 64 ? bad[i] : 0;
        cr_assert_null(recorder_chan_find(chans, NULL, NULL));
        chan->size = 8;
    }
    cr_assert_eq(recorder_chan_find(chans, NULL, NULL), chan);
    chans->version++;
    cr_assert_null(recorder_chans_open(path));
    chans->version--;
    other = recorder_chans_open(path);
    cr_assert_not_null(other);
    recorder_chans_close(other);
    cr_assert_eq(truncate(path, 4096), 0);
    cr_assert_null(recorder_chans_open(path));
    cr_assert_eq(truncate(path, 10), 0);
    cr_assert_null(recorder_chans_open(path));
    unlink(path);
}
