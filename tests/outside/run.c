/* recorder run records a program's threads, and leaves the program as it is. */
/* SPDX-License-Identifier: MIT */
#include "harness/command.h"
#include "run/events.h"

#include <dlfcn.h>
#include <sched.h>
#include <sys/prctl.h>

TestSuite(run, .init = build_begin, .fini = build_end, .timeout = 300);

#define RUN RECORDER " run -q "

static void build_c(const char *name, const char *options)
{
    build_must("gcc -O2 -g %s -o %s " BUILD_PROGRAMS "/%s.c -lpthread -lrt",
               options, name, name);
}
/* Runs a command with and without the library: same outputs, same status. */
static void must_be_alike(const char *environment, const char *line, int status)
{
    int without =
        build_run("%s %s >without 2>without.errors", environment, line);
    cr_assert_eq(without, status, "%s: %d", line, without);
    cr_assert_eq(
        build_run("%s " RUN "%s >with 2>with.errors", environment, line),
        status, "%s", line);
    build_must("cmp without with && cmp without.errors with.errors");
}
/* Runs a command that must say exactly this. */
static void must_say(const char *command, const char *text)
{
    build_must("%s", command);
    cr_assert_str_eq(build_text, text, "%s", command);
}

/* The last command's output. */
static void must_have(const char *what)
{
    cr_assert(strstr(build_text, what), "no \"%s\" in\n%s", what, build_text);
}
static void must_not_have(const char *what)
{
    cr_assert_null(strstr(build_text, what), "%s", build_text);
}

/* ------------------------------------------------------------- unchanged -- */

/* Goal: each interposed function answers as without: errors, errno, refused
 * deadlocks, cancellation, in a child of fork(), too. */
Test(run, calls_answer_alike, .init = build_long)
{
    build_c("run_calls", "");
    must_be_alike("", "./run_calls", 42);
    build_must("./run_calls >without; test $? = 42");
    for (int i = 0; i < 2; i++) {
        build_run(RECORDER " run -q %s ./run_calls >with",
                  i ? "--all --count" : "--always");
        build_must("cmp without with && test $(wc -l <with) -gt 500");
    }
}

/* Goal: on a machine of 32 bits, functions that take times of 64 answer as
 * without, and their waits are recorded. Method: the library and the program
 * for i386. */
Test(run, times_of_64_bits, .init = build_long)
{
    static const char *const kinds[] = {"mutex", "cond", "rwlock", "sem",
                                        "thread"};
    build_needs_flags("gcc", "-m32 -D_FILE_OFFSET_BITS=64 -D_TIME_BITS=64");
    build_must("gcc -m32 -D_FILE_OFFSET_BITS=64 -D_TIME_BITS=64 -O2 -o "
               "calls " BUILD_PROGRAMS
               "/run_calls.c -lpthread -lrt && nm -D calls | "
               "grep -q __sem_timedwait64");
    build_must("cd " TEST_ROOT " && gcc -m32 -std=gnu11 -D_GNU_SOURCE -O1 -I. "
               "-fPIC -fexceptions -fasynchronous-unwind-tables "
               "-fvisibility=hidden -shared -shared-libgcc -Wl,-z,defs,-z,now "
               "run/*.c -o $OLDPWD/run32.so");
    build_must("./calls >without; test $? = 42");
    build_must("LD_PRELOAD=$PWD/run32.so RECORDER_RUN=:$PWD/calls.rec ./calls "
               ">with; test $? = 42 && cmp without with");
    command_must("dump --internal -n lock_wait calls.rec >lines");
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        build_must("grep -q \"lock_wait: >%s 0x[^,]* until\" lines", kinds[i]);
}

/* Goal: programs of C++, with exceptions, thread-local objects, waits with time
 * limits, with all allocators, and under sanitizers. */
Test(run, languages_allocators_sanitizers, .init = build_long)
{
    static const char *const allocators[] = {"libjemalloc.so.2",
                                             "libtcmalloc_minimal.so.4"};
    build_must("g++ -O2 -o cxx " BUILD_PROGRAMS "/run_cxx.cc -lpthread");
    must_be_alike("", "./cxx", 3);
    for (size_t i = 0; i < 2; i++) {
        if (build_run("ldconfig -p | grep -q %s", allocators[i]) != 0) {
            fprintf(stderr, "left out: no %s here\n", allocators[i]);
            continue;
        }
        build_run("LD_PRELOAD=%s " RUN "./cxx >with", allocators[i]);
        build_must("cmp without with");
        build_run("LD_PRELOAD=\"%s " TEST_ROOT
                  "/build/lib/librecorder-run.so\" RECORDER_RUN=:%%e.rec ./cxx "
                  ">with",
                  allocators[i]);
        build_must("cmp without with");
    }
    build_must("g++ -O1 -fsanitize=address -o asan " BUILD_PROGRAMS
               "/run_cxx.cc");
    must_be_alike("", "./asan", 3);
    must_be_alike("ASAN_OPTIONS=verbosity=0", "sh -c ./asan", 3);
    build_must("g++ -O1 -fsanitize=thread -o tsan " BUILD_PROGRAMS
               "/run_cxx.cc");
    if (build_run("setarch -R ./tsan x") == 3)
        must_be_alike("setarch -R", "./tsan x", 3);
    else
        fprintf(stderr, "left out: ThreadSanitizer does not run here\n");
}

/* Goal: programs that close foreign descriptors, fork and spawn from threads,
 * close libraries with locked locks, and end in odd ways, print and end as
 * without; their recordings are readable, and contain no deadlock. */
