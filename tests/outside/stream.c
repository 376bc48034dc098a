/* recorder follow tty:, rtt: and swo:, the frames that a port sends. */
/* SPDX-License-Identifier: MIT */
#include "harness/command.h"

#include <arpa/inet.h>
#include <pty.h>
#include <sys/prctl.h>
#include <termios.h>

#define BUILD_PORT                                                             \
    "gcc -std=c11 -O2 -no-pie -D_GNU_SOURCE " BUILD_WARNINGS BUILD_INCLUDE     \
    "-I" TEST_ROOT "/hooks "

static void stream_begin(void)
{
    build_begin();
    build_must(BUILD_PORT "-o port " BUILD_PROGRAMS "/stream.c");
}
TestSuite(stream, .init = stream_begin, .fini = build_end, .timeout = 300);

#define FOLLOW(source) RECORDER " follow " source " --elf port --last 100000"

static void must_be(bool is, const char *line)
{
    cr_expect(is, "%s", line);
}

/* Checks that each line in NAME.out is right. Returns how many
 * records of `numbers` it has. */
static unsigned shown(const char *name)
{
    unsigned count = 0, last = 0, at, n, square, complement, again;
    uint64_t order = 0, order_before = 0;
    double seconds;
    build_must("cat %s.out", name);
    for (char *line = strtok(build_text, "\n"); line;
         line = strtok(NULL, "\n")) {
        if (sscanf(line, "%" SCNu64 " [%lf stream.c:%u T1] numbers: n=%u %u %u",
                   &order, &seconds, &at, &n, &square, &complement) == 6) {
            must_be(n > last && square == n * n && complement == ~n, line);
            must_be(seconds == (double)(n - 1) / 1000, line);
            last = n;
            count++;
        } else if (sscanf(line,
                          "%" SCNu64 " [%lf stream.c:%u T1] texts: text "
                          "%u of %u",
                          &order, &seconds, &at, &n, &again) == 5) {
            must_be(n == again && n % 10 == 0, line);
        } else { /* the records of the text were lost */
            must_be(strstr(line, "T1] texts: <lost> of ") != NULL, line);
        }
        must_be(order > order_before, line);
        order_before = order;
    }
    return count;
}

/* Adds up the numbers in lines "recorder: SOURCE: N records missed". */
static unsigned said(const char *name, const char *what)
{
    unsigned sum = 0;
    build_must("cat %s.err", name);
    for (char *line = strtok(build_text, "\n"); line;
         line = strtok(NULL, "\n")) {
        char *number = strchr(line + strlen("recorder: tty:"), ' ');
        if (number && strstr(number, what))
            sum += (unsigned)strtoul(number, NULL, 10);
    }
    return sum;
}

/* Goal: over a link that loses nothing, each record is shown, with all of its
 * words, in order: from a line of bytes, and from SWO with other packets. */
Test(stream, each_record_is_shown)
{
    build_must("./port 2000 0 1 >bytes");
    build_must(FOLLOW("tty:./bytes") " >a.out 2>a.err");
    cr_expect_eq(shown("a"), 2000);
    cr_expect_eq(said("a", "missed") + said("a", "lost"), 0);
    build_must("./port 2000 0 2 swo >bytes");
    build_must(FOLLOW("swo:./bytes") " >a.out 2>a.err");
    cr_expect_eq(shown("a"), 2000);
    cr_expect_eq(said("a", "missed") + said("a", "lost"), 0);
    build_must(FOLLOW("swo:./bytes") " --where \"numbers: n>1999\" 2>&1");
    cr_expect_not_null(strstr(build_text, "numbers: n=2000 4000000"));
    cr_expect_null(strstr(build_text, "n=1999"));
}

/* Goal: where 1 % of the bytes are lost, changed or added, no line is wrong,
 * and each record is shown or counted. */
Test(stream, spoiled_bytes_are_counted)
{
    for (int seed = 1; seed <= 4; seed++) {
        const char *swo = seed % 2 ? "" : "swo";
        build_must("./port 3000 10000 %d %s >bytes", seed, swo);
        build_must(RECORDER " follow %s:./bytes --elf port --last 100000 "
                            ">all.out 2>all.err",
                   seed % 2 ? "tty" : "swo");
        cr_expect_leq(shown("all"), 2900);
        build_must(RECORDER " follow %s:./bytes --elf port --last 100000 "
                            "--names numbers >a.out 2>a.err",
                   seed % 2 ? "tty" : "swo");
        cr_expect_eq(shown("a") + said("a", "missed"), 3000,
                     "seed %d: %u shown, %u missed", seed, shown("a"),
                     said("a", "missed"));
        cr_expect_gt(said("a", "lost"), 1000);
    }
}

