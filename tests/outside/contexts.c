/* RECORDER_CONTEXT: the records of one request; recorder trace. */
/* SPDX-License-Identifier: MIT */
#include "harness/command.h"

TestSuite(contexts, .init = build_begin, .fini = build_end, .timeout = 300);

/* Goal: --request shows exactly the records that a thread made for an id, of
 * each form and name, and no record of other threads. Method: two threads take
 * turns in one ring. */
Test(contexts, a_record_is_of_its_threads_request)
{
    build_must(
        "cat >turns.c <<END\n#include \"recorder_dump.h\"\n"
        "#include <pthread.h>\nRECORDER(context, 256)\nRECORDER(net, 256)\n"
        "static pthread_barrier_t turn;\n"
        "static void *run(void *argument)\n{\n"
        "    int me = *(int *)argument;\n    char text[] = \"a text 0\";\n"
        "    for (int i = 0; i < 20; i++) {\n"
        "        pthread_barrier_wait(&turn);\n"
        "        if (i %% 4 == 0) RECORDER_CONTEXT(\"trace\", 0);\n"
        "        if (i %% 4 == 1) RECORDER_CONTEXT(\"trace\", me + 10 * i);\n"
        "        text[7] = (char)(48 + me);\n"
        "        if (i %% 4 == 2) RECORDER_CONTEXT(\"trace\", text);\n"
        "        if (i == 7) RECORDER_CONTEXT(\"user\", me ? \"alice\" : "
        "\"bob\");\n"
        "        record(net, \"thread=%%d step=%%d\", me, i);\n    }\n"
        "    return 0;\n}\n"
        "int main(void)\n{\n    pthread_t other; int me = 1, it = 0;\n"
        "    pthread_barrier_init(&turn, 0, 2);\n"
        "    pthread_create(&other, 0, run, &me); run(&it);\n"
        "    pthread_join(other, 0); return 0;\n}\nEND\n"
        "gcc -O2 " BUILD_INCLUDE "-o turns turns.c -lpthread && "
        "RECORDER_FILE=t.rec ./turns");
    build_must("shows() { " RECORDER " dump t.rec --names net --request \"$1\" "
               "| sed -n \"s/.*net: thread=//p\" | tr -d \"\\n\" | grep -x "
               "\"$2\" || { " RECORDER " dump t.rec; exit 1; }; }\n"
               "shows 51 \"1 step=5\"\nshows trace=50 \"0 step=5\"\n"
               "shows \"a text 1\" \"1 step=21 step=31 step=61 step=71 step=101 "
               "step=111 step=141 step=151 step=181 step=19\"\n"
               "shows user=bob \"0 step=70 step=80 step=90 step=100 step=110 "
               "step=120 step=130 step=140 step=150 step=160 step=170 step=180 "
               "step=19\"\n"
               "for id in none user 99 trace=bob; do\n"
               "    ! " RECORDER " dump t.rec --request $id >all 2>said || exit\n"
               "    grep \"no record belongs to the request $id\" said || "
               "exit\n"
               "    ! " RECORDER " export csv t.rec t.rec --request $id -o csv "
               "2>said && grep \"no record of these sources belongs\" said "
               "&& ! test -e csv || exit\n"
               "done; ! grep net: all");
}

/* Goal: where changes were overwritten, no record gets the id of an older or
 * another change; a warning says so. Method: a thread changes once, then another
 * overwrites that, and both record. */
Test(contexts, an_overwritten_change_is_unknown)
{
    build_must(
        "cat >lost.c <<END\n#include \"recorder_dump.h\"\n"
        "#include <pthread.h>\nRECORDER(context, 8)\nRECORDER(net, 256)\n"
        "static void *other(void *none)\n{\n"
        "    for (int i = 1; i <= 100; i++)\n"
        "        RECORDER_CONTEXT(\"trace\", i);\n"
        "    record(net, \"other\"); return none;\n}\n"
        "int main(void)\n{\n    pthread_t thread;\n"
        "    RECORDER_CONTEXT(\"trace\", 7);\n"
        "    record(net, \"first\");\n"
        "    pthread_create(&thread, 0, other, 0);\n"
        "    pthread_join(thread, 0);\n    record(net, \"unknown\");\n"
        "    RECORDER_CONTEXT(\"trace\", 7);\n    record(net, \"known\");\n"
        "    return 0;\n}\nEND\n"
        "gcc -O2 " BUILD_INCLUDE "-o lost lost.c -lpthread && "
        "RECORDER_FILE=l.rec ./lost");
    build_must(RECORDER " dump l.rec --request 7 >seven 2>said; cat seven; "
                        "test \"$(grep -c net: seven)\" = 1 && grep -q "
                        "\"net: known\" seven && grep \"has overwritten\" said");
    build_must(RECORDER " dump l.rec --request 100 2>&1 | grep \"net: other\"");
    build_must("! " RECORDER
               " dump l.rec --names net --request 100 2>&1 | grep "
               "\"net: .*known\"");
}

