/* recorder-fleet: who may do what, and what nobody may. */
/* SPDX-License-Identifier: MIT */
#include "harness/fleet.h"

TestSuite(fleet, .init = fleet_begin, .fini = fleet_end, .timeout = 300);

/* Goal: what is no limit, no number and no server of this host is refused before
 * anything is sent. */
Test(fleet, odd_options_are_refused)
{
    static const struct {
        const char *arguments, *said;
        int status;
    } odd[] = {
        {"bucket shop --max -1M", "-1M: is no number", 1},
        {"bucket shop --max 10", "10: is no number", 1},
        {"bucket shop --max 18446744073709551615M", "is no number", 1},
        {"bucket shop --age 1000000000000d", "is no number", 1},
        {"bucket shop --replicas x", "1 to 5 servers", 1},
        {"agent --service a/b --spool s", "needs --service NAME", 2},
        {"agent --service a --spool s --match \"x(\"", "regular", 2},
        {"bucket shop --automatic 5/", "a number", 2},
        {"bucket shop --automatic -1", "a number", 2},
        {"bucket shop --automatic 0", "a number", 2},
        {"bucket shop --join 0", "at least a second", 1},
        {"freeze shop --host \"x(\"", "regular", 2},
        {"agent --service a --spool s --keep 1X", "a size", 2},
        {"freeze shop --wait 1s", "seconds", 2},
        {"who \"*\"", "a SERVICE", 2},
        {"fetch shop ../x", "is no snapshot", 1},
        {"who shop --server nats://127.0.0.1.example.org", "without tls", 1},
        {"who shop --server nats://localhost.example.org", "without tls", 1},
        {"who shop --server nats://127.0.0.1@example.org:4222", "without tls",
         1},
        {"who shop --server nats://127.0.0.1,nats://192.0.2.1", "without tls",
         1},
        {"who shop --server \"\"", "without tls", 1}};
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        cr_assert_eq(build_run("timeout 20 " FLEET " %s", odd[i].arguments),
                     odd[i].status, "%s: %s", odd[i].arguments, build_text);
        cr_assert_neq(strstr(build_text, odd[i].said), NULL, "%s: %s",
                      odd[i].arguments, build_text);
    }
    build_must("test ! -e s");
}

/* Goal: nobody who may speak makes an agent or a reader write where they should
 * not, take memory, or believe what is damaged. */
