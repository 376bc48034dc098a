/* histogram.c - how long many things took. */
/* SPDX-License-Identifier: MIT */
#include "print.h"

#include "array.h"

void histogram_sort(uint64_t *ns, size_t count)
{
    array_sort(ns, count, array_compare);
}

uint64_t histogram_within(const uint64_t *ns, size_t count, size_t thousandths)
{
    size_t rank = (count * thousandths + 999) / 1000;
    return ns[rank ? rank - 1 : 0];
}

/* A step of a histogram. */
struct step {
    uint64_t from, to;
    size_t count, at; /* of times in it, and up to it */
    int number;
};

/* Goes to the next step that has times. False: there is none. */
static bool step_next(struct step *step, const uint64_t *ns, size_t count)
{
    static const uint64_t steps[] = {1, 2, 5};
    while (step->at < count && step->number < 57) {
        uint64_t unit = 1;
        size_t next;
        for (int i = 0; i < step->number / 3; i++)
            unit *= 10;
        step->from = step->to;
        step->to = unit * steps[step->number++ % 3];
        next = array_count_to(ns, count, sizeof *ns, step->to);
        step->count = next - step->at;
        step->at = next;
        if (step->count)
            return true;
    }
    return false;
}

void histogram_print(const uint64_t *ns, size_t count)
{
    struct step step = {0};
    size_t most = 1;
    char text[2][32];
    while (step_next(&step, ns, count))
        if (step.count > most)
            most = step.count;
    step = (struct step){0};
    while (step_next(&step, ns, count))
        printf("%10s to %-10s %8zu %.*s\n",
               table_time_exact(step.from, text[0]),
               table_time_exact(step.to, text[1]), step.count,
               (int)((40 * step.count + most - 1) / most),
               "########################################");
}

void histogram_json(const uint64_t *ns, size_t count)
{
    struct step step = {0};
    bool any = false;
    for (; step_next(&step, ns, count); any = true)
        printf("%s[%" PRIu64 ",%" PRIu64 ",%zu]", any ? "," : "", step.from,
               step.to, step.count);
}

void histogram_parts_json(const uint64_t *ns, size_t count, const char *middle)
{
    static const size_t thousandths[] = {500, 900, 990, 999};
    const char *const names[] = {middle, "p90", "p99", "p999"};
    for (int i = 0; i < 4; i++)
        printf(",\"%s_ns\":%" PRIu64, names[i],
               histogram_within(ns, count, thousandths[i]));
}
