/* expect: record(): a struct is no argument; record its members */
/* SPDX-License-Identifier: MIT */
#include "recorder.h"
RECORDER(net, 16, "Network")
union number {
    int integer;
    float real;
};
void use(const union number *number);
void use(const union number *number)
{
#ifdef RIGHT
    record(net, "%d %d", 1, number->integer);
#else
    record(net, "%d %d", 1, *number);
#endif
}
