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
        {"agent --service a --spool s --automatic 5/", "a number", 2},
        {"agent --service a --spool s --automatic -1", "a number", 2},
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
        const char *name, *more, *said;
    } objects[] = {
        {"../../x/../s1.rec.zst", "\\\"nuid\\\":\\\"x\\\",\\\"chunks\\\":1",
         NULL},
        {"h/../s1.rec.zst", "\\\"nuid\\\":\\\"x\\\",\\\"chunks\\\":1", NULL},
        {"h/p.1/s1.rec.zst", "\\\"nuid\\\":\\\"../x\\\",\\\"chunks\\\":1",
         NULL},
        {"h/p.2/s1.rec.zst",
         "\\\"nuid\\\":\\\"x\\\",\\\"chunks\\\":2147483648,\\\"size\\\":9",
         "longer than its metadata|no zstd data"},
        {"h/p.3/s1.rec.zst",
         "\\\"nuid\\\":\\\"none\\\",\\\"chunks\\\":4,\\\"size\\\":9",
         "chunk 1 of 4 is missing"},
        {"h/p.4/s1.rec.zst", "\\\"nuid\\\":\\\"x\\\",\\\"chunks\\\":0",
         "its digest is wrong"}};
    fleet_start();
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++)
        build_must(CLIENT("request", "recorder.freeze.shop \"%s\""),
                   requests[i]);
    build_must(
        "test ! -e x && test ! -e a && ls -A spool-web1 | wc -l | grep -x"
        " 0 && kill -0 $(cat web1.pid)");
    /* The same id twice is one snapshot. */
    build_must("for i in 1 2; do " CLIENT(
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
    /* Who may only ask does not have an agent write over what is stored. */
    build_must(
        FLEET " list shop -v " HUB ">before; for id in k who; do " CLIENT(
            "reply",
            "recorder.freeze.shop") " \"{\\\"$id\\\":1, \\\"id\\\":"
                                    "\\\"k\\\"}\" "
                                    "\"\\$O.recordings-shop.M.$(echo -n "
                                    "web1/$(grep -o \"command[.0-9]*\" "
                                    "before | head -n 1)/twice.rec.zst "
                                    "| base64 -w 0 | tr +/ -_)\"; "
                                    "done; " UNTIL(
                                        FLEET " list shop -v " HUB
                                              ">list; grep -A 2 \"^k \" list "
                                              "| grep -c command | grep -x "
                                              "2") "; grep -v \"^k \" list | "
                                                   "head -n $(wc -l <before) "
                                                   "| grep -A 2 ^twice | grep "
                                                   "-c command | grep -x 2");
    build_must(CLIENT("put", "\\$O.recordings-shop.C.x") " \"some bytes, not "
                                                         "packed\"");
    for (size_t i = 0; i < sizeof objects / sizeof *objects; i++)
        build_must(
            "name=\"%s\"; " CLIENT(
                "put",
                "\\$O.recordings-shop.M.$(echo "
                "-n $name | base64 -w 0 | tr +/ -_)") " \"{\\\"name\\\":"
                                                      "\\\"$name\\\",%s,"
                                                      "\\\"digest\\\":\\\"SHA-"
                                                      "256=no\\\"}\"",
            objects[i].name, objects[i].more);
    /* One that is there twice, as only who is no agent puts it, is one. */
    build_must("for i in 1 2; do " CLIENT(
        "put", "\\$O.recordings-shop.M.eHg=") " \"{\\\"name\\\":\\\"h/p.9/"
                                              "s3.rec.zst\\\",\\\"nuid\\\":"
                                              "\\\"x$i\\\",\\\"size\\\":"
                                              "${i}000}\"; done; " FLEET
                                              " list shop -v " HUB
                                              ">list; test $(grep -c p.9 list) "
                                              "= 1 && grep -q \"p.9  *2.0 kB\" "
                                              "list");
    build_must("printf \"\\033[31m\" >esc; " CLIENT(
        "put",
        "\\$O.recordings-shop.M.eA==") " \"{\\\"name\\\":\\\"h/p/"
                                       "s2.rec.zst\\\",\\\"nuid\\\":\\\"x\\\","
                                       "\\\"headers\\\":{\\\"why"
                                       "\\\":[\\\"a\\u001b[31m\\\"]}}\"; " FLEET
                                       " list shop " HUB
                                       ">list; ! grep -q \"$(printf "
                                       "\"\\033\")\" list && grep -q "
                                       "\"s2 .*a.x1b\" list");
    cr_assert_eq(build_run(FLEET " fetch shop s1 -o in " HUB "2>said"), 1);
    for (size_t i = 0; i < sizeof objects / sizeof *objects; i++)
        if (objects[i].said)
            build_must(
                "cat said; grep -qE \"^recorder-fleet: %s: .*(%s)\" said",
                objects[i].name, objects[i].said);
    build_must("ls -A in | wc -l | grep -x 0 && test ! -e x");
    /* Two agents that took one name would write over what the other stored. */
    agent_start("web2", "--host web1");
    build_must(FLEET " freeze shop --why x --wait 1 " HUB
                     "2>&1 | grep \"web1: several "
                     "agents have this name\"");
}

/* Goal: the rights of docs/fleet.md do what they say, and TLS lets in nobody
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
Test(fleet, rights_are_what_the_manual_says, .init = build_long)
{
    build_must("for i in ca other; do openssl req -x509 -newkey ec -pkeyopt "
               "ec_paramgen_curve:P-256 -nodes "
               "-keyout $i.key -subj /CN=$i -days 2 -out $i.pem 2>/dev/null; "
               "done");
    build_must(CERT("hub", "ca") " && " CERT("agent-shop", "ca") " && " CERT(
        "reader-shop",
        "ca") " && " CERT("operator", "ca") " && " CERT("stranger", "other"));
    port_make("port");
    build_must(
        "awk \"/^# hub.conf/ { on = 1 } /^\\`\\`\\`/ { on = 0 } "
        "on\" " TEST_ROOT "/docs/fleet.md | sed \"s,listen: .*,listen: "
        "127.0.0.1:$(cat port),; s,/var/lib/recorder-hub,$PWD/js,; "
        "s,/etc/recorder/,,g\" >hub.conf; grep -q verify_and_map hub.conf "
        "&& (nats-server -c hub.conf >hub.log 2>&1 & echo $! >>pids)");
    build_must(UNTIL("grep -q \"Server is ready\" hub.log"));
    cr_assert_eq(build_run(FLEET " bucket shop " AS("reader-shop")), 1);
    cr_assert_eq(build_run(FLEET " bucket shop " AS("agent-shop")), 1);
    build_must(FLEET " bucket shop --max 50M " AS("operator"));
    program_start("here/command quiet");
    build_must("(" FLEET " agent --service shop --host web1 --spool spool "
               "--match \"$PWD/here/.*\" " AS(
                   "agent-shop") ">web1.log 2>&1 & "
                                 "echo $! >>pids); " UNTIL(
                                     "grep -q \"agent of\" web1.log"));
    build_must(FLEET " freeze shop --why x " AS(
        "reader-shop") ">said; cat said; "
                       "grep -q \"1 stored\" said");
    build_must(FLEET
               " fetch shop $(cut -d \" \" -f 2 said | tr -d :) -o in " AS(
                   "reader-shop"));
    /* An agent reads nothing; a reader stores nothing, which is said. */
    cr_assert_eq(build_run(FLEET " list shop " AS("agent-shop")), 1);
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
                               "agent-shop") "--ca other.pem 2>&1"),
                 1);
    cr_assert_neq(strstr(build_text, "SSL handshake error"), NULL, "%s",
                  build_text);
    cr_assert_eq(build_run(FLEET " who shop --server nats://192.0.2.1:4222"),
                 1);
    cr_assert_neq(strstr(build_text, "without tls://"), NULL, "%s", build_text);
}

/* Goal: --nkey and --creds say who one is, to servers that know users by their
 * keys, and by a JWT of an operator; who has none, or another, stays outside.
 * Method: keys and JWTs are made by openssl. */
Test(fleet, keys_and_credentials_let_in, .init = build_long)
{
    build_must("python3 " BUILD_PROGRAMS
               "/fleet_keys.py nkey agent && python3 " BUILD_PROGRAMS
               "/fleet_keys.py nkey other && python3 " BUILD_PROGRAMS
               "/fleet_keys.py jwt operator reader");
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
    cr_assert_eq(build_run(FLEET " list shop --nkey agent.public " HUB), 1);
    cr_assert_neq(strstr(build_text, "is the seed of a key"), NULL, "%s",
                  build_text);
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
