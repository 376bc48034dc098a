/* file_exit.h - notes in a recording how its program exited. */
/* SPDX-License-Identifier: MIT */
/*
PROMISES
    * The status of a note is the program's: of exit(), or of a return from
      main(). -> tests/outside/ended.c
    * A note takes no system call where the clock takes none: the program may
      have forbidden them. -> tests/outside/ended.c
    * All readers print the same times after it. -> tests/outside/ended.c

LIMITS
    * _exit(), quick_exit() and a signal that no handler of ours catches leave
      no note. `recorder run` notes _exit() and quick_exit(), too.
    * The status needs glibc's on_exit(), and the program's own file.
    * An exit is not noted where only a library includes recorder_dump.h: it may
      be closed before.
    * A child of clone() or vfork(), not of fork(), that calls exit() notes it in
      its parent's file, until the parent exits.
*/
#ifndef RECORDER_FILE_EXIT_H_
#define RECORDER_FILE_EXIT_H_

#include "file_core.h"

RECORDER_C_BEGIN_

/* True: this module has its process's exit noted. */
RECORDER_MODULE_ bool recorder_exit_noted_ = false;

/* Returns the word of the process's recording, or null. Any module may have
 * made the file. */
RECORDER_SELDOM_ uintptr_t *recorder_exit_word_(void)
{
    struct recorder_registry *image = recorder_home_.registry->image;
    return image ? &image->ended : NULL;
}

/* Notes an exit, and the moment, which fixes the times of all records. */
RECORDER_SELDOM_ void recorder_exit_note_(int status, void *unused)
{
    uintptr_t *word = recorder_exit_word_();
    (void)unused;
    if (word) {
        recorder_put_(word, RECORDER_ENDED_STATUS_ + ((unsigned)status & 255));
        recorder_clock_note_();
    }
}

/* Has the exit noted, once for each process with a recording, by a module that
 * stays until then: it is the program, or was preloaded. */
RECORDER_SELDOM_ void recorder_exit_begin_(bool preloaded)
{
    uintptr_t *word = recorder_exit_word_();
    if (!word || *word || (!preloaded && !recorder_is_in_program_()))
        return;
    recorder_exit_noted_ = true;
    recorder_put_(word, RECORDER_ENDED_NOT_);
    recorder_os_at_exit_(recorder_exit_note_);
}

/* Functions of exit() run before destructors: without on_exit(), the status is
 * unknown. */
RECORDER_UNSEEN_ __attribute__((destructor(103))) static void
recorder_exit_leave_(void)
{
    uintptr_t *word = recorder_exit_noted_ ? recorder_exit_word_() : NULL;
    if (word && *word == RECORDER_ENDED_NOT_)
        recorder_put_(word, RECORDER_ENDED_EXIT_);
}

RECORDER_C_END_
#endif