Test(run, odd_programs)
{
    static const struct {
        const char *line;
        int status;
    } odd[] = {{"./run_odd closes", 9}, {"./run_odd forks", 3},
               {"./run_odd spawns", 3}, {"./run_odd opens ./odd.so", 3},
               {"./run_odd exits", 0},  {"./run_odd aborts", 128 + 6},
               {"./run_odd unmaps", 3}, {"./run_odd sandboxes late", 3}};
    build_c("run_odd", "");
    build_c("run_odd", "-shared -fPIC -Dmain=unused");
    build_must("mv run_odd odd.so");
    build_c("run_odd", "");
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        must_be_alike("", odd[i].line, odd[i].status);
        build_must("for i in *.rec; do " RECORDER " threads $i && " RECORDER
                   " threads --check $i || exit; done; rm *.rec");
    }
    must_have("Threads made after the program's seccomp filter are not ");
    must_be_alike("", "./run_odd sandboxes first", 3);
    build_must("test ! -e *.rec");
}

/* Goal: valgrind's reports on a program are the same as without, by each tool;
 * with the first its threads are seen. */
Test(run, valgrind, .init = build_long)
{
    static const char *const tools[] = {"memcheck", "helgrind", "drd"};
    build_needs("valgrind");
    build_c("run_modes", "");
    for (size_t i = 0; i < 3; i++) {
        char line[128];
        snprintf(line, sizeof line,
                 "valgrind -q --error-exitcode=9 --tool=%s "
                 "./run_modes threads 3 65536",
                 tools[i]);
        must_be_alike("", line, 0);
        must_say("ls *.rec | wc -l", "1\n");
    }
    command_must("threads *.rec | grep \"made by T1.* main run_modes.c:\"");
}

/* Goal: compressors write the same bytes, and their recordings are readable. */
Test(run, compressors, .init = build_long)
{
    static const char *const lines[][2] = {{"pigz", "pigz -c -p 4"},
                                           {"pbzip2", "pbzip2 -c -p4"},
                                           {"lbzip2", "lbzip2 -c -n 4"},
                                           {"xz", "xz -0 -T 4 -c"},
                                           {"zstd", "zstd -T4 -c"}};
    build_must("head -c %u /dev/urandom >a; head -c 1000000 /dev/zero >>a",
               scaled(2e7));
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        char line[64];
        if (!build_has(lines[i][0]))
            continue;
        snprintf(line, sizeof line, "%s a", lines[i][1]);
        must_be_alike("", line, 0);
        command_must("list %s.*.rec | grep \"thread_life  *4096 \"",
                     lines[i][0]);
        build_must("rm -f *.rec");
    }
}

/* Goal: servers serve, and end by the signal that they are sent. */
Test(run, servers)
{
    build_needs("redis-server", "memcached");
    build_must(RUN
               "redis-server --port 0 --unixsocket ./sock --save \"\" >log & "
               "while ! redis-cli -s ./sock ping >pong 2>&1; do sleep 0.05; "
               "done; redis-cli -s ./sock incr a; redis-cli -s ./sock "
               "shutdown; wait $! && grep PONG pong");
    command_must("dump -n thread_life redis*.rec | grep -q \"makes a thread: "
                 "[a-z]\"");
    build_must(RUN
               "memcached -u root -s ./cached -t 4 & until test -S cached; "
               "do sleep 0.05; done; printf "
               "\"set a 0 0 1\\r\\nx\\r\\nget a\\r\\nquit\\r\\n\" | python3 "
               "-c \"import socket, sys; s = "
               "socket.socket(socket.AF_UNIX); s.connect(\\\"cached\\\"); "
               "s.sendall(sys.stdin.buffer.read()); "
               "print(s.makefile().read())\" >got; kill -TERM $!; wait $!; "
               "grep -q VALUE got");
}

/* Goal: Python's threads, processes and executors. */
Test(run, python)
{
    build_must(
        "cat >t.py <<X\n"
        "import concurrent.futures, multiprocessing, os, sys, threading\n"
        "def f(x): return x * x\n"
        "if __name__ == \"__main__\":\n"
        "    with multiprocessing.Pool(3) as p:\n"
        "        print(sum(p.map(f, range(1000))))\n"
        "    with concurrent.futures.ThreadPoolExecutor(5) as e:\n"
        "        print(sum(e.map(f, range(1000))))\n"
        "    pid = os.fork()\n"
        "    if pid == 0:\n"
        "        t = threading.Thread(target=print, args=(pid,))\n"
        "        t.start(); t.join(); sys.stdout.flush(); os._exit(3)\n"
        "    print(os.waitpid(pid, 0)[1]); sys.exit(5)\nX");
    must_be_alike("", "/usr/bin/python3 t.py", 5);
}

/* ----------------------------------------------------------------- truth -- */

/* The counts of ended threads, in counts.rec, equal those in ./own. */
static void must_sum_up(void)
{
    command_must(
        "dump --internal --line \"{message}\" -n thread_life counts.rec | sed -n "
        "\"s/^ended: //p\" | awk \"{ l += \\$2 } "
        "END { print \\\"locks\\\", l }\" >seen; diff own seen && "
        "rm counts.rec");
}

/* Goal: counts equal a program's own counts. */
Test(run, counts_are_exact)
{
    build_c("run_counts", "");
    build_must(RUN "-o counts.rec ./run_counts %u >own", scaled(16000));
    must_sum_up();
}

/* Goal: with --count each lock has its number, with --all each time that it was
 * taken is recorded. Method: main's two threads take one 100 times each. */
Test(run, each_lock_is_counted)
{
    build_c("run_odd", "");
    cr_assert_eq(build_run(RUN "--count -o count.rec ./run_odd forks; " RUN
                               "--all -o all.rec ./run_odd forks"),
                 3);
    command_must(
        "threads --locks --json count.rec | grep \"\\\"symbol\\\":\\\"mutex\\\""
        ".*\\\"taken\\\":200,\"");
    command_must("dump --line \"{message}\" -n lock_wait all.rec | grep -c "
                 "\"^>holding\"");
    cr_assert_str_eq(build_text, "200\n");
}

/* Goal: a stack known by comparison equals an unwinder's result, even if
 * functions have frames of many sizes with stale return addresses. Most are
 * known: it rarely unwinds. */
