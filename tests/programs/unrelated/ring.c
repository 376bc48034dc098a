/* ring.c - a ring of messages: ids that equal sizes. */
/* SPDX-License-Identifier: MIT */
/* a: SIGSEGV: .*not mapped */
/* b: may not be written */
#include "unrelated.h"
RECORDER(bus, 256, "Messages")
struct message {
    int id;
    size_t size;
    char *data;
};
struct ring {
    struct message slots[8];
    unsigned head, tail;
};
static struct ring *ring;
static NOINLINE void send_message(int id, size_t size)
{
    struct message *m = &ring->slots[ring->head++ % 8];
    m->id = id;
    m->size = size;
    free(m->data);
    m->data = malloc(size);
    memset(m->data, 1, size);
    record(bus, "send message=%p id=%d size=%zu data=%p", A(m), id, size,
           A(m->data));
}
static NOINLINE size_t receive(char *to)
{
    struct message *m = &ring->slots[ring->tail++ % 8];
    memcpy(to, m->data, m->size < 64 ? m->size : 64);
    record(bus, "receive message=%p id=%d size=%zu", A(m), m->id, m->size);
    return m->size;
}
static char out[4096];
static const char title[32] = "ring of messages";
static NOINLINE char copy_all(const struct message *m, size_t length)
{
    memcpy(out, m->data, length);
    return out[3];
}
static NOINLINE void mark(volatile char *text, int id)
{
    text[0] = (char)id;
}
int main(int argc, char **argv)
{
    ring = calloc(1, sizeof *ring);
    record(bus, "ring=%p", A(ring));
    for (int i = 0; i < 64; i++) {
        send_message(16 + i * 8, (size_t)(16 + i * 8));
        receive(out);
    }
    if (argv[1][0] == 'a') {
        struct message m = ring->slots[3];
        return copy_all(&m, (size_t)m.id << 28);
    }
    mark((char *)title, 24);
    return title[0];
}