Test(fleet, hostile_requests_and_objects, .init = build_long)
{
    static const char *const requests[] = {"{\\\"id\\\":\\\"../../x\\\"}",
                                           "{\\\"id\\\":\\\"a/b\\\"}",
                                           "{\\\"id\\\":\\\"..\\\"}",
                                           "{\\\"id\\\":7, \\\"why\\\":[]",
                                           "{\\\"id\\\":null}",
                                           "no json",
                                           "long",
                                           ""};
    static const struct {
        const char *process, *more, *said;
    } objects[] = {
        {"../../x", "\\\"nuid\\\":\\\"x\\\",\\\"chunks\\\":1", NULL},
        {"..", "\\\"nuid\\\":\\\"x\\\",\\\"chunks\\\":1", NULL},
        {"p.1", "\\\"nuid\\\":\\\"../x\\\",\\\"chunks\\\":1", NULL},
        {"p.2",
         "\\\"nuid\\\":\\\"x\\\",\\\"chunks\\\":2147483648,\\\"size\\\":9",
         "longer than its index entry|no zstd data"},
        {"p.3", "\\\"nuid\\\":\\\"none\\\",\\\"chunks\\\":4,\\\"size\\\":9",
         "chunk 1 of 4 is missing"},
        {"p.4", "\\\"nuid\\\":\\\"x\\\",\\\"chunks\\\":0",
         "its digest is wrong"}};
    fleet_start();
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++)
        build_must(CLIENT("request", "recorder.freeze.shop \"%s\""),
                   requests[i]);
    build_must(
        "test ! -e x && test ! -e a && ls -A spool-web1 | wc -l | grep -x"
        " 0 && kill -0 $(cat web1.pid)");
    /* The same id twice is one snapshot. */
    build_must("set -e; for i in 1 2; do " CLIENT(
        "request", "recorder.freeze.shop") " \"{\\\"id\\\":\\\"twice\\\"}\"; "
                                           "done | grep -c web1 | grep -x "
                                           "2; " UNTIL(FLEET
                                                       " list shop -v " HUB
                                                       "| grep -c command | "
                                                       "grep -x 2"));
    /* The longest id is one, and so is one that ends as a file does. */
    for (int i = 0; i < 2; i++) {
        static const char *const ids[] = {
            "x.rec.zst",
            "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"};
        build_must(
            CLIENT("request", "recorder.freeze.shop") " \"{\\\"id"
                                                      "\\\":\\\"%s"
                                                      "\\\"}\" && " UNTIL(
                                                          FLEET " list shop "
                                                                "-v " HUB
                                                                "| grep -A 2 "
                                                                "\"^%s \" | "
                                                                "grep -c "
                                                                "command | "
                                                                "grep -x 2"),
            ids[i], ids[i]);
        build_must(FLEET " fetch shop %s -o in%d " HUB "| wc -l | grep -x 2",
                   ids[i], i);
    }
    /* An answer goes to no stream, wherever the request wants it. */
    build_must(CLIENT(
        "reply",
        "recorder.freeze.shop") " \"{\\\"who\\\":1}\" "
                                "recorder.store.shop.web1.index.k; sleep "
                                "0.3; " CLIENT(
                                    "read",
                                    "recorder-index-shop") " | grep -c index.k "
                                                           "| grep -x "
                                                           "0");
    build_must(CLIENT("put", "recorder.store.shop.h.data.x") " \"some bytes, "
                                                             "not packed\" "
                                                             "x.0");
    /* 100 MB of zeros, and an entry that tells the truth of them, and a lie. */
    build_must(
        "set -e; head -c 100000000 /dev/zero | zstd -q >bomb; test $(wc -c "
        "<bomb) -lt 20000; " CLIENT(
            "put",
            "recorder.store.shop.h.data.b") " @bomb b.0; for i in "
                                            "100000000 1000; do "
                                            "echo "
                                            "\"{\\\"host\\\":\\\"h\\\","
                                            "\\\"snapshot\\\":"
                                            "\\\"bomb$i\\\",\\\"recordings\\\":"
                                            "[{\\\"process\\\":"
                                            "\\\"p.1\\\",\\\"nuid\\\":"
                                            "\\\"b\\\",\\\"chunks\\\":1,"
                                            "\\\"size\\\":$(wc -c "
                                            "<bomb),\\\"bytes\\\":$i}]}\" "
                                            ">e; " CLIENT(
                                                "put",
                                                "recorder.store.shop.h.index."
                                                "bomb$i") " @e; done");
    cr_assert_eq(build_run(FLEET " fetch shop bomb1000 -o in " HUB "2>&1"), 1);
    cr_assert_neq(strstr(build_text, "more than its index entry says"), NULL,
                  "%s", build_text);
    cr_assert_eq(build_run(FLEET " fetch shop bomb100000000 -o in --largest "
                                 "50M " HUB "2>&1"),
                 1);
    cr_assert_neq(strstr(build_text, "larger than --largest"), NULL, "%s",
                  build_text);
    build_must("rm -rf in; " FLEET " fetch shop bomb100000000 -o in --largest "
               "200M " HUB "2>&1 | grep \"digest is wrong\"");
    for (size_t i = 0; i < sizeof objects / sizeof *objects; i++)
        build_must(
            CLIENT(
                "put",
                "recorder.store.shop.h.index.s1") " \"{\\\"host\\\":\\\"h\\\","
                                                  "\\\"snapshot\\\":\\\"s1\\\","
                                                  "\\\"recordings\\\":[{"
                                                  "\\\"process\\\":\\\"%s\\\",%"
                                                  "s,"
                                                  "\\\"digest\\\":\\\"no\\\"}]}"
                                                  "\"",
            objects[i].process, objects[i].more);
    /* Entries of another host or snapshot, and no entries. */
    build_must(
        "for i in \"{\\\"host\\\":\\\"web1\\\",\\\"snapshot\\\":"
        "\\\"s1\\\",\\\"recordings\\\":[{\\\"process\\\":\\\"q\\\","
        "\\\"error\\\":\\\"x\\\"}]}\" \"{}\" \"[]\" \"\" \"{\\\"host\\\":"
        "\\\"h\\\",\\\"snapshot\\\":\\\"s1\\\",\\\"recordings\\\":7}\" "
        "\"{\\\"host\\\":\\\"h\\\",\\\"snapshot\\\":\\\"s1\\\","
        "\\\"recordings\\\":[7,null,[],{}]}\"; do " CLIENT(
            "put",
            "recorder.store.shop.h.index.s1") " \"$i\" || exit 1; done; " FLEET
                                              " list shop -v " HUB
                                              ">list; ! grep \" q \" list");
    /* A process that is there twice is one. */
    build_must("for i in 1 2; do " CLIENT(
        "put",
        "recorder.store.shop.h.index.s3") " \"{\\\"host\\\":\\\"h\\\","
                                          "\\\"snapshot\\\":\\\"s3\\\","
                                          "\\\"recordings\\\":[{\\\"process"
                                          "\\\":\\\"p.9\\\",\\\"nuid\\\":\\\"x$"
                                          "i\\\",\\\"size\\\":"
                                          "${i}000}]}\"; done; " FLEET
                                          " list shop -v " HUB
                                          ">list; test $(grep -c p.9 list) = 1 "
                                          "&& grep -q \"p.9  *2.0 kB\" "
                                          "list");
    build_must("printf \"\\033[31m\" >esc; " CLIENT(
        "put",
        "recorder.store.shop.h.index.s2") " \"{\\\"host\\\":\\\"h\\\","
                                          "\\\"snapshot\\\":\\\"s2\\\","
                                          "\\\"why\\\":\\\"a\\u001b[31m\\\","
                                          "\\\"recordings\\\":[{"
                                          "\\\"process\\\":\\\"p\\\","
                                          "\\\"error\\\":"
                                          "\\\"x\\\"}]}\"; " FLEET
                                          " list shop " HUB
                                          ">list; ! grep -q \"$(printf "
                                          "\"\\033\")\" list && grep -q "
                                          "\"s2 .*a.x1b\" list");
    cr_assert_eq(build_run(FLEET " fetch shop s1 -o in " HUB "2>said"), 1);
    for (size_t i = 0; i < sizeof objects / sizeof *objects; i++)
        if (objects[i].said)
            build_must(
                "cat said; grep -qE \"^recorder-fleet: h/%s: .*(%s)\" said",
                objects[i].process, objects[i].said);
    build_must("ls -A in | wc -l | grep -x 0 && test ! -e x");
    /* Two agents must not have one name. */
    agent_start("web2", "--host web1");
    build_must(FLEET " freeze shop --why x --wait 1 " HUB
                     "2>&1 | grep \"web1: several "
                     "agents have this name\"");
}