Test(run, stacks_are_those_of_an_unwinder)
{
    static const char *const kinds[] = {"", " alloca"};
    build_must("gcc -O2 -rdynamic -w -o stacks " BUILD_PROGRAMS
               "/run_stacks.c -lpthread -ldl");
    for (int i = 0; i < 2; i++) {
        build_must(RUN "-o stacks.rec ./stacks 500%s >own 2>times && "
                       "test $(tail -n 1 times) -lt 700",
                   kinds[i]);
        build_must("(%s dump --line \"{message}\" -n call_stack stacks.rec && "
                   "%s dump --internal --line \"{message}\" -n lock_wait "
                   "stacks.rec) | "
                   "awk -v own=own -f " BUILD_PROGRAMS "/run_stacks.awk",
                   RECORDER, RECORDER);
    }
}

/* Goal: a lock on the stack of main's thread is shown with that place, live and
 * after SIGKILL. */
Test(run, locks_on_the_stack_of_main)
{
    pid_t pid;
    build_c("run_modes", "");
    pid = command_start(RUN "-o stack.rec ./run_modes stack");
    build_must("until " RECORDER " threads %d | grep \"waits for mutex "
               "0x[0-9a-f]* on the stack of T1 of T1 \"; do sleep 0.05; done",
               pid);
    command_stop(pid);
    command_must("threads --locks stack.rec | grep \"^mutex *0x[0-9a-f]* on "
                 "the stack of "
                 "T1 *[0-9]\"");
}

/* Goal: a program that executes itself again leaves two recordings under one
 * name: the first is kept beside the second. */
Test(run, the_same_program_again)
{
    build_c("run_modes", "");
    build_must(RUN "-o again.%%p.rec ./run_modes again && ls again.*.rec "
                   "again.*.rec.old | wc -l && " RECORDER
                   " threads again.*.rec.old | grep \" made by T1 \"");
}

/* Goal: several processes with one path write nothing of it into descriptor 2,
 * which may be a file that another program reads; and RECORDER_FILE is not the
 * library's. Method: Python starts a thread and a process that starts one. */
Test(run, says_nothing_in_programs)
{
    build_must("cat >two.py <<\\END\n"
               "import subprocess, sys, threading\n"
               "def thread(): threading.Thread(target=print).start()\n"
               "thread()\n"
               "if len(sys.argv) == 1: print(subprocess.run([sys.executable, "
               "\"two.py\", \"once\"], capture_output=True))\nEND\n");
    build_must("set -e; RECORDER_FILE=own " RUN "-o two.rec python3 two.py >said 2>&1; "
               "cat said; grep -q \"stderr=b''\" said && test -f two.rec.1 && "
               "! grep recorder: said && ! test -e own");
}

/* Goal: they are on other machines, too. */
Test(run, counts_are_exact_elsewhere)
{
    static const char *const machines[][2] = {
        {"arm-linux-gnueabihf", "qemu-arm"},
        {"aarch64-linux-gnu", "qemu-aarch64"}};
    for (size_t i = 0; i < 2; i++) {
        const char *machine = machines[i][0], *emulator = machines[i][1];
        char compiler[64];
        snprintf(compiler, sizeof compiler, "%s-gcc", machine);
        if (!build_has(compiler) || !build_has(emulator))
            continue;
        build_must("make -s -C " TEST_ROOT " build/lib/%s/librecorder-run.so",
                   machine);
        build_must("%s -O2 -o counts " BUILD_PROGRAMS "/run_counts.c -lpthread",
                   compiler);
        build_must("%s -L /usr/%s -E LD_PRELOAD=" TEST_ROOT
                   "/build/lib/%s/librecorder-run.so -E "
                   "RECORDER_RUN=:$PWD/counts.rec ./counts 400 >own",
                   emulator, machine, machine);
        must_sum_up();
    }
}

/* Goal: the maker of a thread and its start function are known; each wait has
 * its end, its object, and the program's place. */
Test(run, records)
{
    build_c("run_modes", "");
    build_must(RUN "-o fork.rec ./run_modes fork");
    command_must("dump --internal --line \"{recorder} {thread} {message}\" "
                 "--function fork.rec >lines");
    build_must("grep \"thread_life 1 create 0x[^ ]*: 0, stack "
               "[1-9]\" lines");
    build_must("grep \"lock_wait 2 >mutex 0x[0-9a-f]* of [1-9][0-9]*, stack "
               "[1-9][0-9]*, holding 0 (waits_long+\" lines");
    build_must("grep \"lock_wait 2 <mutex 0x[0-9a-f]*: 0, by T1[^(]*"
               "(waits_long+\" lines");
    build_must("grep \"thread_now 2 mutex .*, until [1-9]\" lines");
    build_must("grep \"lock_total 2 mutex 0x[0-9a-f]*: taken 0, waited 1 "
               "times, [1-9]\" lines");
    build_must("grep \"thread_life 1 joined 0x[0-9a-f]*: 0\" lines");
}

/* Goal: people see the program's records and, in words, its waits, with the
 * names of locks and threads; a selection by these words finds them. */
