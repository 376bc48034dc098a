/* metrics.c - an agent's figures in a file, for Prometheus. */
/* SPDX-License-Identifier: MIT */
/*
    The file is in Prometheus' text format 0.0.4, for the textfile collector of
    its node exporter. It appears whole, by rename(), and is as old as the agent's
    last look: a file that gets old is an agent that hangs.
*/
#include "fleet.h"

static uint64_t values[METRICS];
/* By Prometheus' rules for names, "_total" ends a counter's, and "_seconds" one
 * of a time, which is kept in ns here. */
static const struct row {
    const char *name, *help;
} rows[METRICS] = {
    [METRIC_CONNECTED] = {"connected", "1 if the hub is connected."},
    [METRIC_PROCESSES] = {"processes", "Processes with recorders."},
    [METRIC_SNAPSHOTS] = {"snapshots_total", "Snapshots begun."},
    [METRIC_REFUSED] = {"refused_total", "Requests that were refused."},
    [METRIC_SAVE_ERRORS] = {"save_errors_total",
                            "Processes that could not be saved."},
    [METRIC_STORED] = {"stored_total", "Recordings stored at the hub."},
    [METRIC_STORED_BYTES] = {"stored_bytes_total",
                             "Bytes of these, as they were sent."},
    [METRIC_SHIPPED_NS] = {"last_stored_timestamp_seconds",
                           "Time of the newest of these; 0: none."},
    [METRIC_SPOOL_BYTES] = {"spool_bytes", "Bytes that wait for the hub."},
    [METRIC_SPOOL_LIMIT] = {"spool_limit_bytes",
                            "Bytes that may wait, of --keep."},
    [METRIC_ANSWER_NS] = {"hub_answer_seconds",
                          "Time of the hub's last answer to a part of a "
                          "recording; its clock is known to half of that."},
};

void metric_add(enum metric metric, uint64_t count)
{
    __atomic_fetch_add(&values[metric], count, __ATOMIC_RELAXED);
}

void metric_set(enum metric metric, uint64_t value)
{
    __atomic_store_n(&values[metric], value, __ATOMIC_RELAXED);
}

static void metrics_print(FILE *to)
{
    for (int i = 0; i < METRICS; i++) {
        const struct row *row = &rows[i];
        uint64_t value = __atomic_load_n(&values[i], __ATOMIC_RELAXED);
        fprintf(to,
                "# HELP recorder_fleet_%s %s\n# TYPE recorder_fleet_%s %s\n"
                "recorder_fleet_%s{service=\"%s\",host=\"%s\"} ",
                row->name, row->help, row->name,
                strstr(row->name, "_total") ? "counter" : "gauge", row->name,
                options.service, options.host);
        if (strstr(row->name, "_seconds"))
            fprintf(to, "%.9f\n", (double)value / SECOND);
        else
            fprintf(to, "%" PRIu64 "\n", value);
    }
}

void metrics_write(void)
{
    static uint64_t said_ns;
    char path[4096];
    FILE *to;
    bool bad;
    if (!options.metrics)
        return;
    snprintf(path, sizeof path, "%s.new", options.metrics);
    to = fopen(path, "we");
    if (to)
        metrics_print(to);
    bad = !to || ferror(to);
    if ((to && fclose(to) != 0) || bad || rename(path, options.metrics) != 0)
        say_seldom(&said_ns, "%s: %s", options.metrics, strerror(errno));
}