/* Goal: the rights of docs/fleet-operate.md hold, and TLS lets in nobody
 * else. Method: certificates are made by openssl; the configuration is that of
 * the manual, word by word. */
#define CERT(name, issuer)                                                     \
    "openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes "          \
    "-keyout " name ".key -subj /CN=" name " -addext subjectAltName=DNS:" name \
    ",IP:127.0.0.1 -out " name ".csr "                                         \
    "2>/dev/null && openssl x509 -req -in " name ".csr -CA " issuer ".pem "    \
    "-CAkey " issuer ".key -CAcreateserial -copy_extensions copy -days 2 "     \
    "-out " name ".pem 2>/dev/null"
#define AS(name)                                                               \
    "--server tls://127.0.0.1:$(cat port) --ca ca.pem --cert " name ".pem "    \
    "--key " name ".key "
/* Starts the hub of the manual, with its users, a bucket and an agent. */
static void rights_start(void)
{
    build_must("for i in ca other; do openssl req -x509 -newkey ec -pkeyopt "
               "ec_paramgen_curve:P-256 -nodes "
               "-keyout $i.key -subj /CN=$i -days 2 -out $i.pem 2>/dev/null; "
               "done");
    build_must(
        CERT("hub", "ca") " && " CERT("agent-shop-web1", "ca") " && " CERT(
            "agent-shop-web2",
            "ca") " && " CERT("reader-shop",
                              "ca") " && " CERT("operator",
                                                "ca") " && " CERT("stranger",
                                                                  "other"));
    port_make("port");
    build_must(
        "awk \"/^# hub.conf/ { on = 1 } /^\\`\\`\\`/ { on = 0 } "
        "on\" " TEST_ROOT "/docs/fleet-operate.md | sed \"s,listen: .*,listen: "
        "127.0.0.1:$(cat port),; s,/var/lib/recorder-hub,$PWD/js,; "
        "s,/etc/recorder/,,g\" >hub.conf; grep -q verify_and_map hub.conf "
        "&& (nats-server -c hub.conf >hub.log 2>&1 & echo $! >>pids)");
    build_must(UNTIL("grep -q \"Server is ready\" hub.log"));
}
static void rights_agent(const char *host)
{
    build_must("(" FLEET " agent --service shop --host %s --spool spool-%s "
               "--match \"$PWD/here/.*\" " AS(
                   "agent-shop-%s") ">%s.log 2>&1 & "
                                    "echo $! >>pids); " UNTIL(
                                        "grep -q \"agent of\" %s.log"),
               host, host, host, host, host, host);
}