Test(run, in_words)
{
    build_must("cat >words.c <<X\n#include <pthread.h>\n#include <unistd.h>\n"
               "#include \"recorder_dump.h\"\n"
               "RECORDER(net, 64, \"\")\nRECORDER(call_stack, 64, \"own\")\n"
               "pthread_mutex_t table = PTHREAD_MUTEX_INITIALIZER;\n"
               "volatile int holds;\nvoid *flusher(void *p) {\n"
               "pthread_setname_np(pthread_self(), \"flusher\");\n"
               "pthread_mutex_lock(&table); holds = 1; usleep(300000);\n"
               "pthread_mutex_unlock(&table); return p; }\n"
               "int main(void) { pthread_t t;\n"
               "pthread_create(&t, 0, flusher, 0); while (!holds);\n"
               "pthread_mutex_lock(&table); record(net, \"done\");\n"
               "record(call_stack, \"own\");\n"
               "return pthread_join(t, 0); }\nX\n"
               "gcc -D_GNU_SOURCE " BUILD_INCLUDE
               "-o words words.c -lpthread && " RUN "-o words.rec ./words");
    command_must("dump --line \"{thread} {recorder} {message}\" words.rec | "
                 "sed \"/: lock /d; s/ [0-9.]* ms / 1 ms /; s/ [0-9.]* us / 1 "
                 "us /; s/0x[0-9a-f]*/0x/\" | grep -v \"^[A-Z]\" >said");
    build_must(
        "grep -q \"^1 thread_life makes a thread: flusher$\" said && "
        "cat >expected <<X\n2 thread_life starts flusher, made by T1 words\n"
        "2 thread_life takes the name flusher\n"
        "1 lock_wait waits for mutex table, held by T2 flusher\n"
        "1 lock_wait waited 1 ms for mutex table, ended by T2 flusher\n"
        "1 net done\n1 call_stack own\n"
        "1 thread_life joins T2 flusher\nX\n"
        "grep -v \"makes a thread\\|thread T2 flusher\\|life "
        "ends\\|slow_call\" said | diff - expected");
    build_must("sed -i \"s/300000/1000000/; s/, 0); while (!holds)/, 0)/; "
               "s/pthread_mutex_lock(&table); record/record/\" words.c && "
               "gcc -D_GNU_SOURCE " BUILD_INCLUDE
               "-o joins words.c -lpthread && " RUN "-o joins.rec ./joins");
    must_say(RECORDER " dump --line \"{message}\" joins.rec | "
                      "grep \"waits for thread\"",
             "waits for thread T2 flusher\n");
    must_say(RECORDER " dump --line \"{message}\" --grep \"held by\" words.rec "
                      "| tail -n 1",
             "waits for mutex table, held by T2 flusher\n");
    must_say(RECORDER " list words.rec | grep -c \"internal: \"; " RECORDER
                      " list --internal words.rec | grep -c \"internal: \"; "
                      RECORDER " list -n lock_total words.rec | grep -c lock_",
             "0\n7\n1\n");
    must_say(RECORDER " export csv words.rec -o - | grep -c "
                      "\"waits for mutex table, held by T2 flusher\"",
             "1\n");
}

/* Goal: the length of a wait is known, whatever else is waited for. */
Test(run, in_words_among_many)
{
    build_c("run_modes", "");
    build_must(RUN "-o many.rec ./run_modes many");
    command_must("dump --line \"{message}\" many.rec >lines");
    build_must("test $(grep -c \"^waited [0-9].*result 110\" lines) -ge 3000 && "
               "! grep \"some time\" lines");
}

/* Goal: functions, variables and start functions have the names of their C++
 * source, from the process and from its recording; json has the symbol, too.
 * Method: looks until the thread waits. */
Test(run, names_of_cxx)
{
    pid_t pid;
    build_must("g++ -O1 -g -o names " BUILD_PROGRAMS "/run_names.cc -lpthread");
    pid = command_start(RUN "-o names.rec ./names");
    build_must(
        "i=0; until " RECORDER " threads names.rec 2>&1 | tee seen | "
        "grep -q \"waits for mutex bank::first of T1\"; do i=$((i + 1)); "
        "test $i -lt 600 || { cat seen; exit 1; }; sleep 0.05; done");
    build_must(
        "grep \"std::thread of main::{lambda()#1}, made by T1\" seen && "
        "grep \"at bank::account::take<double> run_names.cc:[0-9]\" seen "
        "&& ! grep _Z seen");
    command_must("threads --locks names.rec | grep \"^mutex *bank::first \"");
    command_must("threads %d | grep \"bank::account::take<double> \"", pid);
    command_must("threads --json names.rec | grep \"\\\"function\\\":"
                 "\\\"bank::account::take<double>\\\",\\\"symbol\\\":"
                 "\\\"_ZN4bank7account4takeIdEEiT_\\\"\"");
    command_must("dump --function names.rec | grep \"(bank::account::take<dou"
                 "ble>+0x[0-9a-f]*)\"");
    command_stop(pid);
}

/* Goal: locks in memory that was freed, which no function ends, are not mixed up
 * with later ones there; locks that stay are in a circle; and a wait within a
 * header of C++ has the place that the program's own file calls it from. */
Test(run, memory_used_again)
{
    build_must("g++ -O0 -g -o again " BUILD_PROGRAMS "/run_again.cc -lpthread");
    build_must(RUN "-o again.rec ./again");
    command_must("threads --check again.rec");
    build_must(RUN "-o turned.rec ./again turned");
    cr_assert_eq(command("threads --check turned.rec"), 3, "%s", build_text);
    cr_assert(strstr(build_text, "False if memory"), "%s", build_text);
    cr_assert(strstr(build_text, ", taken at serve run_again.cc:23\n"), "%s",
              build_text);
    cr_assert(build_run(RUN "-o dies.rec ./again dies") != 0);
    command_must("threads dies.rec | "
                 "grep \"holds held, taken at main run_again.cc:\"");
    build_must(RUN "-o waits.rec ./again waits");
    command_must("threads --locks waits.rec | "
                 "grep \"^mutex *held .* waits run_again.cc:\"");
}

/* Goal: the CPU on which a thread started, and on which it resumed after a
 * wait, is recorded. Method: the program may run on one alone. */