/* Goal: a terminal becomes raw, and its bytes come while they are sent. */
Test(stream, terminal)
{
    char name[64], bytes[4096];
    struct termios is;
    int master, slave;
    FILE *port;
    pid_t pid;
    int status = 0;
    size_t size;
    cr_assert_eq(openpty(&master, &slave, name, NULL, NULL), 0);
    pid = fork();
    if (pid == 0) {
        char command[512];
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(master);
        close(slave);
        snprintf(command, sizeof command,
                 "cd %s && exec " RECORDER " follow tty:%s@57600 --elf port "
                 "--last 100000 >a.out 2>a.err",
                 build_folder, name);
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    for (int i = 0; i < 3000; i++) {
        cr_assert_eq(tcgetattr(slave, &is), 0);
        if (!(is.c_lflag & ICANON))
            break;
        usleep(10000);
    }
    cr_expect_eq(cfgetispeed(&is), B57600);
    snprintf(bytes, sizeof bytes, "%s/port 1000 0 1", build_folder);
    port = popen(bytes, "r");
    while ((size = fread(bytes, 1, sizeof bytes, port)) > 0)
        for (size_t done = 0; done < size;) {
            ssize_t wrote = write(master, bytes + done, size - done);
            cr_assert_gt(wrote, 0);
            done += (size_t)wrote;
        }
    pclose(port);
    /* The kernel drops bytes that were not read yet when the master closes. */
    for (int i = 0; i < 3000 && build_run("grep -q n=1000 a.out") != 0; i++)
        usleep(10000);
    close(slave);
    close(master);
    waitpid(pid, &status, 0);
    cr_expect_eq(status, 0);
    cr_expect_eq(shown("a"), 1000);
}

/* Goal: rtt: connects to a port of TCP, such as that of OpenOCD. */
Test(stream, connection)
{
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof at;
    int server = socket(AF_INET, SOCK_STREAM, 0);
    cr_assert_eq(bind(server, (void *)&at, sizeof at), 0);
    cr_assert_eq(getsockname(server, (void *)&at, &size), 0);
    cr_assert_eq(listen(server, 1), 0);
    if (fork() == 0) {
        char command[256];
        snprintf(command, sizeof command, "exec %s/port 1000 0 1",
                 build_folder);
        dup2(accept(server, NULL, NULL), 1);
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    close(server);
    build_must(RECORDER " follow rtt:127.0.0.1:%d --elf port --last 100000 "
                        ">a.out 2>a.err",
               ntohs(at.sin_port));
    cr_expect_eq(shown("a"), 1000);
    cr_expect_eq(said("a", "missed") + said("a", "lost"), 0);
    wait(NULL);
    cr_expect_eq(build_run(RECORDER " follow rtt:127.0.0.1:%d --elf port",
                           ntohs(at.sin_port)),
                 1);
    cr_expect_not_null(strstr(build_text, "Connection refused"), "%s",
                       build_text);
}

/* Goal: after a reset of the board, its records are shown from the first one
 * on; and a host that comes late shows the records from then on. */
Test(stream, reset)
{
    build_must("./port 1000 0 1 >one; (cat one; ./port 300 0 1) >bytes");
    build_must(FOLLOW("tty:./bytes") " >a.out 2>a.err");
    build_must("set -e; grep -c \"numbers: n\" a.out; grep -c \"n=1 1 \" a.out; "
               "grep \"started again\" a.err");
    cr_expect_str_eq(build_text, "1300\n2\nrecorder: tty:./bytes: the board "
                                 "started again\n");
    build_must("./port 3000 0 1 >one; tail -c 400000 one >bytes");
    build_must(FOLLOW("tty:./bytes") " >a.out 2>a.err");
    cr_expect_gt(shown("a"), 100);
}

/* Goal: the constants of the board and of the ELF file must be equal. */
Test(stream, another_build)
{
    build_must(BUILD_PORT "-o other -DBUILD=\"\\\"build 2\\\"\" " BUILD_PROGRAMS
                          "/stream.c");
    build_must("./other 100 0 1 >bytes");
    cr_expect_eq(build_run(FOLLOW("tty:./bytes")), 1);
    cr_expect_not_null(strstr(build_text, "the board runs another build than "
                                          "port"),
                       "%s", build_text);
}

/* Goal: frames of any contents do no harm. */
Test(stream, hostile)
{
    for (int seed = 1; seed <= 10; seed++) {
        build_must("./port 500 0 %d hostile >bytes", seed);
        cr_expect_leq(build_run(FOLLOW("tty:./bytes")), 1, "%s", build_text);
        build_must("head -c 100000 /dev/urandom >bytes");
        cr_expect_eq(build_run(FOLLOW("swo:./bytes")), 1);
        cr_expect_not_null(strstr(build_text, "before all recorders came"));
    }
}

/* Goal: a source that cannot be opened is reported. */
Test(stream, misuse)
{
    static const char *const rows[][2] = {
        {"tty:./bytes", "needs --elf FILE"},
        {"tty:./none --elf port", "No such file"},
        {"tty:./bytes --elf bytes", "is no core file"},
        {"rtt:nowhere --elf ./port", "is neither PATH nor HOST:PORT"},
        {"tty:/dev/ptmx@fast --elf port", "its speed is not known"}};
    build_must("echo >bytes");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        cr_expect_neq(build_run(RECORDER " follow %s", rows[i][0]), 0);
        cr_expect_not_null(strstr(build_text, rows[i][1]), "%s: %s", rows[i][0],
                           build_text);
    }
}

/* Goal: rings for which a frame has no room are refused by the compiler. */
Test(stream, too_many_rings)
{
    build_must(BUILD_PORT "-DRECORDER_STREAM_RINGS=13 -c " BUILD_PROGRAMS
                          "/stream.c");
    cr_expect_neq(build_run(BUILD_PORT "-DRECORDER_STREAM_RINGS=99 "
                                       "-c " BUILD_PROGRAMS "/stream.c"),
                  0);
    cr_expect_not_null(strstr(build_text, "no room for them"), "%s",
                       build_text);
}