Test(fleet, rights_are_what_the_manual_says, .init = build_long)
{
    rights_start();
    cr_assert_eq(build_run(FLEET " bucket shop " AS("reader-shop")), 1);
    cr_assert_eq(build_run(FLEET " bucket shop " AS("agent-shop-web1")), 1);
    build_must(FLEET " bucket shop --max 50M " AS("operator"));
    program_start("here/command quiet");
    rights_agent("web1");
    build_must(FLEET " freeze shop --why x " AS(
        "reader-shop") ">said; cat said; "
                       "grep -q \"1 stored\" said");
    build_must(FLEET
               " fetch shop $(cut -d \" \" -f 2 said | tr -d :) -o in " AS(
                   "reader-shop"));
    /* An agent reads nothing; a reader stores nothing, which is said. */
    cr_assert_eq(build_run(FLEET " list shop " AS("agent-shop-web1")), 1);
    build_must("(" FLEET " agent --service shop --host web2 --spool spool2 "
               "--match \"$PWD/here/.*\" " AS(
                   "reader-shop") ">web2.log 2>&1 & "
                                  "echo $! >>pids); " UNTIL(
                                      "grep -qi \"permissions violation\" "
                                      "web2.log"));
    /* Another authority's certificate, none, and no TLS. */
    cr_assert_eq(build_run(FLEET " who shop " AS("stranger")), 1);
    cr_assert_eq(build_run(FLEET " who shop --server tls://127.0.0.1:$(cat "
                                 "port) --ca ca.pem"),
                 1);
    cr_assert_eq(build_run(FLEET " who shop " HUB), 1);
    /* Another server with a certificate of our authority, for another name. */
    cr_assert_eq(build_run(FLEET " who shop --server tls://localhost:$(cat "
                                 "port) --ca ca.pem --cert reader-shop.pem "
                                 "--key reader-shop.key 2>&1"),
                 1);
    cr_assert_neq(strstr(build_text, "hostname mismatch"), NULL, "%s",
                  build_text);
    /* An agent says so, and ends: what is in its spool is for the next. */
    cr_assert_eq(build_run("timeout 60 " FLEET " agent --service shop --spool "
                           "spool3 --match none " AS("stranger") "2>&1"),
                 1);
    cr_assert_neq(strstr(build_text, "is given up"), NULL, "%s", build_text);
    cr_assert_eq(build_run("timeout 60 " FLEET " agent --service shop --spool "
                           "spool3 --match none " AS(
                               "agent-shop-web1") "--ca other.pem 2>&1"),
                 1);
    cr_assert_neq(strstr(build_text, "SSL handshake error"), NULL, "%s",
                  build_text);
    cr_assert_eq(build_run(FLEET " who shop --server nats://192.0.2.1:4222"),
                 1);
    cr_assert_neq(strstr(build_text, "without tls://"), NULL, "%s", build_text);
}

