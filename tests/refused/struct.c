/* expect: record(): a struct is no argument; record its members */
/* SPDX-License-Identifier: MIT */
#include "recorder.h"
RECORDER(net, 16, "Network")
struct point {
    int x, y;
};
void use(struct point point);
void use(struct point point)
{
#ifdef RIGHT
    record(net, "%d", point.x);
#else
    record(net, "%d", point);
#endif
}
