/* recorder-fleet: the schema and the queries of the manual, in ClickHouse. */
/* SPDX-License-Identifier: MIT */
#include "harness/fleet.h"

TestSuite(fleet, .init = fleet_begin, .fini = fleet_end, .timeout = 300);

/* Starts a server with the schema of the manual. */
#define CLICKHOUSE "clickhouse-client --host 127.0.0.1 --port $(cat port) "
static void clickhouse_start(void)
{
    build_needs("clickhouse-server", "clickhouse-client");
    port_make("port");
    port_make("http");
    build_must(
        "cat >ch.xml <<END\n<yandex><logger><level>error</level><log>"
        "ch.log</log><errorlog>ch.err</errorlog></logger><tcp_port>$(cat "
        "port)</tcp_port><http_port>$(cat http)"
        "</http_port><listen_host>127.0.0.1</listen_host><path>./ch/"
        "</path><tmp_path>./ch/tmp/</tmp_path><users_config>users.xml"
        "</users_config><default_profile>default</default_profile>"
        "<default_database>default</default_database><mark_cache_size>"
        "100000000</mark_cache_size></yandex>\nEND\n"
        "cat >users.xml <<END\n<yandex><profiles><default/></profiles>"
        "<users><default><password></password><networks><ip>::/0</ip>"
        "</networks><profile>default</profile><quota>default</quota>"
        "</default></users><quotas><default/></quotas></yandex>\nEND\n"
        "clickhouse-server --config-file=ch.xml >ch.out 2>&1 & echo $! "
        ">>pids; " UNTIL(CLICKHOUSE "-q \"select 1\" 2>said"));
    build_must("awk \"/^-- clickhouse.sql/ { on = 1 } /^\\`\\`\\`/ { on = 0 } "
               "on\" " TEST_ROOT "/docs/fleet-operate.md | " CLICKHOUSE
               "--multiquery");
}

/* Loads recordings by the line of the manual. */
static void clickhouse_load(const char *files)
{
    build_must("columns=$(" RECORDER " export csv %s -o - | head -n 1 | tr "
               "-d \"\\r\" | sed s/,order,/,ord,/); " RECORDER " export csv "
               "%s -o - | " CLICKHOUSE "-q \"insert into event ($columns) "
               "format CSVWithNames\"",
               files, files);
}

/* Goal: the schema and the line of the manual load recordings of several hosts
 * into ClickHouse, and it answers as SQLite does. Method: both are asked the
 * manual's kinds of questions. */
Test(fleet, clickhouse_answers_as_sqlite_does)
{
    pid_t pid;
    clickhouse_start();
    pid = program_start("here/command everything in.txt");
    build_must(RECORDER " save %d -o a.rec --label host=web1 --label "
                        "service=shop --label error_ns=5 --label taken_ns=17",
               pid);
    pid = program_start("here/command quiet");
    build_must(RECORDER " save %d -o b.rec --label host=web2", pid);
    clickhouse_load("*.rec");
    command_must("export sqlite *.rec -o all.db");
    build_must(CLICKHOUSE
               "-q \"select host, format, count() from event group by"
               " host, format order by host, format\" | tr \"\\t\" \"|\" >one");
    build_must(
        "set -e; sqlite3 all.db \"select host, format.format, count(*) from event join "
        "source on source.id = event.source join format on format.id = "
        "event.format group by 1, 2 order by 1, 2\" >two; grep -c . two;"
        " awk -F \"|\" \"{ n += \\$NF } END { print n }\" one >count; awk "
        "-F \"|\" \"{ n += \\$NF } END { print n }\" two | cmp - count && "
        "test $(cat count) -gt 200");
    build_must(CLICKHOUSE
               "-q \"select host, ord, wall_ns from event where "
               "wall_ns between (select min(wall_ns) from event) and (select "
               "min(wall_ns) + 100000 from event) order by wall_ns, host, ord\""
               " | tr \"\\t\" \"|\" >one; sqlite3 all.db \"select host, ord, "
               "wall_ns from event join source on source.id = event.source "
               "where wall_ns between (select min(wall_ns) from event) and "
               "(select min(wall_ns) + 100000 from event) order by wall_ns, "
               "host, ord\" >two; test -s two && cmp one two");
}

/* Goal: ClickHouse takes a million rows of 60 recordings, all of them. Method:
 * counts and sums by what was recorded. The time is told. */
Test(fleet, clickhouse_takes_a_million_rows, .init = build_long)
{
    clickhouse_start();
    many_build();
    build_must(
        "set -e; mkdir m n; for i in $(seq 60); do RECORDER_FILE=m/$i.rec ./many "
        "17500 && " RECORDER " save m/$i.rec -o n/$i.rec --label service=shop "
        "--label host=web$i; done; date +%%s >began");
    clickhouse_load("n/*.rec");
    build_must("echo $(($(date +%%s) - $(cat began))) s");
    fputs(build_text, stderr);
    build_must(
        CLICKHOUSE
        "-q \"select count(), uniq(host), "
        "sum(toUInt64(argument1)) from event where length(recorder) = 3\" | "
        "tr \"\\t\" \" \" | grep -x \"945000 60 8268750000\" && " CLICKHOUSE
        "-q \"select count() from event\" | grep -x 1050000");
}