/* Goal: no user has a right that it should not have. Method: each user of the
 * manual tries what belongs to others, with headers and answers that turn the
 * hub into a deputy; the one thing that an agent may do is tried, too, so that
 * the client is known to tell both. Then all that was stored is unchanged. */
static const char *const agents_try[] = {
    "publish recorder.store.shop.web2.index.s1 - - x",
    "publish recorder.store.shop.web2.data.x - - x",
    "publish recorder.store.shop.web2.host - - x",
    "publish recorder.store.other.web1.index.s1 - - x",
    "publish recorder.claim.shop.web2 - - {\\\"id\\\":\\\"x1\\\"}",
    "publish recorder.claim.other.web1 - - {\\\"id\\\":\\\"x1\\\"}",
    "publish recorder.auto.shop.web1 - - {\\\"id\\\":\\\"x2\\\"}",
    "publish recorder.freeze.shop - - {\\\"id\\\":\\\"x3\\\"}",
    "publish recorder.freeze.other - - {\\\"id\\\":\\\"x4\\\"}",
    "publish recorder.request.shop - - {\\\"id\\\":\\\"x8\\\"}",
    "publish recorder.store.shop.web1.index.s1 Nats-Rollup all x",
    "publish recorder.store.shop.web1.index.s1 Nats-Rollup sub x",
    "publish recorder.store.shop.web1.data.x Nats-Rollup all x",
    "publish recorder.pin.shop.web1.index.s1 - - x",
    "publish _INBOX.shop.reader.x - - x",
    "subscribe >",
    "subscribe _INBOX.>",
    "subscribe _INBOX.*",
    "subscribe _INBOX.shop.reader.>",
    "subscribe _INBOX.shop.agent.web2.>",
    "subscribe recorder.>",
    "subscribe recorder.store.shop.>",
    "subscribe recorder.store.shop.web1.>",
    "subscribe recorder.claim.shop.*",
    "subscribe recorder.freeze.other",
    "subscribe \\$JS.API.>",
    NULL};
static const char *const readers_try[] = {
    "publish recorder.pin.shop.web1.index.s1 - - x",
    "publish recorder.store.shop.web1.index.s1 - - x",
    "publish recorder.store.shop.web1.data.x Nats-Rollup all x",
    "publish recorder.claim.shop.web1 - - {\\\"id\\\":\\\"x5\\\"}",
    "publish recorder.auto.shop.web1 - - {\\\"id\\\":\\\"x6\\\"}",
    "publish recorder.freeze.other - - {\\\"id\\\":\\\"x7\\\"}",
    "publish \\$JS.API.DIRECT.GET.recorder-data-other - - {\\\"seq\\\":1}",
    "publish \\$JS.API.DIRECT.GET.recorder-request-shop - - {\\\"seq\\\":1}",
    "publish recorder.request.other - - {\\\"id\\\":\\\"x9\\\"}",
    "publish \\$JS.API.STREAM.INFO.recorder-index-other - - ",
    "publish \\$JS.API.STREAM.INFO.recorder-data-shop - - ",
    "subscribe >",
    "subscribe _INBOX.>",
    "subscribe _INBOX.shop.agent.>",
    "subscribe _INBOX.other.reader.>",
    "subscribe recorder.store.shop.>",
    "subscribe recorder.freeze.shop",
    "subscribe recorder.freeze.other",
    NULL};
/* For agents and readers, of each stream. */
static const char *const api[] = {
    "STREAM.DELETE.%s",      "STREAM.PURGE.%s",
    "STREAM.UPDATE.%s",      "STREAM.CREATE.%s",
    "STREAM.MSG.DELETE.%s",  "STREAM.MSG.GET.%s",
    "STREAM.SNAPSHOT.%s",    "STREAM.RESTORE.%s",
    "CONSUMER.CREATE.%s",    "CONSUMER.CREATE.%s.c.recorder",
    "CONSUMER.LIST.%s",      "CONSUMER.DURABLE.CREATE.%s.c",
    "CONSUMER.MSG.NEXT.%s.c"};
