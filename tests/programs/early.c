/* Records before main, in constructors of C and initializers of C++. */
/* SPDX-License-Identifier: MIT */
#include "part.h"
#include "read.h"

RECORDER_DECLARE(early_here)
#ifdef __cplusplus
extern "C" {
#endif
extern const struct part part_late; /* linked after this file */
#ifdef __cplusplus
}
#endif

static uintptr_t orders[8];
static unsigned orders_count;

/* Recorders are in the list before any of the program's own code runs. */
static void must_be_listed(void)
{
    MUST(read_listed("early_here") == 1 && read_listed("late") == 1);
}

__attribute__((constructor(102))) static void first(void)
{
    must_be_listed();
    orders[orders_count++] = record(early_here, "%d", 0);
    orders[orders_count++] = part_late.keep(1);
}
__attribute__((constructor)) static void second(void)
{
    orders[orders_count++] = record(early_here, "%d", 2);
    orders[orders_count++] = part_late.keep(3);
}
#ifdef __cplusplus
struct third {
    third()
    {
        must_be_listed();
        orders[orders_count++] = record(early_here, "%d", 4);
        orders[orders_count++] = part_late.keep(5);
    }
    ~third() { MUST(record(early_here, "%d", 6) != 0); }
};
static third one;
enum { COUNT = 6 };
#else
enum { COUNT = 4 };
#endif

/* Whose constructor comes last of this file's. */
RECORDER(early_here, 64, "Defined behind those who use it");

/* What runs at exit is still recorded, and the recorders are still there. */
static void at_exit(void)
{
    struct recorder_record found;
    MUST(read_order(record(early_here, "at exit"), &found));
    must_be_listed();
    puts("ok");
}
__attribute__((destructor)) static void last(void)
{
    struct recorder_record found;
    MUST(read_order(record(early_here, "destructor"), &found));
    must_be_listed();
}

int main(void)
{
    unsigned i;
    MUST(orders_count == COUNT);
    for (i = 0; i < orders_count; i++) {
        struct recorder_record found;
        MUST(i == 0 || orders[i] > orders[i - 1]);
        MUST(read_order(orders[i], &found));
    }
    atexit(at_exit);
    return 0;
}
