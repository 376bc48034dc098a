/* expect: record(): a long double does not fit a word; cast it to double */
/* SPDX-License-Identifier: MIT */
#include "recorder.h"
RECORDER(net, 16, "Network")
template <typename T> void use(T x)
{
    record(net, "%f", x);
}
#ifdef RIGHT
template void use<double>(double);
#else
template void use<long double>(long double);
#endif
