/* mappings.c - mappings at addresses of earlier ones; recursion. */
/* SPDX-License-Identifier: MIT */
/* a: SIGBUS: .*end of the file */
/* b: stack overflow */
#include "unrelated.h"
#include <fcntl.h>
#include <sys/mman.h>
RECORDER(files, 256, "Files")
static NOINLINE char *map(int fd, size_t n, int loud)
{
    char *at = mmap(NULL, n, PROT_READ, MAP_SHARED, fd, 0);
    if (loud)
        record(files, "map at=%p bytes=%zu fd=%d", A(at), n, fd);
    return at;
}
static NOINLINE int checksum(const char *text, size_t n)
{
    int s = 0;
    for (size_t i = 0; i < n; i += 512)
        s += text[i];
    return s;
}
struct dir {
    int depth;
    struct dir *parent;
    char name[400];
};
static struct dir *volatile deepest;
static NOINLINE int walk(struct dir *parent, int depth)
{
    struct dir d;
    d.parent = parent;
    d.depth = depth;
    deepest = &d;
    memset(d.name, depth, sizeof d.name);
    if (depth < 0)
        return 0;
    return walk(&d, depth + 1) + d.name[depth % 400];
}
int main(int argc, char **argv)
{
    int fd = open("pages.db", O_RDWR | O_CREAT, 0600);
    (void)!ftruncate(fd, 65536);
    for (int i = 0; i < 20; i++) {
        char *m = map(fd, 65536, 1);
        checksum(m, 65536);
        record(files, "unmap at=%p depth=%d", A(m), i);
        munmap(m, 65536);
    }
    if (argv[1][0] == 'a') {
        char *m = map(fd, 65536, 0);
        (void)!ftruncate(fd, 8192);
        return checksum(m, 65536);
    }
    return walk(NULL, 0);
}
