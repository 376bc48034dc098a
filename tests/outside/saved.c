/* recorder save writes the same kind of file as a program, but not the
 * program's. */
/* SPDX-License-Identifier: MIT */
#include "harness/command.h"

TestSuite(saved, .init = build_begin, .fini = build_end, .timeout = 300);

/* A program that records into the file "recording", and its saved recording. */
static pid_t start_and_save(void)
{
    pid_t pid;
    command_build("program", "gcc -O2");
    pid = command_start("env RECORDER_FILE=recording ./program everything in");
    command_must("save %d -o saved", pid);
    return pid;
}

/* Goal: a reader of one kind of recording reads the other. Method: the owners
 * and types of all notes, in their order, by eu-readelf, but for the room of a
 * crash; and the layout and the registry in ours. */
Test(saved, has_the_notes_of_a_recording)
{
    command_stop(start_and_save());
    build_must("for file in recording saved; do eu-readelf -n $file |"
               " sed -n \"s/^  \\([A-Z][A-Z]*\\)  *[0-9][0-9]*  *\\([A-Z]*\\)$/\\1 \\2/p\""
               " | grep -v -e SIGINFO -e TASKSTRUCT >$file.notes; done; test -s saved.notes;"
               " diff recording.notes saved.notes");
    build_must("for file in recording saved; do"
               " grep -aboF RECORDER $file | head -n 1 | cut -d: -f1 |"
               " { read at; tail -c +$((at + 13)) $file; } | head -c %zu"
               " >$file.words; done; cmp recording.words saved.words",
               3 * sizeof(void *));
}

/* Goal: no process moves or replaces a saved recording, although its named
 * process is gone. Method: a program is told to record into it. */
Test(saved, is_left_alone_by_programs)
{
    command_stop(start_and_save());
    build_must("cp saved before");
    command_stop(
        command_start("env RECORDER_FILE=saved ./program everything in 2>said"));
    build_must("grep \"is no recording of ours\" said; cmp before saved");
    cr_assert_neq(build_run("test -e saved.old"), 0);
}

/* Goal: the recording of a process that ends during the save is whole, or it
 * does not exist and a message reports it. Method: for the command, the process
 * ends after each seventh of its reads. */
Test(saved, is_whole_or_not_there)
{
    pid_t pid;
    command_build("program", "gcc -O2");
    pid = command_start("./program quiet");
    build_must(
        "cat >ends.c <<END\n#define _GNU_SOURCE\n#include <errno.h>\n"
        "#include <stdlib.h>\n#include <sys/syscall.h>\n"
        "#include <sys/uio.h>\n#include <unistd.h>\n"
        "ssize_t process_vm_readv(pid_t pid, const struct iovec *to, unsigned "
        "long m, const struct iovec *from, unsigned long n, unsigned long f)\n"
        "{ static int reads; if (++reads > atoi(getenv(\"READS\"))) { errno = "
        "ESRCH; return -1; }\n"
        "return syscall(SYS_process_vm_readv, pid, to, m, from, n, f); }\nEND\n"
        "gcc -shared -fPIC -O1 ends.c -o ends.so");
    build_must(
        RECORDER
        " save %d -o whole && " RECORDER " dump whole | tail -n 3 >wanted; n=0; "
        "until READS=$n LD_PRELOAD=./ends.so " RECORDER " save %d -o saved "
        "2>said; do grep -q \": has ended\" said && test ! -e saved || { cat "
        "said; exit 1; }; n=$((n + 7)); done; " RECORDER
        " dump saved | tail -n 3 | cmp - wanted && echo $n | grep -x \"[1-9][0-9].*\"",
        pid, pid);
    command_stop(pid);
}
