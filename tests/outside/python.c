/* `import recorder` reads what the command reads, and so do programs in C. */
/* SPDX-License-Identifier: MIT */
/*
 * The Python of Debian, not another that may come first in the PATH: it is the
 * one that numpy and pandas are installed for.
 */
#include "harness/command.h"

#define PYTHON "/usr/bin/python3 " BUILD_PROGRAMS "/python.py "

TestSuite(python, .init = build_begin, .fini = build_end, .timeout = 400);

/* Goal: all that the module says of a source is what the command says of it.
 * Method: every field of every record by --json, every line, table and option,
 * of a process, what it saved, its core file, its log and a server. */
Test(python, reads_what_the_command_reads)
{
    pid_t pid;
    command_build("program", "gcc -O2 -g");
    pid = command_start("./program everything in.txt");
    build_must(PYTHON "agree %d", pid);
    command_must("save %d -o saved", pid);
    build_must(PYTHON "agree saved");
    command_stop(pid);
    command_core("./program", "in.txt");
    build_must(PYTHON "agree core");
}

Test(python, reads_32_bits, .init = build_long)
{
    build_needs_flags("gcc", "-m32");
    command_build("program", "gcc -m32 -O2 -g");
    command_core("./program", "in.txt");
    build_must(PYTHON "agree core");
}

/* Goal: columns and frames hold the values of the records, exactly. */
Test(python, columns, .init = build_long)
{
    if (build_run("/usr/bin/python3 -c \"import pandas\"") != 0)
        build_skip("no python3-pandas");
    command_build("program", "gcc -O2 -g");
    command_core("./program", "in.txt");
    build_must(PYTHON "columns core");
    build_must("gcc -O2 " BUILD_INCLUDE "-o named " BUILD_PROGRAMS
               "/named.c -lpthread && ./named named.rec && "
               PYTHON "columns named.rec");
    cr_assert(!strstr(build_text, ", 0 of named"), "%s", build_text);
}

/* Goal: a log and a server are read, too, and a program as it records. */
Test(python, follows)
{
    pid_t pid;
    command_build("program", "gcc -O2 -g");
    pid = command_start("./program count 100000 100");
    build_must(PYTHON "follow %d 500", pid);
    cr_assert(strstr(build_text, "followed 500"), "%s", build_text);
    build_must("( " RECORDER " log %d -o log & echo $! >saver; wait )"
               " & until ls log/*; do sleep 0.05; done >/dev/null 2>&1; "
               "sleep 0.3; kill -INT $(cat saver); wait; ls log; " PYTHON
               "agree log",
               pid);
    command_stop(pid);
}

/* Goal: no source harms the process that reads it: what is wrong is an
 * exception with the command's message. */
Test(python, errors, .init = build_long)
{
    pid_t pid;
    command_build("program", "gcc -O2 -g");
    pid = command_start("./program quiet");
    command_must("save %d -o recording", pid);
    command_stop(pid);
    build_must(PYTHON "errors");
    build_must(PYTHON "cut recording");
    build_must(PYTHON "hostile recording %u", scaled(400));
}

/* Goal: the library's C interface is stable and complete. Method: a program of
 * an older and a newer structure; the name that it is linked to; what the
 * library exports is what the header declares. */
Test(python, c_interface)
{
    pid_t pid;
    command_build("program", "gcc -O2 -g");
    pid = command_start("./program everything in.txt");
    command_must("save %d -o saved", pid);
    command_stop(pid);
    build_must("gcc " BUILD_WARNINGS "-std=c99 -pedantic-errors -I" TEST_ROOT
               "/library -o reader " BUILD_PROGRAMS "/reader.c -L" TEST_ROOT
               "/build -lrecorder -Wl,-rpath," TEST_ROOT "/build && "
               "./reader saved >ours && " RECORDER " dump saved --names main "
               "--last 9 | tail -n 9 | diff ours -");
    build_must("readelf -d reader | grep \"librecorder.so.1\\]\"");
    build_must("echo \"#include \\\"recorder_reader.h\\\"\" | "
               "g++ " BUILD_WARNINGS "-std=c++11 -I" TEST_ROOT "/library "
               "-x c++ -fsyntax-only -");
    build_must("nm -D --defined-only " TEST_ROOT "/build/librecorder.so.1 | "
               "sed \"/ A /d; s/.* //; s/@.*//\" >names; grep -c recorder_reader_open names; "
               "! grep -v \"^recorder_reader_\\|^recorder_gdb_\" names");
    build_must("sed -n \"s/.*\\(recorder_reader_[a-z]*\\)(.*/\\1/p\" " TEST_ROOT
               "/library/recorder_reader.h | sort -u | while read name; do "
               "grep -qx $name names || echo $name; done | tee lacks; "
               "test ! -s lacks");
}

/* Goal: docs/python.md finds its bug. Method: its code runs, and prints what
 * stands there, but for the digits. */
Test(python, the_page_finds_its_bug, .init = build_long)
{
    if (build_run("/usr/bin/python3 -c \"import pandas\"") != 0)
        build_skip("no python3-pandas");
    build_must("gcc -std=c11 -D_POSIX_C_SOURCE=200809L -O2 -g " BUILD_INCLUDE
               "-o latency " TEST_ROOT "/examples/latency/latency.c && "
               "RECORDER_FILE=latency.rec ./latency");
    build_must(PYTHON "pages " TEST_ROOT "/docs/python.md");
}