static void tries_write(const char *const *lines, bool may_read)
{
    build_must("rm -f tries");
    for (int i = 0; lines[i]; i++)
        build_must("echo \"%s\" >>tries", lines[i]);
    build_must("cat >api <<\\END\nSTREAM.NAMES\nSTREAM.LIST\nINFO\nEND");
    for (size_t i = 0; i < sizeof api / sizeof *api; i++)
        build_must("for i in data index budget pin request; do echo %s | sed "
                   "s/%%s/recorder-$i-shop/ >>api; done",
                   api[i]);
    if (!may_read)
        build_must(
            "for i in data index budget pin; do echo DIRECT.GET.recorder-$i-"
            "shop; done >>api; for i in data index budget pin request; do echo "
            "STREAM.INFO.recorder-$i-shop; done >>api");
    build_must("sed \"s/.*/publish \\$JS.API.& - - {}/\" api >>tries");
}
#define TRY(user, inbox, file)                                                 \
    "./fleet try tls://127.0.0.1:$(cat port) " user " " inbox " " file
Test(fleet, each_user_against_each_right, .init = build_long)
{
    rights_start();
    build_must("for i in shop other; do " FLEET
               " bucket $i --max 50M " AS("operator") "|| exit 1; done");
    program_start("here/command quiet");
    rights_agent("web1");
    rights_agent("web2");
    build_must(UNTIL(FLEET " who shop " AS("reader-shop") ">who; grep -q "
                                                          "\"^web1  *1 \" who "
                                                          "&& grep -q \"^web2 "
                                                          " *1 \" who"));
    build_must("set -e; " FLEET " freeze shop --why x " AS(
        "reader-shop") ">said; cat said; grep -q \"; 2 stored\" said; cut "
                       "-d \" \" -f 2 said | tr -d : >id; " FLEET
                       " list shop -v " AS("reader-shop") ">before");
    tries_write(agents_try, false);
    build_must(TRY(
        "agent-shop-web1", "_INBOX.shop.agent.web1",
        "tries") " >did;"
                 " cat did; test $(grep -c ^refused did) = $(grep -c . tries)");
    tries_write(readers_try, true);
    build_must(
        TRY("reader-shop", "_INBOX.shop.reader",
            "tries") " >did; cat "
                     "did; test $(grep -c ^refused did) = $(grep -c . tries)");
    /* Nobody may purge, delete messages, or roll up. */
    build_must("for i in data index; do for k in PURGE MSG.DELETE; do echo "
               "\"publish \\$JS.API.STREAM.$k.recorder-$i-shop - - "
               "{\\\"seq\\\":1}\"; done; echo \"publish "
               "recorder.store.shop.web1.$i.x Nats-Rollup all x\"; done "
               ">tries; " TRY("operator", "_INBOX.x",
                              "tries") " >did; cat did; "
                                       "test $(grep -c ^refused did) = 6");
    /* An agent in its space, and the hub as a deputy. */
    build_must("id=$(cat id); echo \"publish recorder.store.shop.web1.data.x - "
               "- x\" >tries; " TRY("agent-shop-web1", "_INBOX.shop.agent.web1",
                                    "tries") " | grep ^allowed");
    build_must(
        "for i in index.$(cat id) data.x host; do echo \"reply "
        "recorder.store.shop.web1.data.y recorder.store.shop.web2.$i x\"; "
        "done >tries; echo \"reply recorder.store.shop.web1.index.$(cat id) "
        "recorder.claim.shop.web2 x\" >>tries; " TRY(
            "agent-shop-web1", "_INBOX.shop.agent.web1", "tries"));
    build_must(
        "for seq in 1 2 3 4; do for host in web1 web2; do echo \"reply "
        "\\$JS.API.DIRECT.GET.recorder-index-shop "
        "recorder.store.shop.$host.index.$(cat id) {\\\"seq\\\":$seq}\"; echo "
        "\"reply \\$JS.API.DIRECT.GET.recorder-index-shop "
        "recorder.store.shop.$host.index.new {\\\"seq\\\":$seq}\"; done; "
        "done >tries; " TRY("reader-shop", "_INBOX.shop.reader", "tries"));
    build_must("set -e; " FLEET " list shop -v " AS(
        "reader-shop") ">list; diff before "
                       "list; " FLEET " fetch shop $(cat id) -o in " AS(
                           "reader-shop") "2>said; cat said; grep -q \"stored "
                                          "by web1\" said && grep -q \"stored "
                                          "by web2\" said && ls in | wc -l | "
                                          "grep "
                                          "-x 2");
    /* A reader has the hub send a request that an agent stored. */
    build_must(
        "echo \"publish recorder.store.shop.web1.data.z - - "
        "{\\\"id\\\":\\\"evil\\\"}\" >tries; " TRY(
            "agent-shop-web1", "_INBOX.shop.agent.web1",
            "tries") "; for "
                     "i in request.shop freeze.shop auto.shop.web2; do echo "
                     "\"reply "
                     "\\$JS.API.DIRECT.GET.recorder-data-shop recorder.$i "
                     "{\\\"last_by_subj\\\":\\\"recorder.store.shop.web1.data."
                     "z\\\"}"
                     "\"; done >tries; " TRY("reader-shop",
                                             "_INBOX.shop.reader", "tries"));
    build_must("set -e; " UNTIL(
        "grep -q \"that the hub relays\" web2.log") "; kill -9 $(tail -n 1 "
                                                    "pids); sleep 0.3");
    rights_agent("web2"); /* which finds the copy among the kept requests */
    build_must("sleep 1; ! ls -d "
               "spool-*/evil 2>/dev/null "
               "&& " FLEET " list shop " AS("reader-shop") "| grep "
                                                           "-c "
                                                           "evil | "
                                                           "grep "
                                                           "-x 0");
}