/* Goal: of requests over three of ten hosts, each that is chosen afterwards is
 * whole: its tree has each hop below the hop that sent it, and OTLP has the same
 * spans; a recording tells without being read whether it may have an id. */
Test(contexts, a_request_is_a_tree_over_hosts)
{
    build_must("gcc -O2 -DCONTEXTS=2048 " BUILD_INCLUDE "-o hops " BUILD_PROGRAMS
               "/hops.c && for i in 0 1 2 3 4 5 6 7 8 9; do RECORDER_FILE=h "
               "./hops $i 1000 10 >said && " RECORDER
               " save h -o h$i.rec --label host=web$i && rm h || exit 1; done");
    build_must(
        "for i in 0 123 456 789 999; do id=$(printf %%016x%%016x 7 $((i + 1)));"
        " " RECORDER " trace $id h?.rec >tree && " RECORDER
        " trace $id h?.rec --otlp otlp && cat tree && python3 - $i $id <<END "
        "|| exit 1\n"
        "import json, re, sys\n"
        "i, id = int(sys.argv[1]), sys.argv[2]\n"
        "hosts = re.findall(r\"  hops  (web.)\", open(\"tree\").read())\n"
        "assert hosts == [\"web%%d\" %% ((i + k) %% 10) for k in range(3)], hosts\n"
        "depths = [len(x.split(\"hops  web\")[0]) for x in open(\"tree\") "
        "if \"hops  web\" in x]\n"
        "assert depths[0] < depths[1] < depths[2], depths\n"
        "spans = [s for r in json.load(open(\"otlp\"))[\"resourceSpans\"] "
        "for s in r[\"scopeSpans\"][0][\"spans\"]]\n"
        "assert len(spans) == 8 and {s[\"traceId\"] for s in spans} == {id}\n"
        "by = {s[\"spanId\"]: s for s in spans}\n"
        "assert len(by) == 8, by\n"
        "roots = [s for s in spans if s[\"parentSpanId\"] not in by]\n"
        "assert len(roots) == 1 and roots[0][\"kind\"] == 2, roots\n"
        "assert all(int(s[\"startTimeUnixNano\"]) <= "
        "int(s[\"endTimeUnixNano\"]) for s in spans)\n"
        "assert sum(len(s[\"events\"]) for s in spans) == 3\n"
        "assert not any(a[\"key\"] == \"recorder.open\" for s in spans "
        "for a in s[\"attributes\"])\nEND\ndone");
    /* The last ids of a ring that is too small for all are whole, too. */
    cr_assert_eq(command("trace %032d h?.rec", 0), 1);
    cr_assert(strstr(build_text, "no record of these sources"), "%s",
              build_text);
    cr_assert_eq(command("trace"), 2);
}

/* Goal: OpenTelemetry's own definitions accept the export. Method: the JSON, by
 * the rules of OTLP (names in lower camel case, ids in hexadecimal), becomes the
 * text that protoc encodes. RECORDER_OTLP is a copy of opentelemetry-proto. */
Test(contexts, opentelemetry_accepts_the_export)
{
    if (!getenv("RECORDER_OTLP"))
        cr_skip("RECORDER_OTLP=DIR: no copy of opentelemetry-proto is named");
    build_needs("protoc");
    build_must("gcc -O2 " BUILD_INCLUDE "-o hops " BUILD_PROGRAMS
               "/hops.c && RECORDER_FILE=h.rec ./hops 0 10 1 && " RECORDER
               " trace 00000000000000070000000000000003 h.rec --otlp otlp");
    build_must("python3 " BUILD_PROGRAMS "/otlp.py <otlp >text");
    for (int i = 0; i < 2; i++)
        build_must("protoc -I \"$RECORDER_OTLP\" --%s="
                   "opentelemetry.proto.trace.v1.TracesData "
                   "opentelemetry/proto/trace/v1/trace.proto <%s",
                   i ? "decode" : "encode", i ? "bytes >back" : "text >bytes");
    build_must("test $(grep -c \"trace_id: \" back) = 8 && grep -q "
               "\"parent_span_id: \" back");
}
