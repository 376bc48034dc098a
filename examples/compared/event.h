/* event.h - the event of compared.cc for LTTng. */
/* SPDX-License-Identifier: MIT */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER compared
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./compared/event.h"
#if !defined(COMPARED_EVENT_H) ||                                         \
    defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define COMPARED_EVENT_H
#include <lttng/tracepoint.h>
LTTNG_UST_TRACEPOINT_EVENT(
    compared, event,
    LTTNG_UST_TP_ARGS(int, bytes, int, of, const char *, peer, int, port),
    LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(int, bytes, bytes)
                            lttng_ust_field_integer(int, of, of)
                                lttng_ust_field_string(peer, peer)
                                    lttng_ust_field_integer(int, port, port)))
#endif
#include <lttng/tracepoint-event.h>
