#!/bin/bash
# saved.sh - recorder save writes the same kind of file as a program, but not the program's.
# SPDX-License-Identifier: MIT
. "${0%/*}/../harness/cases.sh"

# A program that records into the file "recording", and its saved recording.
start_and_save()
{
    command_build program gcc -O2
    start env RECORDER_FILE=recording ./program everything in
    recorder save $pid -o saved
    stop
}

## has_the_notes_of_a_recording
# Goal: a reader of one kind of recording reads the other. Method: the owners
# and types of all notes, in their order, by eu-readelf, but for the room of a
# crash; and the layout and the registry in ours.
start_and_save
for file in recording saved; do eu-readelf -n $file |
    sed -n "s/^  \([A-Z][A-Z]*\)  *[0-9][0-9]*  *\([A-Z]*\)$/\1 \2/p" |
    grep -v -e SIGINFO -e TASKSTRUCT >$file.notes; done
test -s saved.notes
diff recording.notes saved.notes
for file in recording saved; do grep -aboF RECORDER $file | head -n 1 |
    cut -d: -f1 | { read at; tail -c +$((at + 13)) $file; } |
    head -c $((3 * $(getconf LONG_BIT) / 8)) >$file.words; done
cmp recording.words saved.words

## is_left_alone_by_programs
# Goal: no process moves or replaces a saved recording, although its named
# process is gone. Method: a program is told to record into it.
start_and_save
cp saved before
start env RECORDER_FILE=saved ./program everything in 2>said
stop
grep 'is no recording of ours' said
cmp before saved
not test -e saved.old

## is_whole_or_not_there
# Goal: the recording of a process that ends during the save is whole, or it
# does not exist and a message reports it. Method: for the command, the
# process ends after each seventh of its reads.
command_build program gcc -O2
start ./program quiet
cat >ends.c <<END
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>
ssize_t process_vm_readv(pid_t pid, const struct iovec *to, unsigned long m,
    const struct iovec *from, unsigned long n, unsigned long f)
{ static int reads; if (++reads > atoi(getenv("READS"))) { errno = ESRCH; return -1; }
return syscall(SYS_process_vm_readv, pid, to, m, from, n, f); }
END
gcc -shared -fPIC -O1 ends.c -o ends.so
recorder save $pid -o whole
recorder dump whole | tail -n 3 >wanted
n=0
until READS=$n LD_PRELOAD=./ends.so recorder save $pid -o saved 2>said; do
    grep -q ': has ended' said
    test ! -e saved
    n=$((n + 7))
done
recorder dump saved | tail -n 3 | cmp - wanted
echo $n | grep -x '[1-9][0-9].*'
stop

## refuses_what_readers_would
# Goal: a recording of damaged memory that readers would refuse is not made; a
# message says why. Method: the rings of a recorder begin below a tweak, and go
# on where no memory is, so they are not saved, and the tweak would not be.
cat >damaged.c <<TEXT
#include "recorder_dump.h"
#include "recorder_set.h"
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
RECORDER(net, 1024);
RECORDER_TWEAK_DEFINE(retries, 3, "How often to try again");
int main(void)
{
    char *page = mmap(0, 1 << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct recorder_tweak *tweak = (void *)(page + 4064);
    mprotect(page, 4096, PROT_READ | PROT_WRITE);
    record(net, "started");
    *tweak = *recorder_registry.tweaks;
    recorder_registry.tweaks = tweak;
    recorder_for_net.rings = (void *)(page + 4032);
    printf("PID %d\n", getpid());
    fflush(stdout);
    pause();
}
TEXT
gcc -w -I "$ROOT" damaged.c -o damaged
start ./damaged
must recorder dump $pid
has 'its rings are not in there'
must -1 recorder save $pid -o saved
has 'a recording of it would be: its list of tweaks is damaged'
not test -e saved
