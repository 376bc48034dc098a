/* main.c - recorder-fleet: its verbs and options. */
/* SPDX-License-Identifier: MIT */
#include "fleet.h"
#include "recorder.h"

#include <getopt.h>

#include "recorder/regex.h"

struct options options = {.server = "nats://127.0.0.1:4222",
                          .why = "",
                          .output = ".",
                          .max = "10G",
                          .age = "7d",
                          .replicas = "1",
                          .keep = UINT64_C(1) << 30,
                          .automatic = 12,
                          .automatic_ns = 60 * MINUTE,
                          .join = 30 * SECOND,
                          .save_ns = MINUTE,
                          .hang_ns = 10 * SECOND,
                          .wait = 30 * SECOND,
                          .largest = UINT64_C(8) << 30};

FILE *text_begin(char **text, size_t *size)
{
    *text = NULL;
    return need(open_memstream(text, size));
}

void text_end(FILE *to)
{
    need_done(fclose(to) == 0);
}

const char *write_wrong(ssize_t done, size_t size)
{
    return done < 0               ? strerror(errno)
           : (size_t)done == size ? NULL
                                  : "the disk is full";
}

uint64_t clock_ns(clockid_t which)
{
    struct timespec now;
    clock_gettime(which, &now);
    return (uint64_t)now.tv_sec * SECOND + (uint64_t)now.tv_nsec;
}
uint64_t real_ns(void)
{
    return clock_ns(CLOCK_REALTIME);
}
uint64_t now_ns(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                            "abcdefghijklmnopqrstuvwxyz0123456789._-";

bool is_name(const char *text)
{
    size_t size = strspn(text, plain);
    return size && !text[size] && size <= 64 && *text != '.';
}

void name_of(char to[65], const char *text)
{
    size_t i = 0;
    for (; text[i] && i < 64; i++)
        to[i] = strchr(plain, text[i]) && (i || text[i] != '.') ? text[i] : '_';
    to[i] = '\0';
    if (!i)
        strcpy(to, "_");
}

/* --------------------------------------------------------------- options -- */

enum kind { TEXT, FLAG, SIZE, TIME, AUTOMATIC, HELP };
static const struct row {
    const char *name, *argument, *help;
    enum kind kind;
    void *to;
} rows[] = {
#define ROW(name, kind, argument, help)                                        \
    {                                                                          \
#name, argument, help, kind, &options.name                             \
    }
    {"help", NULL, "this text", HELP, NULL},
    ROW(server, TEXT, "URL,...", "the hub: nats://127.0.0.1:4222"),
    ROW(ca, TEXT, "FILE", "certificate of the hub's authority"),
    ROW(cert, TEXT, "FILE", "our certificate; --key FILE its key"),
    ROW(key, TEXT, "FILE", NULL),
    ROW(creds, TEXT, "FILE", "our credentials: a JWT and its seed"),
    ROW(nkey, TEXT, "FILE", "our key: SU... and U..., as nk writes them"),
    ROW(insecure, FLAG, NULL, "a hub without TLS, not on this host"),
    ROW(service, TEXT, "NAME", "agent: the service of its processes"),
    ROW(host, TEXT, "NAME", "agent: its host; freeze, fetch: a REGEX"),
    ROW(label, TEXT, "TEXT", "agent: as zone=a,rack=7; freeze: a REGEX"),
    ROW(spool, TEXT, "DIR", "agent: recordings wait here for the hub"),
    ROW(keep, SIZE, "SIZE", "agent: bytes in there at most: 1G"),
    ROW(rate, SIZE, "SIZE", "agent: bytes sent in a second, at most"),
    ROW(match, TEXT, "REGEX", "agent: executables' paths, of all users"),
    ROW(trigger, TEXT, "REGEX", "agent: recorders whose records freeze"),
    {"no-deaths", NULL, "agent: a process's death freezes nothing", FLAG,
     &options.no_deaths},
    {"hang", "SECONDS", "agent: the least hang that freezes: 10; 0: none", TIME,
     &options.hang_ns},
    {"save-limit", "SECONDS", "agent: for saving a process: 60", TIME,
     &options.save_ns},
    ROW(recorder, TEXT, "FILE", "agent: the recorder command"),
    ROW(metrics, TEXT, "FILE", "agent: its figures, for Prometheus"),
    {"log-json", NULL, "agent: a line of JSON for each message", FLAG,
     &options.log_json},
    ROW(why, TEXT, "TEXT", "freeze: the reason"),
    ROW(wait, TIME, "SECONDS", "freeze: until all is stored: 30"),
    ROW(output, TEXT, "DIR", "fetch, find: the folder of the files"),
    ROW(otlp, TEXT, "FILE", "find: OTLP in JSON, in place of the tree"),
    ROW(largest, SIZE, "SIZE", "fetch: unpacked bytes in all: 8G"),
    ROW(verbose, FLAG, NULL, "list: a line for each process"),
    ROW(max, TEXT, "SIZE", "bucket: bytes at most: 10G"),
    ROW(age, TEXT, "TIME", "bucket: their longest age: 7d"),
    ROW(replicas, TEXT, "N", "bucket: servers that keep it: 1"),
    {"automatic", "N/SECONDS", "bucket: triggers and deaths of all: 12/3600",
     AUTOMATIC, NULL},
    ROW(join, TIME, "SECONDS", "bucket: requests that are one snapshot: 30")};
#undef ROW
enum { ROWS = sizeof rows / sizeof *rows, FIRST = 256 };

static void help(void)
{
    puts("usage: recorder-fleet agent --service NAME --spool DIR [options]\n"
         "       recorder-fleet freeze SERVICE --why TEXT [options]\n"
         "       recorder-fleet list SERVICE [-v] [options]\n"
         "       recorder-fleet fetch SERVICE SNAPSHOT -o DIR [options]\n"
         "       recorder-fleet find SERVICE SNAPSHOT ID -o DIR [options]\n"
         "       recorder-fleet pin SERVICE SNAPSHOT, or unpin [options]\n"
         "       recorder-fleet who SERVICE [options]\n"
         "       recorder-fleet bucket SERVICE [--max 10G] [--age 7d]\n\n"
         "Keeps the last seconds of all processes of a service, on all hosts: "
         "for a freeze,\neach agent copies the records of its processes, and "
         "stores them at the hub, a NATS\nserver with JetStream. The processes "
         "continue to record. recorder dump, view and\nexport read the files "
         "that fetch writes. Exit status: 0; 1 for trouble, also if a\n"
         "snapshot is incomplete; 2 for misuse. More is in docs/fleet.md.\n");
    for (int i = 0; i < ROWS; i++)
        if (rows[i].help)
            printf("  --%s %-*s %s\n", rows[i].name,
                   (int)(20 - strlen(rows[i].name)),
                   rows[i].argument ? rows[i].argument : "", rows[i].help);
}

_Noreturn static void misuse(const char *what)
{
    say("%s; recorder-fleet --help tells more", what);
    exit(2);
}

bool quantity(const char *text, const char *units, const uint64_t *each,
              uint64_t *to)
{
    char *end;
    const char *unit;
    errno = 0;
    *to = strtoull(text, &end, 10);
    unit = strchr(units, *end); /* its end, where there is none */
    if (!isdigit((unsigned char)*text) || errno || !unit || (*end && end[1]))
        return false;
    each += unit - units;
    if (!*each || *to > INT64_MAX / *each)
        return false;
    *to *= *each;
    return true;
}

static uint64_t bytes_of(const char *text)
{
    static const uint64_t each[] = {1 << 10, 1 << 20, 1 << 30,
                                    UINT64_C(1) << 40, 1};
    uint64_t bytes;
    if (!quantity(text, "KMGT", each, &bytes))
        misuse("a size is a number and K, M, G or T");
    return bytes;
}

static uint64_t ns_of(const char *text)
{
    static const uint64_t each = SECOND;
    uint64_t ns;
    if (!quantity(text, "", &each, &ns))
        misuse("a time is a number of seconds");
    return ns;
}

/* "12/3600", or "12" an hour. */
static void automatic_take(const char *text)
{
    static const uint64_t each = 1;
    const char *slash = strchr(text, '/');
    char number[32];
    snprintf(number, sizeof number, "%.*s", (int)strcspn(text, "/"), text);
    if (!quantity(number, "", &each, &options.automatic) ||
        !options.automatic || options.automatic > 1000)
        misuse("--automatic takes a number of 1 to 1000, or N/SECONDS");
    if (slash)
        options.automatic_ns = ns_of(slash + 1);
}

static void option_take(const struct row *row, char *value)
{
    switch (row->kind) {
    case TEXT: *(const char **)row->to = value; break;
    case FLAG: *(bool *)row->to = true; break;
    case SIZE: *(uint64_t *)row->to = bytes_of(value); break;
    case TIME: *(uint64_t *)row->to = ns_of(value); break;
    case AUTOMATIC: automatic_take(value); break;
    case HELP: help(), exit(0);
    }
}

static void parse(int argc, char **argv)
{
    struct option longs[ROWS + 1];
    int key;
    memset(longs, 0, sizeof longs);
    for (int i = 0; i < ROWS; i++)
        longs[i] = (struct option){.name = rows[i].name,
                                   .has_arg = rows[i].argument != NULL,
                                   .val = FIRST + i};
    opterr = 0;
    while ((key = getopt_long(argc, argv, "o:vh", longs, NULL)) != -1) {
        int i = key < FIRST ? 0 : key - FIRST;
        while (key < FIRST && i < ROWS && *rows[i].name != key)
            i++; /* -o, -v and -h: no other name begins so */
        if (i == ROWS)
            misuse("unknown option, or its argument is missing");
        option_take(&rows[i], optarg);
    }
}

/* Finds the recorder command: beside this one, or in PATH. */
static void command_find(void)
{
    static char path[4096 + 16];
    ssize_t size = readlink("/proc/self/exe", path, 4096);
    char *slash;
    path[size > 0 ? size : 0] = '\0';
    slash = strrchr(path, '/');
    if (slash)
        strcpy(slash + 1, "recorder");
    if (!options.recorder)
        options.recorder = slash && access(path, X_OK) == 0 ? path : "recorder";
}

static int agent_verb(void)
{
    static char host[256], name[65];
    const char *patterns[] = {options.match, options.trigger};
    if (!options.service || !is_name(options.service) || !options.spool)
        misuse("agent needs --service NAME and --spool DIR");
    for (int i = 0; i < 2; i++)
        if (patterns[i] && recorder_regex_check_(patterns[i]))
            misuse("--match and --trigger are regular expressions");
    gethostname(host, sizeof host - 1);
    name_of(name, options.host ? options.host : host);
    options.host = name;
    if (options.log_json) /* one write for each line */
        setvbuf(stderr, NULL, _IOFBF, 8192);
    command_find();
    return fleet_agent();
}

int main(int argc, char **argv)
{
    const char *verb;
    parse(argc, argv);
    argc -= optind;
    argv += optind;
    verb = argc ? argv[0] : "";
    if (strcmp(verb, "help") == 0)
        return help(), 0;
    if (strcmp(verb, "agent") == 0 && argc == 1)
        return agent_verb();
    if (argc < 2 || !is_name(argv[1]))
        misuse(
            "agent; or freeze, list, fetch, find, pin, unpin, who, bucket and "
            "a SERVICE");
    options.service = argv[1];
    options.hosts = options.host;
    if (options.hosts && recorder_regex_check_(options.hosts))
        misuse("--host of freeze and fetch is a regular expression");
    options.labels = options.label;
    if (options.labels && recorder_regex_check_(options.labels))
        misuse("--label of freeze is a regular expression");
    if (strcmp(verb, "fetch") == 0 && argc == 3)
        return fleet_fetch(argv[2], NULL);
    if (strcmp(verb, "find") == 0 && argc == 4 && *argv[3]) {
        command_find();
        return fleet_fetch(argv[2], argv[3]);
    }
    if (strcmp(verb, "pin") == 0 && argc == 3)
        return fleet_pin(argv[2]);
    if (strcmp(verb, "unpin") == 0 && argc == 3)
        return fleet_unpin(argv[2]);
    if (strlen(options.why) > WHY_MAX)
        misuse("--why takes 255 bytes");
    if (argc != 2)
        misuse(
            "fetch, pin and unpin SERVICE SNAPSHOT; find SERVICE SNAPSHOT ID; "
            "the others take a SERVICE");
    return strcmp(verb, "freeze") == 0   ? fleet_freeze()
           : strcmp(verb, "list") == 0   ? fleet_list()
           : strcmp(verb, "who") == 0    ? fleet_who()
           : strcmp(verb, "bucket") == 0 ? fleet_bucket()
                                         : (misuse("unknown verb"), 2);
}
