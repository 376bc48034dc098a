/* ended.c - how the program of a recording ended: by its notes, and by the
 * process that they name. */
/* SPDX-License-Identifier: MIT */
#include "bytes.h"
#include "explain.h"
#include "watch.h"

#include "recorder/file_core.h"

enum runs { RUNS_NOT, RUNS, RUNS_PERHAPS };

/* Compares a word of the first note with a hash of this machine's. */
static bool word_is(const struct call *call, enum note_word which,
                    uintptr_t here)
{
    return here &&
           call->source.owner[which] == (here & word_max(call->source.memory));
}

/* True if the program ran in this boot, and had its process id from here. */
static bool is_here(const struct call *call)
{
    uintptr_t here[RECORDER_NOTE_WORDS_];
    recorder_core_owner_(here, 0);
    return word_is(call, NOTE_BOOT, here[RECORDER_OWNER_BOOT_]) &&
           word_is(call, NOTE_NAMESPACE, here[RECORDER_OWNER_NAMESPACE_]);
}

/* Returns whether the program of the recording still runs. A process that called
 * exec() runs another one: no process has the file mapped for writing. */
static enum runs process_runs(const struct call *call)
{
    const uint64_t *owner = call->source.owner;
    const intptr_t pid = (intptr_t)owner[NOTE_PID];
    int fd = open(call->name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    long writer = fd < 0 ? -1 : recorder_os_has_writer_(fd);
    if (fd >= 0)
        close(fd);
    if (writer == 1)
        return RUNS;
    if (writer == 0 && owner[NOTE_TELLS])
        return RUNS_NOT;
    if (!is_here(call))
        return RUNS_PERHAPS;
    return pid > 0 && pid <= INT32_MAX &&
                   word_is(call, NOTE_START, recorder_os_process_start_(pid))
               ? RUNS
               : RUNS_NOT;
}

char *ended_text(struct call *call, const char **kind, int *status)
{
    const uint64_t word = call->reader.ended;
    const uint64_t *owner = call->source.owner;
    char *crash = explain_brief(call, false), oom[512];
    enum runs runs = RUNS_NOT;
    *kind = crash ? "crash" : NULL;
    *status = -1;
    if (crash)
        return crash;
    if (owner[NOTE_WHOLE] && (runs = process_runs(call)) == RUNS) {
        *kind = "running";
        return need_text("not yet: process %" PRIu64 " still runs",
                         owner[NOTE_PID]);
    }
    if (word == RECORDER_ENDED_NOT_ && owner[NOTE_WHOLE] && runs == RUNS_NOT &&
        is_here(call) &&
        death_oom(call_program(call), (int)owner[NOTE_PID], oom)) {
        *kind = "killed";
        return need_text("SIGKILL: %s: %s",
                         strstr(oom, "cgroup")
                             ? "the memory limit of its control group was "
                               "reached"
                             : "the machine had no memory left",
                         oom);
    }
    if (word == RECORDER_ENDED_NOT_) {
        *kind = "unknown";
        return need_text(
            "without a note: SIGKILL, another signal, _exit(), exec() or "
            "power; or %s",
            runs == RUNS_PERHAPS
                ? "it still runs, on another machine or in a container"
                : "this is a copy from before");
    }
    if (word != RECORDER_ENDED_EXIT_ && word - RECORDER_ENDED_STATUS_ >= 256)
        return NULL;
    *kind = "exit";
    if (word == RECORDER_ENDED_EXIT_)
        return need_text("by exit()");
    *status = (int)(word - RECORDER_ENDED_STATUS_);
    return need_text("exited %d", *status);
}
