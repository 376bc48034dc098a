/* Tasks in gdb: a tour of their stacks, which changes nothing of the program. */
/* SPDX-License-Identifier: MIT */
#include "harness/command.h"

TestSuite(tasks_gdb, .init = build_begin, .fini = build_end, .timeout = 300);

#define SCRIPT TEST_ROOT "/gdb/recorder-gdb.py"
#define STOP                                                                   \
    "set pagination off\nset confirm off\nset width 0\nsource " SCRIPT "\n"

static void build_fibers(void)
{
    build_must("gcc -O0 -g -D_GNU_SOURCE " BUILD_INCLUDE BUILD_PROGRAMS
               "/tasks_fibers.c -o fibers -lpthread");
}
static void write_file(const char *name, const char *text)
{
    char path[128];
    FILE *file;
    snprintf(path, sizeof path, "%s/%s", build_folder, name);
    file = fopen(path, "w");
    cr_assert(file && fputs(text, file) >= 0 && fclose(file) == 0);
}
static void must_say(const char *text)
{
    cr_assert(strstr(build_text, text), "no \"%s\" in\n%s", text, build_text);
}
/* The lines in a text must follow each other, with others between them. */
static void must_say_in_order(const char *const *lines, size_t count)
{
    const char *at = build_text;
    for (size_t i = 0; i < count; i++) {
        at = strstr(at, lines[i]);
        cr_assert(at, "no \"%s\" (%zu) in\n%s", lines[i], i, build_text);
        at += strlen(lines[i]);
    }
}
#define IN_ORDER(...)                                                          \
    must_say_in_order((const char *const[]){__VA_ARGS__},                      \
                      sizeof((const char *const[]){__VA_ARGS__}) /             \
                          sizeof(char *))

/* A tour, and its output. */
static const char tour[] =
    "recorder groups\n"
    "recorder workers\n"
    "recorder tasks\n"
    "recorder tasks all\n"
    "recorder tasks system.*\n"
    "recorder task T1\nbt\nup 3\ninfo locals\n"
    "recorder task 3 userCluster\nprint fiber->name\nrecorder tasks\n"
    "recorder task left\nup\ndown\nbt 4\n"
    "recorder prev\nprint fiber->name\nrecorder prev\nrecorder prev\n"
    "python\n"
    "for c in 'prev', 'task nobody', 'task', 'tasks (', "
    "'task apply all', 'task 0x10':\n"
    "  try: gdb.execute('recorder ' + c)\n"
    "  except gdb.error as e: print('ERROR', e)\n"
    "end\n"
    "recorder task apply T. bt 1\n"
    "recorder task left\nrecorder task right\nrecorder reset\n"
    "recorder reset\n";

static void must_tour(void)
{
    IN_ORDER(
        "GROUP            TASKS", "userCluster          6", /* groups */
        "THREAD       ID  NAME", "userCluster      walk (6)",
        "  GROUP             ID  NAME", "  userCluster        1  T0 ",
        "  waiting  lock B, held by right", "* userCluster        6  walk ",
        "  systemCluster     -1  idle", "  userCluster        1  T0 ",
        "  systemCluster     -1  idle", /* T1 */
        "#1  ", "leave (state=WAITING)", "#1  ", "#2  ", "in stand ()", "#3  ",
        "in f (fiber=", "depth=0)", "depth=3)", "plain (fiber=", "begin ()",
        "\n#4  ", "x = 3\n", "\"example\"\n",            /* 3 */
        "#1  ", "\"T2\"", "* userCluster        3  T2 ", /* left */
        "#1  ", "#2  ", "#1  ", "#1  ", "#2  ", "#3  ", "#4  ",
        "left (fiber=", /* prev, to T2, T1, and the start */
        "#1  ", "\"T2\"", "#1  ", "#0  ", "steps (",
        "ERROR recorder: the tour is at its start",
        "ERROR recorder: no task nobody",
        "ERROR recorder: which task?\nUsage: recorder task ID",
        "ERROR recorder: ( is no regular expression",
        "ERROR recorder: apply all", "ERROR recorder: no task 0x10",
        "Task T0 (1, userCluster):\n#1  ", "Task T1 (2, userCluster):\n#1",
        "Task T2 (3, userCluster):\n#1  ", /* left, right, reset */
        "#1  ", "#1  ", "#0  ", "#0  ");
    cr_assert_null(strstr(build_text, " in ?? ()"), "%s", build_text);
    cr_assert_null(strstr(build_text, "corrupt"), "%s", build_text);
    cr_assert_null(strstr(build_text, "Traceback"), "%s", build_text);
}