Test(run, cpu_numbers)
{
    const unsigned *rseq = dlsym(RTLD_DEFAULT, "__rseq_size");
    cpu_set_t set;
    size_t cpu = CPU_SETSIZE;
    if (!rseq || *rseq == 0)
        cr_skip_test("glibc or the kernel does not tell the CPU");
    cr_assert_eq(sched_getaffinity(0, sizeof set, &set), 0);
    while (cpu-- > 0 && !CPU_ISSET(cpu, &set))
        ;
    build_c("run_modes", "");
    build_must(
        "taskset -c %zu " RUN
        "-o cpu.rec ./run_modes threads 8 65536; " RECORDER
        " dump --internal cpu.rec | grep \": started \\|: <\" >lines; "
        "test $(wc -l <lines) -ge 10 && ! grep -v \", on cpu %zu\\(,\\|$\\)\" "
        "lines",
        cpu, cpu);
    build_must("GLIBC_TUNABLES=glibc.pthread.rseq=0 " RUN "-o none.rec "
               "./run_modes threads 2 65536; " RECORDER " dump --internal "
               "none.rec >lines; grep \": started \" lines && ! grep \"on cpu\" "
               "lines");
}

/* Goal: routines of pthread_once() that throw, are cancelled, call it again or
 * fork do as without; the waiting threads show the running one. */
Test(run, once)
{
    pid_t pid;
    build_must("g++ -O2 -g -o once " BUILD_PROGRAMS "/run_once.cc -lpthread");
    must_be_alike("", "./once", 9);
    pid = command_start(RECORDER " run -q -o once.rec ./once x");
    build_must("until " RECORDER " threads once.rec 2>&1 | grep -q \" waits "
               "for once stays of \"; do sleep 0.05; done");
    command_must("threads once.rec");
    command_stop(pid);
    must_have("holds stays, taken at calls_stays run_once.cc:");
    must_not_have("DEADLOCK");
    must_not_have("holds ends");
}

/* Goal: waits of C++ and for raw futexes are recorded, those for guards of static
 * variables and for streams with their holders; all calls answer as without. */
Test(run, waits_of_cxx)
{
    static const struct {
        const char *what, *says;
        int deadlock;
    } waits[] = {
        {"latch", "waits for futex a_latch", 0},
        {"barrier", "waits for futex ", 0},
        {"future", "waits for futex 0x", 0},
        {"atomic", "waits for futex word", 0},
        {"semaphore", "waits for futex semaphore", 0},
        {"raw", "waits for futex raw", 0},
        {"guard", "waits for once guard variable for makes()::slow of T2", 0},
        {"guards", "DEADLOCK of 2 threads", 3},
        {"self", "DEADLOCK of 1 thread", 3},
        {"stream", "waits for stream _IO_2_1_stdout_ of T2", 3}};
    build_must("g++ -std=c++20 -w -O1 -g -o waits " BUILD_PROGRAMS
               "/run_waits.cc -lpthread");
    must_be_alike("", "./waits", 42);
    for (size_t i = 0; i < sizeof waits / sizeof *waits; i++) {
        char line[256];
        pid_t pid;
        snprintf(line, sizeof line, RECORDER " run -q -o waits.rec ./waits %s",
                 waits[i].what);
        pid = command_start(line);
        build_must("for i in $(seq 600); do " RECORDER " threads waits.rec "
                   "2>&1 | grep -q \"%s\" && exit; sleep 0.05; done; exit 1",
                   waits[i].says);
        command_stop(pid);
        cr_expect_eq(command("threads --check waits.rec"), waits[i].deadlock,
                     "%s: %s", waits[i].what, build_text);
    }
}

/* Takes a word that is in a list, which ends with null. */
static bool takes(const char **at, const char *const *list)
{
    size_t size = strcspn(*at, " \2");
    while (*list && (strlen(*list) != size || strncmp(*at, *list, size) != 0))
        list++;
    *at += size + ((*at)[size] == ' ');
    return *list;
}

/* Goal: readers know each event that the library writes, by run/events.h; each
 * one there is written. Method: looks at all headings in the library. */
Test(run, events_are_those_of_the_header)
{
#define NAME(name) #name,
#define NAME_OF(name, kind) #name,
    static const char *const events[] = {RUN_EVENTS(NAME) NULL};
    static const char *const kinds[] = {RUN_KINDS(NAME_OF) NULL};
    static const char head[] = "\1" RUN_SCHEMA " ";
    bool seen[sizeof events / sizeof *events] = {false};
    static char bytes[8 << 20];
    FILE *file = fopen(TEST_ROOT "/build/lib/librecorder-run.so", "rb");
    size_t size = file ? fread(bytes, 1, sizeof bytes - 1, file) : 0;
    for (size_t i = 0; i + sizeof head < size; i++) {
        const char *at = bytes + i + sizeof head - 1, *was = at;
        size_t event = 0;
        if (memcmp(bytes + i, head, sizeof head - 1) != 0)
            continue;
        cr_assert(takes(&at, events), "%.40s", was);
        while (strncmp(events[event], was, strlen(events[event])) != 0 ||
               was[strlen(events[event])] > ' ')
            event++;
        seen[event] = true;
        cr_expect(*at == 2 || takes(&at, kinds), "%.40s", was);
        cr_expect(*at == 2 || strncmp(at, "until\2", 6) == 0, "%.40s", was);
    }
    for (size_t i = 0; events[i]; i++)
        cr_expect(seen[i], "%s", events[i]);
    fclose(file);
}

/* Goal: recordings of another version of the library are refused, not misread;
 * dump shows them. */
Test(run, other_versions_are_refused)
{
    static const char *const other[] = {"\\x01run0 ", "\\x01run11", " run1 "};
    build_must("cat >own.c <<X\n#include <threads.h>\n"
               "int runs(void *p) { return !p; }\n"
               "int main(void) { thrd_t t; thrd_create(&t, runs, &t);\n"
               "return thrd_join(t, 0) != thrd_success; }\nX\n"
               "gcc -o own own.c && " RECORDER " run -q -o own.rec ./own");
    command_must("threads own.rec");
    for (int i = 0; i < 3; i++) {
        build_must("perl -pe \"s/\\x01run1 /%s/g\" own.rec >other.rec",
                   other[i]);
        cr_expect_eq(command("threads other.rec"), 1, "%s", build_text);
        must_have("is of another version of recorder run");
        cr_expect_eq(command("threads --check other.rec"), 1, "%s", build_text);
        command_must("dump --internal other.rec | grep \"thread_self: \"");
    }
}

