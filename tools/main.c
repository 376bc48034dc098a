/* main.c - recorder: reads flight recorders from outside the program. */
/* SPDX-License-Identifier: MIT */
#include "command.h"
#include "filters.h"
#include "recorder.h"

#include <sys/wait.h>

/* --registry all: runs the verb for each registry, in a separate process, as a
 * verb is run once. Returns the worst status. */
static int run_each(struct call *call)
{
    struct source_how how = {.executable = call_option(call, 'e'),
                             .sysroot = call_option(call, OPTION_SYSROOT)};
    struct source source;
    uint64_t all[sizeof source.all / sizeof *source.all];
    size_t count;
    int worst = 0, status;
    call->name = call->arguments_count ? call->arguments[0] : "";
    if (source_open(&source, call->name, &how))
        fail(call, "%s", source.why);
    count = source.registries < sizeof all / sizeof *all
                ? source.registries
                : sizeof all / sizeof *all;
    memcpy(all, source.all, sizeof all);
    if (source.registries > count)
        warn(call, "it has %zu registries, of which these are the first",
             source.registries);
    source_close(&source);
    for (size_t i = 0; i < count; i++) {
        char address[24];
        snprintf(address, sizeof address, "0x%llx", (unsigned long long)all[i]);
        if (!call_option(call, 'j'))
            printf("%sREGISTRY %s\n", i ? "\n" : "", address);
        fflush(stdout);
        if (fork() == 0) {
            for (int k = 0; k < call->options_count; k++)
                if (call->options[k].key == OPTION_REGISTRY)
                    call->options[k].value = address;
            status = call->verb->run(call);
            call_close(call);
            exit(status ? fflush(stdout), status : stdout_flush(NULL));
        }
        if (wait(&status) < 0 || !WIFEXITED(status))
            worst = 1;
        else if (WEXITSTATUS(status) > worst)
            worst = WEXITSTATUS(status);
    }
    return worst;
}

int main(int argc, char **argv)
{
    static struct call call;
    const char *name = argc > 1 ? argv[1] : "", *registry;
    bool helps;
    int status, fd;
    do /* no file may get the descriptor of a closed stdout */
        fd = open("/dev/null", O_RDONLY);
    while (fd >= 0 && fd <= 2);
    close(fd);
    helps = strcmp(name, "help") == 0;
    if (helps && argc > 2)
        name = argv[2];
    if (helps && strcmp(name, "options") == 0)
        return help_show(name), stdout_flush(NULL);
    if (strcmp(name, "help") == 0 || strcmp(name, "--help") == 0 ||
        strcmp(name, "-h") == 0)
        return help_show(NULL), stdout_flush(NULL);
    if (strcmp(name, "--version") == 0) {
        puts("recorder " RECORDER_VERSION);
        return stdout_flush(NULL);
    }
    if (strcmp(name, "--man-page") == 0)
        return help_man_page(), stdout_flush(NULL);
    if (strcmp(name, "--bash-completion") == 0)
        return help_completion(), stdout_flush(NULL);
    if (strcmp(name, "fleet") == 0) { /* a separate command */
        execvp("recorder-fleet", argv + 1);
        fail(NULL, "recorder-fleet: %s: make fleet builds it", strerror(errno));
    }
    call.verb = help_verb(name);
    if (!call.verb && *name &&
        (access(name, F_OK) == 0 || strspn(name, "0123456789") == strlen(name)))
        misuse(NULL, "%s: VERB is missing: recorder dump %s", name, name);
    if (!call.verb)
        misuse(NULL,
               *name ? "%s: unknown verb; there are %s"
                     : "%sVERB is missing; there are %s",
               name, help_verbs());
    if (helps)
        return help_show(name), stdout_flush(NULL);
    if (!parse(&call, argc - 1, argv + 1))
        return help_show(name), stdout_flush(NULL);
    if (call.verb->trouble)
        trouble_set(call.verb->trouble);
    selection_parse(&call);
    registry = call_option(&call, OPTION_REGISTRY);
    if (registry && call.verb->registries && strcmp(registry, "all") == 0)
        return run_each(&call);
    status = call.verb->run(&call);
    call_filters_check(&call);
    call_close(&call);
    status = trouble_or(status);
    filters_free(call.selection.filters);
    return status ? fflush(stdout), status : stdout_flush(NULL);
}