/* Reads all that a program could have been changed in: registers of all
 * threads, and all writable memory. */
static const char sum[] =
    "import gdb, hashlib, re\n"
    "def summed():\n"
    "  h = hashlib.sha256()\n"
    "  text = gdb.execute('thread apply all -q info registers', "
    "to_string=True)\n"
    "  h.update(text.encode())\n"
    "  said = gdb.execute('info files', to_string=True)\n"
    "  core = re.findall(r'0x(\\w+) - 0x(\\w+) is load', said)\n"
    "  try: live = re.findall(r'0x(\\w+) +0x(\\w+) +0x\\w+ +0x\\w+ +rw', "
    "gdb.execute('info proc mappings', to_string=True))\n"
    "  except gdb.error: live = []\n"
    "  all = live or core\n"
    "  n = 0\n"
    "  for a, b in all:\n"
    "    try: m = gdb.selected_inferior().read_memory(int(a, 16), int(b, 16) - "
    "int(a, 16))\n"
    "    except gdb.error: continue\n"
    "    h.update(bytes(m)); n += len(m)\n"
    "  assert n > 100000, n\n"
    "  return h.hexdigest()\n";

/* Goal: groups, workers, tasks, and a tour through three stacks and back, in a
 * running process and in a core file; registers and writable memory are the
 * same before and after it. */
Test(tasks_gdb, a_tour_shows_stacks_and_changes_nothing)
{
    build_fibers();
    write_file("sum.py", sum);
    write_file("tour.gdb", tour);
    write_file("live.gdb",
               STOP "source sum.py\nrecorder reset\nbreak steps\nrun\n"
                    "python before = summed()\nsource tour.gdb\n"
                    "python print('SAME', before == summed())\n"
                    "generate-core-file core\n");
    write_file("core.gdb", STOP "source sum.py\n"
                                "python before = summed()\nsource tour.gdb\n"
                                "python print('SAME', before == summed())\n");
    build_must(
        "gdb -q --batch -x live.gdb --args ./fibers 3 locks,walk 1 2>&1");
    must_tour();
    must_say("SAME True");
    build_must("gdb -q --batch -x core.gdb ./fibers core 2>&1");
    must_tour();
    must_say("SAME True");
}

/* Goal: no name of the program moves the terminal's cursor. */
Test(tasks_gdb, names_are_escaped)
{
    pid_t pid;
    build_fibers();
    write_file("names.gdb", STOP "recorder groups\nrecorder tasks\nrecorder "
                                 "workers\nrecorder task apply .*red bt 1\n");
    pid = command_start("./fibers 3 still,damage,escape 1");
    build_must("gdb -q --batch -x names.gdb -p %d 2>&1", pid);
    command_stop(pid);
    must_say("Task \\x1b[31mred (");
    must_say("a list of fi\\x1b[2Jbers ends at a bad address");
    cr_assert_null(strchr(build_text, '\33'), "%s", build_text);
}

/* Goal: if a task cannot be shown, a message gives the reason, and the tour
 * stays. */
Test(tasks_gdb, errors_say_what_is_wrong)
{
    build_fibers();
    write_file("errors.gdb",
               STOP "break steps\nrun\n"
                    "set $t = all_fibers->all_next\n"
                    "set var $t->name[0] = 'l'\nset var $t->name[1] = 'e'\n"
                    "set var $t->name[2] = 'f'\nset var $t->name[3] = 't'\n"
                    "set var $t->name[4] = 0\n"
                    "set $t = $t->all_next->all_next\n"
                    "set var $t->sp = (void *)64\n"
                    "set $t = $t->all_next\nset var $t->state = DEAD\n"
                    "recorder task T0\n"
                    "python\n"
                    "for c in 'left', '2', 'T2', '3':\n"
                    "  try: gdb.execute('recorder task ' + c)\n"
                    "  except gdb.error as e: print('ERROR', e)\n"
                    "end\nprint fiber->name\nup 2\nprint fiber->name\n"
                    "recorder task 5\nbt\n");
    build_must(
        "gdb -q --batch -x errors.gdb --args ./fibers 3 locks,walk 1 2>&1");
    IN_ORDER("#1  ", "ERROR recorder: left may be\n  0x",
             " left (4, userCluster)\n  0x", " left (5, userCluster)\n",
             "ERROR recorder: task T1 (2, userCluster) is dead\n",
             "ERROR recorder: the context of task T2 (3, userCluster) is not "
             "known, or cannot be read\n",
             "ERROR recorder: the context of task T2 ", "\"T0\"", "#3  ",
             "\"T0\"", "#1  ", "in right (fiber=");
}