/* Goal: guards work in a C++ library that a program of C opens, for itself. */
Test(run, guards_of_a_library_opened_late)
{
    build_must(
        "cat >plugin.cc <<X\n#include <cstdio>\nstatic int fails(int i) {\n"
        "if (i < 2) throw i; return i; }\nextern \"C\" void plugin() {\n"
        "for (int i = 0; i < 4; i++) try { static int made = fails(i);\n"
        "printf(\"made %%d\\n\", made); } catch (int) { puts(\"threw\"); }"
        "}\nX\n"
        "cat >opens.c <<X\n#include <dlfcn.h>\nint main(void) {\n"
        "void *p = dlopen(\"./plugin.so\", RTLD_NOW | RTLD_LOCAL);\n"
        "((void (*)(void))dlsym(p, \"plugin\"))(); return 7; }\nX\n"
        "g++ -shared -fPIC -o plugin.so plugin.cc && gcc -o opens opens.c");
    must_be_alike("", "./opens", 7);
}

/* Goal: a lock that another thread unlocks is not said to be held. */
Test(run, handed_over)
{
    build_c("run_modes", "");
    build_run(RUN "-o handed.rec ./run_modes handed");
    must_say(RECORDER " dump --line \"{thread} {message}\" -n thread_held "
                      "handed.rec | grep \"^1 \" | grep -o \"0x[0-9a-f]* from "
                      "0x\" | wc -l",
             "1\n");
}

/* Goal: a recording is read whenever its program is killed. */
Test(run, killed)
{
    build_c("run_modes", "");
    for (unsigned i = 0; i < scaled(40); i++) {
        pid_t pid = command_start(RUN "-o life.rec ./run_modes life");
        usleep((useconds_t)(i * 7919 % 60000));
        command_stop(pid);
        command_must("dump --internal life.rec >dump");
        /* Each of four threads may have been within one record. */
        build_must("grep -q \"thread_self: thread \" dump && test $(grep -c "
                   "\"<lost>\" dump) -le 4 && rm life.rec");
    }
}

/* ---------------------------------------------------- threads, processes -- */

/* Goal: more threads than have a lane, threads with small stacks, coroutines
 * whose stacks end at a page that may not be touched, signal handlers. */
Test(run, threads_of_all_kinds)
{
    build_c("run_modes", "");
    must_be_alike("", "./run_modes coroutines", 0);
    must_be_alike("", "./run_modes signals", 0);
    must_be_alike("", "./run_modes threads 100 16384", 0);
    if (!is_long_run())
        return;
    must_be_alike("", "./run_modes threads 1023 16384", 0);
    must_be_alike("", "./run_modes threads 2000 32768", 0);
}

/* Goal: if more threads live than are seen, a line reports it, and unknown ones
 * are shown once. Method: 1,100 wait for a lock. */
Test(run, more_threads_than_are_seen, .init = build_long)
{
    pid_t pid;
    build_c("run_modes", "");
    pid = command_start(RUN "-o crowd.rec ./run_modes crowd 1100");
    build_must(
        "i=0; until " RECORDER " threads %d >seen && grep -q \"^77 "
        "threads: .* waits for mutex two of T1 \" seen; do i=$((i + 1)); "
        "test $i -lt 200 || { cat seen; exit 1; }; sleep 0.1; done; "
        "cat seen",
        pid);
    must_have("  1023 threads: T2");
    must_have("\nMore than 1024 threads lived at once");
    command_stop(pid);
    command_must("threads --locks crowd.rec");
    must_have("\nMore than 1024 threads lived at once");
    must_not_have("DEADLOCK");
}

/* Goal: a child of fork() has a file if it makes a thread, or with --always if
 * it waits, else none; a program that it executes has another. */
Test(run, forks)
{
    build_c("run_modes", "");
    build_must(RUN "./run_modes forks %u 2>time && ls *.rec | wc -l >files",
               scaled(200));
    must_say("cat files", "1\n");
    build_must("rm *.rec; " RUN "./run_modes forks %u exec && ls *.rec | wc -l "
               ">files",
               scaled(200));
    must_say("cat files", "1\n");
    must_be_alike("", "./run_modes fork", 0);
    must_say("ls run_modes.*.rec | wc -l", "3\n");
    build_must("rm *.rec; " RECORDER
               " run -q --always sh -c \"true; exit 0\" && "
               "ls *.rec");
    build_must("set -e; rm *.rec; sh=$(readlink -f /bin/sh); " RECORDER
               " run -q --always sh -c "
               "\"sleep 0.2 | { read x || exit 0; }; exit 0\";"
               " ls ${sh##*/}.*.rec | wc -l | grep -x 2;"
               " for r in ${sh##*/}.*.rec; do " RECORDER
               " dump $r; done | grep \"waits in read 0 pipe:\"");
}

/* Goal: a daemon, which forks twice, leaves its session and folder and closes
 * its descriptors, has its own recording, at the requested path; it is read
 * while it runs and after SIGKILL. Its thread's locks and calls before fork()
 * are its own, not another's: it still holds its locks, and locks in both
 * orders alone. */
Test(run, daemons)
{
    build_c("run_modes", "");
    build_must(
        "set -e; " RUN "-o %%e.%%p.rec ./run_modes daemon; "
            "until test -s ready; do sleep 0.05; done; "
            "until " RECORDER " threads $(cat ready) >live && test $(grep -c "
            "\"waits for mutex .* of T3 \" live) = 2; do sleep 0.05; done; "
            "kill -KILL $(cat ready); " RECORDER
            " threads run_modes.$(cat ready).rec >dead; " RECORDER
            " threads --check run_modes.$(cat ready).rec >locks; "
            "test $(ls *.rec | wc -l) = 1");
    for (int i = 0; i < 2; i++) {
        build_must("cat %s", i ? "live" : "dead");
        must_have("T3 ");
        must_have("holds kept, taken at locks_early run_modes.c:");
        must_have("    was T2 of the process that forked this one\n");
        must_have("waits for mutex kept of T3 ");
        must_have("      at waits_long run_modes.c:");
        must_have("      waits_long(0x0), made by T3 ");
        must_not_have("T1 ");
        must_not_have("ended");
    }
    build_must("cat locks");
    must_have("mutex  kept ");
    must_not_have("LOCK ORDER");
}

