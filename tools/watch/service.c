/* service.c - a command that runs as a service of systemd. */
/* SPDX-License-Identifier: MIT */
#include "watch.h"

#include <sys/socket.h>
#include <sys/un.h>

void service_notify(const char *state)
{
    const char *path = getenv("NOTIFY_SOCKET");
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    size_t size = path ? strlen(path) : 0;
    int fd;
    if (!size || size >= sizeof to.sun_path)
        return;
    memcpy(to.sun_path, path, size);
    if (*path == '@') /* an abstract name */
        to.sun_path[0] = '\0';
    fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return;
    sendto(fd, state, strlen(state), MSG_NOSIGNAL | MSG_DONTWAIT,
           (struct sockaddr *)&to,
           (socklen_t)(offsetof(struct sockaddr_un, sun_path) + size));
    close(fd);
}
