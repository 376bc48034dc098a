/* main.c - recorder: reads flight recorders from outside the program. */
/* SPDX-License-Identifier: MIT */
#include "command.h"
#include "recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* Returns 0 if all of stdout was written, else ends the command. */
static int written(void)
{
    if (fflush(stdout) != 0 || ferror(stdout))
        fail(NULL, "stdout: %s", strerror(errno));
    return 0;
}

int main(int argc, char **argv)
{
    static struct call call;
    const char *name = argc > 1 ? argv[1] : "";
    bool helps;
    int status, fd;
    do /* no file may get the descriptor of a closed stdout */
        fd = open("/dev/null", O_RDONLY);
    while (fd >= 0 && fd <= 2);
    close(fd);
    helps = strcmp(name, "help") == 0;
    if (helps && argc > 2)
        name = argv[2];
    else if (helps || strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        return help_show(NULL), written();
    if (strcmp(name, "--version") == 0) {
        printf("recorder %d.%d.%d\n", RECORDER_VERSION_MAJOR,
               RECORDER_VERSION_MINOR, RECORDER_VERSION_PATCH);
        return written();
    }
    if (strcmp(name, "--man-page") == 0)
        return help_man_page(), written();
    if (strcmp(name, "--bash-completion") == 0)
        return help_completion(), written();
    if (strcmp(name, "fleet") == 0) { /* a command of its own */
        execvp("recorder-fleet", argv + 1);
        fail(NULL, "recorder-fleet: %s: make fleet builds it", strerror(errno));
    }
    call.verb = help_verb(name);
    if (!call.verb)
        misuse(NULL,
               *name ? "%s: no such verb; there are %s"
                     : "%sVERB is missing; there are %s",
               name, help_verbs());
    if (helps)
        return help_show(call.verb), written();
    if (!parse(&call, argc - 1, argv + 1))
        return help_show(call.verb), written();
    if (call.verb->trouble)
        trouble_set(call.verb->trouble);
    selection_parse(&call);
    status = call.verb->run(&call);
    call_close(&call);
    return status ? fflush(stdout), status : written();
}