/* Goal: real daemons, too. */
Test(run, real_daemons)
{
    build_needs("redis-server", "memcached");
    build_must(
        "set -e; mkdir redis; cd redis; " RUN "redis-server --port 0 "
        "--unixsocket $PWD/sock --daemonize yes --pidfile $PWD/pid --save "
        "\"\" --logfile $PWD/log --dir $PWD; until redis-cli -s sock "
        "ping 2>&1 | grep PONG && test -s pid; do sleep 0.05; done; "
        "redis-cli -s sock incr a; cp pid was; until " RECORDER
        " threads $(cat pid) >live && grep \" bio_lazy_free  waits for \" "
        "live; do sleep 0.05; done; redis-cli -s "
        "sock shutdown; until test ! -e pid; do sleep 0.05; done; "
        "test $(ls *.rec | wc -l) = 1 && " RECORDER
        " threads *.$(cat was).rec >dead && for i in live dead; do grep "
        "\"^    was T1 of the process\" $i && grep -A 2 \" bio_lazy_free "
        " waits for condition \" $i | tr -s \"\\n \" \" \" | grep "
        "\"at bioProcessBackgroundJobs bioProcessBackgroundJobs(0x2), "
        "made by T2 .* at bioInit <\" || { cat $i; exit 1; }; done && " RECORDER
        " threads --check *.rec");
    build_must("set -e; mkdir d; cd d; " RUN "-o %%e.%%p.rec memcached -d -u root "
               "-s $PWD/sock -P $PWD/pid -t 2; until test -S sock && test -s "
               "pid; do sleep 0.05; done; until " RECORDER " threads "
               "memcached.$(cat pid).rec >said; do sleep 0.05; done; "
               "kill -KILL $(cat pid); " RECORDER
               " threads memcached.$(cat pid).rec | grep \" made by "
               "T[0-9]\"");
}

/* Goal: fork() does not copy an entry of the page table for each page that the
 * rings took before they moved into the file: 1,400 of them. */
Test(run, forks_copy_few_pages)
{
    int without;
    prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0); /* 512 pages at once, by chance */
    build_c("run_modes", "");
    if (build_run("./run_modes pages") == 77 || sysconf(_SC_PAGESIZE) != 4096)
        build_skip("this kernel does not tell which pages are there");
    without = atoi(build_text);
    build_must(RUN "-o pages.rec ./run_modes pages");
    cr_expect_gt(atoi(build_text), 0);
    cr_expect_lt(atoi(build_text), without + 200, "%s, %d without", build_text,
                 without);
}

/* Goal: a library that makes threads before the program begins, and a program
 * with recorders, exported or not, share numbers and a file. */
Test(run, early_and_own, .init = build_long)
{
    build_must("gcc -shared -fPIC -o libearly.so " BUILD_PROGRAMS
               "/run_early.c");
    for (int exported = 0; exported < 2; exported++) {
        build_must("gcc " BUILD_INCLUDE "%s -o own " BUILD_PROGRAMS
                   "/run_own.c -L. -learly -Wl,-rpath,. -lpthread",
                   exported ? "-rdynamic" : "");
        build_run(RUN "-o own.rec ./own >out 2>dump");
        build_must("grep done out && grep \"lock_wait: the program.s own 1\" "
                   "dump && grep \"own: in a thread\" dump");
        command_must("dump --line \"{recorder} {thread} {message}\" own.rec "
                     ">lines");
        build_must("grep \"lock_wait 1 the program.s own 1\" lines");
        build_must("grep \"own 3 in a thread\" lines");
        build_must("grep \"thread_life 2 starts\" lines");
        build_must("grep \"thread_life 3 starts\" lines && rm own.rec");
    }
    /* Without the early thread, RECORDER_FILE comes first, and holds all. */
    build_must("gcc " BUILD_INCLUDE "-o own " BUILD_PROGRAMS
               "/run_own.c " BUILD_PROGRAMS "/run_early.c -lpthread");
    build_run("RECORDER_FILE=asked.rec " RUN "-o run.rec ./own");
    command_must("dump asked.rec >dump && grep \"own: done\" dump && grep "
                 "\"thread_life: starts\" dump && test ! -e run.rec");
}

/* Goal: programs of 2002 and of today, in one process or linked with a library
 * that has another pthread_cond_signal, each get theirs. */
Test(run, versions_of_conditions)
{
    build_must("cat >old.c <<X\n"
               "#include <pthread.h>\n"
               "__asm__(\".symver pthread_cond_signal, "
               "pthread_cond_signal@GLIBC_2.2.5\");\n"
               "__asm__(\".symver pthread_cond_wait, "
               "pthread_cond_wait@GLIBC_2.2.5\");\n"
               "static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\n"
               "static struct { void *old; long more[8]; } c; static int go;\n"
               "static void *f(void *p) { pthread_mutex_lock(&m); go = 1; "
               "pthread_cond_signal((void *)&c); pthread_mutex_unlock(&m); "
               "return p; }\n"
               "int main(void) { pthread_t t; pthread_mutex_lock(&m); "
               "pthread_create(&t, 0, f, 0); while (!go) "
               "pthread_cond_wait((void *)&c, &m); pthread_mutex_unlock(&m); "
               "pthread_join(t, 0); return c.old ? 6 : 1; }\nX");
    if (build_run("gcc -w -o old old.c") != 0)
        build_skip("this machine has one version");
    must_be_alike("", "./old", 6);
}