/* Ways to continue from steps(); %d is the line of "there". */
static const char *const ways[] = {"next",
                                   "nexti",
                                   "step",
                                   "stepi",
                                   "finish",
                                   "advance %d",
                                   "until",
                                   "until %d",
                                   "tbreak %d\ncontinue",
                                   "tbreak %d\njump %d",
                                   "tbreak %d\nsignal 0",
                                   "queue-signal 0\ntbreak %d\ncontinue",
                                   "next 3",
                                   "run"};
enum { WAYS = sizeof ways / sizeof *ways };

/* The line of a text in the program. */
static int line_of(const char *text)
{
    build_must("grep -n \"%s\" " BUILD_PROGRAMS "/tasks_fibers.c", text);
    return atoi(build_text);
}

/* Goal: all ways to continue end at the same place as without a tour. */
Test(tasks_gdb, the_program_goes_on_as_without_a_tour, .init = build_long)
{
    static const char *const tours[] = {
        "", "recorder task T1\nup\n",
        "recorder task T1\nrecorder task left\nrecorder prev\n",
        "recorder task T1\nrecorder task walk\n"};
    enum { TOURS = sizeof tours / sizeof *tours };
    char script[32768] = STOP "break steps\n", way[128], last[64] = "";
    int there, count = 0;
    build_fibers();
    there = line_of("there");
    for (int i = 0; i < WAYS; i++)
        for (int k = 0; k < TOURS; k++) {
            size_t at = strlen(script);
            if (k > 1 && !sampled(4))
                continue;
            snprintf(way, sizeof way, ways[i], there, there);
            snprintf(script + at, sizeof script - at,
                     "run\nnext\n%s%s\nprintf \"WAY %d %d %%p %%d\\n\", $pc, "
                     "$_thread\n",
                     tours[k], way, i, k);
        }
    write_file("ways.gdb", script);
    build_must("gdb -q --batch -x ways.gdb --args ./fibers 3 locks,walk 1 2>&1 "
               "| grep ^WAY");
    for (char *line = strtok(build_text, "\n"); line;
         line = strtok(NULL, "\n")) {
        int i, k;
        char where[64];
        if (sscanf(line, "WAY %d %d %63[^\n]", &i, &k, where) != 3)
            continue;
        count += k == 1;
        if (k == 0)
            strcpy(last, where);
        cr_assert_str_eq(where, last, "%s after tour %d", ways[i], k);
    }
    cr_assert_eq(count, WAYS);
}

/* Goal: a hook of the user's stays, and is named; MI steps from the program's
 * position. */
Test(tasks_gdb, hooks_and_interfaces_of_others, .init = build_long)
{
    build_fibers();
    write_file("hook.gdb",
               STOP "define hook-next\necho MINE\\n\nend\nbreak steps\nrun\n"
                    "recorder task T1\nshow user hook-next\nshow user "
                    "hook-step\nrecorder reset\nnext\n");
    build_must(
        "gdb -q --batch -x hook.gdb --args ./fibers 3 locks,walk 1 2>&1");
    IN_ORDER(
        "recorder: hook-next is yours: ", "User command \"hook-next\":", "MINE",
        "User command \"hook-step\":", "recorder reset quietly", "MINE\n");
    write_file("mi", "-gdb-set pagination off\n"
                     "-interpreter-exec console \"source " SCRIPT "\"\n"
                     "-break-insert steps\n-exec-run\n-exec-next\n"
                     "-interpreter-exec console \"recorder task T1\"\n"
                     "-stack-list-frames 1 1\n-exec-next\n"
                     "-stack-list-frames 0 0\n-gdb-exit\n");
    /* The next command is given when the program has stopped. */
    build_must("mkfifo in; gdb -q -i=mi2 --args ./fibers 3 locks,walk 1 <in "
               ">out 2>&1 & exec 3>in; n=0; while read -r line; do "
               "echo \"$line\" >&3; case $line in -exec-*) n=$((n + 1)); "
               "until test $(grep -c \"^.stopped\" out) -ge $n; do "
               "sleep 0.05; done;; esac; done <mi; exec 3>&-; wait; cat out");
    IN_ORDER("reason=\"breakpoint-hit\"", "reason=\"end-stepping-range\"",
             "level=\"1\"", "func=\"leave\"", "reason=\"end-stepping-range\"",
             "level=\"0\"", "func=\"steps\"");
}
