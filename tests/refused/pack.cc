/* expect: record(): a parameter pack is no list of arguments */
/* SPDX-License-Identifier: MIT */
#include "recorder.h"
RECORDER(net, 16, "Network")
template <typename... T> static void use(T... values)
{
#ifdef RIGHT
    (void)sizeof...(values);
    record(net, "%d %d", 1, 2);
#else
    record(net, "%d %d", values...);
#endif
}
int main()
{
    use(1, 2);
    return 0;
}