/* --------------------------------------------------------------- refused -- */

/* Goal: a program that cannot run, or cannot be seen, gets one line with the
 * reason. */
Test(run, refused)
{
    static const struct {
        const char *line;
        int status;
        const char *says;
    } refused[] = {
        {"nosuch", 127, "nosuch: command not found"},
        {"./nosuch", 127, "./nosuch: No such file or directory"},
        {"./data", 126, "./data: Permission denied"},
        {"/tmp", 126, "/tmp: Is a directory"},
        {"./static x", 1, "./static is linked statically"},
        {"./i386", 1, "./i386: there is no librecorder-run.so for its machine"},
        {"./suid", 1, "./suid runs with another user"},
        {"./script", 1, "./static is linked statically"},
        {"-o /nosuch/x true", 1, "/nosuch: No such file or directory"}};
    build_must(
        "echo \"int main(void) { return 0; }\" >c.c && gcc -o dynamic c.c "
        "&& gcc -static -o static c.c && echo >data && cp dynamic suid && "
        "chown 65534 suid && chmod u+s suid && echo \"#!./static\" "
        ">script && chmod +x script");
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        if (strstr(refused[i].line, "i386") &&
            build_run("gcc -m32 -o i386 c.c") != 0)
            continue;
        cr_assert_eq(build_run(RUN "%s", refused[i].line), refused[i].status,
                     "%s: %s", refused[i].line, build_text);
        cr_assert(strstr(build_text, refused[i].says) &&
                      strchr(build_text, '\n') ==
                          build_text + strlen(build_text) - 1,
                  "%s: %s", refused[i].line, build_text);
    }
    cr_assert_eq(build_run("ulimit -f 100; " RUN "./dynamic"), 1);
    must_have("a recording takes 7 MB, and ulimit -f allows less\n");
    if (build_run("mkdir small && mount -t tmpfs -o size=1m none small") == 0) {
        int status = build_run(RUN "-o small/x ./dynamic");
        cr_expect(status == 1 && strstr(build_text, "/small: No space left on "
                                                    "device: a recording takes "
                                                    "7 MB\n"),
                  "%d %s", status, build_text);
        build_must("umount small");
    }
    cr_assert_eq(command("run"), 2);
    cr_assert_eq(build_run(RUN "./dynamic --help"), 0, "%s", build_text);
    cr_assert_eq(build_run(RUN "sh -c \"kill -TERM \\$\\$\""), 128 + 15);
    build_must(RECORDER
               " run -o a%%%%.%%e.%%p sh -c \"echo \\$\\$\" >pid 2>said; "
               "grep \"records to $PWD/a%%.dash.$(cat pid) \" said || grep "
               "\"records to $PWD/a%%.bash.$(cat pid) \" said");
}

/* Goal: a program, or its child, with an older glibc than the library's is not
 * ended by its loader. Method: the library needs nothing of libc, and only the
 * loader's first version. */
Test(run, older_glibc)
{
    build_must("nm -D -u " TEST_ROOT "/build/lib/librecorder-run.so | sed "
               "\"s/.* //; s/@.*//\" | sort | tr \"\\n\" \" \"");
    cr_assert_str_eq(build_text, "__libc_stack_end __tsan_init _r_debug ");
}

/* Goal: a program may define each function that the library calls, and set it up
 * when its main() runs. Method: one whose functions are traps until then. */
Test(run, defines_what_the_library_calls)
{
    static const char libc[] =
        "$(ldd /bin/sh | sed -n \"s/.*libc.so.6 => \\([^ ]*\\).*/\\1/p\")";
    if (build_run("test $(uname -m) = x86_64") != 0)
        build_skip("the traps are of x86-64");
    build_must("sh " BUILD_PROGRAMS "/run_defines.sh " TEST_ROOT
               "/run/libc.c %s >traps.c && gcc -w -O1 -fno-builtin "
               "-fno-stack-protector -rdynamic -o traps traps.c && nm -D traps "
               "| grep -c \" T \"",
               libc);
    cr_assert_gt(atoi(build_text), 40);
    must_be_alike("", "./traps", 7);
    cr_assert_eq(build_run(RUN "--always --all -o traps.rec ./traps"), 7);
    command_must("dump traps.rec | grep -c \"thread_life: starts\"");
    cr_assert_eq(atoi(build_text), 3);
}

/* Goal: children of a recorded program print nothing more than without:
 * programs of 32 bits, and static ones. */
Test(run, children_of_other_kinds)
{
    build_must(
        "echo \"int main(void) { return 5; }\" >five.c && gcc -static -o "
        "static five.c");
    must_be_alike("", "sh -c ./static", 5);
    if (!build_can("gcc", "-m32"))
        return;
    build_must("gcc -m32 -o five five.c");
    if (build_run("./five") != 5)
        build_skip("this machine runs no programs of 32 bits");
    must_be_alike("", "sh -c ./five", 5);
}

/* Goal: a program's path may be of any length, and no write goes past an array.
 * Method: a command compiled as in distributions, with a check of realpath()'s
 * buffer; and a path of 3,000 bytes. */
Test(run, long_paths)
{
    build_must("gcc -std=gnu11 -D_GNU_SOURCE -O2 -U_FORTIFY_SOURCE "
               "-D_FORTIFY_SOURCE=2 -Werror " BUILD_INCLUDE
               "$(printf -- \"-I%%s \" " TEST_ROOT "/tools " TEST_ROOT
               "/tools/*/) -c -o run.o " TEST_ROOT "/tools/verbs/run.c");
    build_must("name=$(printf %%0200d 1); top=$PWD; i=0; "
               "while test $i -lt 15; do mkdir $name && cd $name || exit; "
               "i=$((i + 1)); done; cp /bin/true true && ln -s $PWD/true "
               "$top/short");
    build_must(RECORDER " run -q ./short");
    cr_expect_str_empty(build_text);
}
