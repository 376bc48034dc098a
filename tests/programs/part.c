/* A part of a program, or of a library: one recorder, and what it sees. */
/* SPDX-License-Identifier: MIT */
/*
    -DPART=name         the part is called part_name, its recorder name
    -DPART_KEEPS=name   its recorder is called so instead
    -DPART_SHARES       all libraries of the program see its recorder
    -DPART_BORROWS      its recorder is defined elsewhere

    Compiled as C and as C++.
*/
#include "part.h"
#include "read.h"

#ifndef PART_KEEPS
#define PART_KEEPS PART
#endif
#define JOIN(a, b) JOIN_2(a, b)
#define JOIN_2(a, b) a##b

#if defined(PART_BORROWS) || defined(PART_SHARES)
#define DECLARE(name) RECORDER_DECLARE_SHARED(name)
DECLARE(PART_KEEPS)
#endif
#ifndef PART_BORROWS
RECORDER(PART_KEEPS, 64, "A recorder of a part");
#endif

static uintptr_t part_keep(int value)
{
    return record(PART_KEEPS, "%d", value);
}

static uintptr_t early;
__attribute__((constructor)) static void part_start(void)
{
    early = record(PART_KEEPS, "%d", -1);
}
static uintptr_t part_early(void) { return early; }

static unsigned part_thread(void) { return RECORDER_THREAD(); }

static void *part_registry(void)
{
    return recorder_home_.registry;
}

static int part_found(uintptr_t order, int value)
{
    struct recorder_record found;
    return read_order(order, &found) && found.argument[0] == (uintptr_t)value;
}

#ifdef __cplusplus
extern "C" {
#endif
__attribute__((visibility("default"))) extern const struct part JOIN(part_,
                                                                     PART);
const struct part JOIN(part_, PART) = {part_keep,     part_early,  part_thread,
                                       part_registry, read_listed, part_found};
#ifdef __cplusplus
}
#endif
