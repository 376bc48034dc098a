/* expect: record(): a long double does not fit a word; cast it to double */
/* SPDX-License-Identifier: MIT */
#include "recorder.h"
RECORDER(net, 16, "Network")
void use(_Complex double z);
void use(_Complex double z)
{
#ifdef RIGHT
    record(net, "%f %f", __real__ z, __imag__ z);
#else
    record(net, "%f", z);
#endif
}
