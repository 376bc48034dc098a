/* qnx_user.c - user events as programs of QNX 6 and later insert them. */
/* SPDX-License-Identifier: MIT */
#include <sys/trace.h>

#include <errno.h>
#include <stdio.h>

/* Says what is wrong, and counts it. */
static int wrong;
#define MUST(is, value)                                                        \
    do {                                                                       \
        int got = (is);                                                        \
        if (got != (value) && ++wrong)                                         \
            printf("%s is %d\n", #is, got);                                    \
    } while (0)

int main(void)
{
    unsigned ints[3] = {1, 2, 0x03030303};
    MUST(trace_logi(_NTO_TRACE_USERFIRST, 3, 5), 0);
    MUST(trace_logf(_NTO_TRACE_USERFIRST + 1, "Hello %d", 3), 8);
    MUST(trace_nlogf(2, 4, "Hello %d", 3), 4);
    MUST(trace_logb(3, ints, 6), 0);
    MUST(TraceEvent(_NTO_TRACE_INSERTSUSEREVENT, 111, 1, 11), 0);
    MUST(TraceEvent(_NTO_TRACE_INSERTCUSEREVENT, 222, ints, 3), 0);
    MUST(TraceEvent(_NTO_TRACE_INSERTUSRSTREVENT, 1023, "Hello world"), 0);
    MUST(TraceEvent(_NTO_TRACE_INSERTEVENT, 0x10, 20, 30, 40), 0);
    MUST(TraceEvent(_NTO_TRACE_STOP), 0);
    MUST(trace_logi(9, 9, 9), 0);
    MUST(TraceEvent(_NTO_TRACE_DELALLCLASSES), 0);
    MUST(TraceEvent(_NTO_TRACE_ADDCLASS, _NTO_TRACE_USER), 0);
    MUST(TraceEvent(_NTO_TRACE_START), 0);
    MUST(TraceEvent(_NTO_TRACE_FLUSHBUFFER), 0);
    errno = 0;
    MUST(trace_logi(1024, 9, 9), -1);
    MUST(errno, EINVAL);
    MUST(trace_logf(-1, "9"), -1);
    MUST(TraceEvent(_NTO_TRACE_INSERTSUSEREVENT, 1024, 9, 9), -1);
    Trace1(0x123401, _TRACE_SW_SEVERITY1, 7);
    MUST(trace_logi(_NTO_TRACE_USERLAST, 0, 0xffffffff), 0);
    return wrong;
}
