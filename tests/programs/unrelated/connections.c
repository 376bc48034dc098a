/* connections.c - pool of connections whose addresses are used again; the life that crashes is not recorded. */
/* SPDX-License-Identifier: MIT */
/* a: null pointer */
/* b: failed assertion: */
#include "unrelated.h"
#include <assert.h>
RECORDER(net, 512, "Connections")
typedef struct conn conn_t;
struct conn {
    int fd;
    int id;
    int state;
    void (*on_read)(conn_t *, int);
    conn_t *next_free;
};
static conn_t pool[4];
static conn_t *free_list;
static int next_id = 1;
static void nop(conn_t *c, int n)
{
    c->state += n;
}
static conn_t *conn_get_quiet(void)
{
    conn_t *c = free_list;
    free_list = c->next_free;
    memset(c, 0, sizeof *c);
    c->id = next_id++;
    c->fd = c->id % 7;
    c->on_read = nop;
    return c;
}
static NOINLINE conn_t *conn_get(void)
{
    conn_t *c = conn_get_quiet();
    record(net, "get conn=%p id=%d fd=%d", A(c), c->id, c->fd);
    return c;
}
static NOINLINE void conn_put(conn_t *c)
{
    record(net, "put conn=%p id=%d", A(c), c->id);
    c->next_free = free_list;
    free_list = c;
}
static NOINLINE void serve(conn_t *c, int n)
{
    assert(c->state >= 0);
    c->on_read(c, n);
    record(net, "served conn=%p n=%d", A(c), n);
}
int main(int argc, char **argv)
{
    for (int i = 0; i < 4; i++) {
        pool[i].next_free = free_list;
        free_list = &pool[i];
    }
    for (int i = 0; i < 60; i++) {
        conn_t *c = conn_get();
        serve(c, i % 5);
        conn_put(c);
    }
    conn_t *c = conn_get_quiet();
    if (argv[1][0] == 'a')
        c->on_read = NULL;
    else
        c->state = -3;
    serve(c, 4);
    return 0;
}