/* Goal: --nkey and --creds say who one is, to servers that know users by their
 * keys, and by a JWT of an operator; who has none, or another, stays outside.
 * Method: keys and JWTs are made by openssl. */
Test(fleet, keys_and_credentials_let_in, .init = build_long)
{
    build_must("python3 " BUILD_PROGRAMS
               "/fleet_keys.py nkey agent && python3 " BUILD_PROGRAMS
               "/fleet_keys.py nkey other && python3 " BUILD_PROGRAMS
               "/fleet_keys.py jwt operator reader && for i in agent other; do "
               "cat $i.public >>$i.seed; done");
    hub_start("authorization { users = [ { nkey: $(cat agent.public) } ] }");
    build_must(FLEET " bucket shop --max 50M --nkey agent.seed " HUB);
    program_start("here/command quiet");
    agent_start("web1", "--nkey agent.seed");
    build_must(FLEET " freeze shop --why x --nkey agent.seed " HUB
                     "| grep \"1 stored\"");
    cr_assert_eq(build_run(FLEET " list shop " HUB), 1);
    cr_assert_eq(build_run(FLEET " list shop --nkey other.seed " HUB), 1);
    cr_assert_neq(strstr(build_text, "Authentication Violation"), NULL, "%s",
                  build_text);
    build_must("head -n 1 agent.seed >half");
    cr_assert_eq(build_run(FLEET " list shop --nkey half " HUB), 1);
    cr_assert_neq(strstr(build_text, "no line that is a public key"), NULL,
                  "%s", build_text);
    cr_assert_eq(build_run(FLEET " list shop --nkey agent.public " HUB), 1);
    build_must("kill -9 $(cat hub web1.pid); rm port; mv js js.nkey");
    hub_start("$(cat operator.conf)");
    build_must(FLEET " bucket shop --max 50M --creds operator.creds " HUB);
    agent_start("web1", "--creds operator.creds");
    build_must(FLEET " freeze shop --why x --creds reader.creds " HUB
                     "| grep \"1 stored\"");
    build_must("rm -r spool-web1; kill -9 $(cat web1.pid)");
    /* Who may not store does not, and says why. */
    agent_start("web2", "--creds reader.creds");
    build_must(FLEET " freeze shop --why y --wait 1 --creds reader.creds " HUB
                     "; " UNTIL("grep -qi \"permissions violation\" web2.log"));
    cr_assert_eq(build_run(FLEET " list shop " HUB), 1);
    cr_assert_eq(build_run(FLEET " list shop --creds agent.seed " HUB), 1);
}
