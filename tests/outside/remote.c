/* The source ssh:HOST:SOURCE, by a script in place of ssh and by a real sshd. */
/* SPDX-License-Identifier: MIT */
#include "harness/command.h"

TestSuite(remote, .init = build_begin, .fini = build_end, .timeout = 300);

/* The folder has only ./bin, where `ssh` and the far `recorder` are, in front of
 * the usual PATH, and ./temporary for files without a name. */
#define HERE "PATH=$PWD/bin:$PATH TMPDIR=$PWD/temporary "
#define FAR(...) build_run(HERE RECORDER " " __VA_ARGS__)

/* Fails with 1, and says the words; shows no record, leaves no file, and passes
 * no escape on to the terminal. */
#define FAR_FAILS(words, ...)                                                  \
    do {                                                                       \
        cr_assert_eq(FAR(__VA_ARGS__), 1, "%s", build_text);                   \
        cr_assert(strstr(build_text, words), "%s", build_text);                \
        cr_assert(!strchr(build_text, '\33') && !strstr(build_text, "third"),  \
                  "%s", build_text);                                           \
        build_must("! ls -A temporary | grep . && test ! -e owned");           \
    } while (0)

static void text_write(const char *name, const char *text)
{
    char path[128];
    FILE *file;
    snprintf(path, sizeof path, "%s/%s", build_folder, name);
    file = fopen(path, "w");
    cr_assert(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

/* Makes ./bin/ssh of lines that find the far line in $1, the host in $host. */
static void ssh_is(const char *lines)
{
    char *text;
    cr_assert_geq(asprintf(&text,
                           "#!/bin/sh\n"
                           "while [ \"${1#-}\" != \"$1\" ]; do shift; done\n"
                           "host=$1; shift\n%s\n",
                           lines),
                  0);
    build_must("mkdir -p bin temporary; ln -sf " RECORDER " bin/recorder");
    text_write("bin/ssh", text);
    build_must("chmod +x bin/ssh");
    free(text);
}

static pid_t program(void)
{
    command_build("command", "gcc -O1 -w");
    ssh_is("echo \"$host\" >>hosts; exec sh -c \"$*\"");
    return command_start("./command quiet");
}

/* Goal: a far process is as good a source as a near one; so is a far source of
 * functions' names, if the program's file is missing here. */
Test(remote, a_far_process_is_a_source)
{
    int pid = (int)program();
    build_must(RECORDER " dump %d | tail -n +2 >here", pid);
    build_must(HERE RECORDER " dump ssh:me@web-1.net:%d | tail -n +2 >there",
               pid);
    build_must("for i in here there; do sed \"s/[0-9.]* command/command/\" $i "
               ">$i.rest; done; cmp here.rest there.rest && grep third there");
    build_must("grep -x me@web-1.net hosts");
    build_must(HERE RECORDER " list ssh:[::1]:%d && grep -x ::1 hosts", pid);
    build_must(HERE RECORDER " export json ssh:a:%d | grep third", pid);
    build_must(HERE RECORDER " save ssh:a:%d -o out.rec && " RECORDER
                             " dump out.rec | grep third",
               pid);
    build_must(HERE RECORDER " dump --function ssh:a:%d >named && " RECORDER
                             " save --functions %d -o named.rec && mv command "
                             "moved && " RECORDER
                             " dump --function named.rec >>named",
               pid, pid);
    build_must("test $(grep -c \"third (main+0x\" named) = 2");
    build_must(RECORDER
               " save named.rec -o again.rec && " RECORDER
               " save named.rec --last 1 -o last.rec && for i in "
               "again last; do " RECORDER
               " dump --function $i.rec | grep \"third (main+\"; done");
    /* Verbs that change a process, or run on, need a near one. */
    cr_assert_eq(FAR("set ssh:a:%d main=0", pid), 1);
    cr_assert_eq(FAR("view --live ssh:a:%d", pid), 1);
    command_stop(pid);
    FAR_FAILS("no such process", "dump ssh:a:%d", pid);
}

/* Goal: a path goes to the far side as it is, whatever a shell would make of
 * it; a recording, a packed one, a core file, a folder, a name of a process. */
Test(remote, a_far_path_is_a_source)
{
    static const char *const names[] = {"plain",
                                        "a b",
                                        "it's",
                                        "$(touch owned)",
                                        "`touch owned`",
                                        "x;touch owned",
                                        "a\\b\\",
                                        "!!",
                                        "-o",
                                        "*",
                                        "a:b",
                                        "\"q\""};
    static const char *const shells[] = {"sh",   "bash", "csh",
                                         "tcsh", "fish", "zsh"};
    int pid = (int)program();
    build_must(RECORDER " save %d -o saved && mkdir paths && gzip -k saved",
               pid);
    for (size_t k = 0; k < sizeof shells / sizeof *shells; k++) {
        char line[64];
        if (build_run("command -v %s", shells[k]) != 0)
            continue;
        snprintf(line, sizeof line, "exec %s -c \"$*\"", shells[k]);
        ssh_is(line);
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
            text_write("name", names[i]);
            build_must("cp saved \"$PWD/paths/$(cat name)\" && " HERE RECORDER
                       " dump \"ssh:a:$PWD/paths/$(cat name)\" | grep third && "
                       "test ! -e owned");
        }
    }
    build_must(
        "cd paths && cp ../saved ./-o && PATH=$PWD/../bin:$PATH " RECORDER
        " dump ssh:a:-o | grep third");
    build_must(HERE RECORDER " dump ssh:a:saved.gz | grep third");
    build_must("cp command only_this_one");
    command_stop(pid);
    pid = (int)command_start("./only_this_one quiet");
    build_must("mkdir empty && cd empty && PATH=$PWD/../bin:$PATH " RECORDER
               " dump ssh:a:only_this_one | grep third");
    command_stop(pid);
}

/* Goal: no host becomes an option of ssh, or a command. */
Test(remote, hostile_hosts)
{
    ssh_is("touch owned; exit 1");
    FAR_FAILS("is not ssh:HOST:SOURCE", "dump ssh:-oProxyCommand=x:1");
    FAR_FAILS("is not ssh:HOST:SOURCE", "dump ssh:[-oProxyCommand=x]:1");
    FAR_FAILS("is not ssh:HOST:SOURCE", "dump \"ssh:a;b:1\"");
    FAR_FAILS("is not ssh:HOST:SOURCE", "dump \"ssh:\\$(b):1\"");
    FAR_FAILS("is not ssh:HOST:SOURCE", "dump \"ssh:a b:1\"");
    FAR_FAILS("is not ssh:HOST:SOURCE", "dump ssh:a");
    FAR_FAILS("is not ssh:HOST:SOURCE", "dump ssh:a:");
    FAR_FAILS("is not ssh:HOST:SOURCE", "dump ssh::1");
    FAR_FAILS("is not ssh:HOST:SOURCE", "dump ssh:[::1:1");
    FAR_FAILS("is not ssh:HOST:SOURCE",
              "dump ssh:$(head -c 5000 /dev/zero | tr \"\\0\" a):1");
}

/* Goal: whatever ssh and the far machine do, the command says why and ends. */
Test(remote, ssh_fails)
{
    ssh_is(
        "echo \"ssh: connect to host $host port 22: Connection refused\" >&2;"
        "exit 255");
    FAR_FAILS("recorder: ssh:web1:1: ssh: connect to host web1 port 22: "
              "Connection refused\n",
              "dump ssh:web1:1");
    ssh_is("echo \"sh: 1: recorder: not found\" >&2; exit 127");
    FAR_FAILS("finds no recorder: sh: 1: recorder: not found",
              "dump ssh:web1:1");
    ssh_is("exit 3");
    FAR_FAILS("ssh ended with status 3", "dump ssh:web1:1");
    ssh_is("kill -9 $$");
    FAR_FAILS("a signal ended ssh", "dump ssh:web1:1");
    ssh_is("exit 0");
    FAR_FAILS("nothing came", "dump ssh:web1:1");
    ssh_is("printf \"\\033]0;owned\\007 bad\" >&2; exit 1");
    FAR_FAILS("bad", "dump ssh:web1:1");
    ssh_is(
        "head -c 9999999 /dev/zero | tr \"\\0\" x >&2; echo last >&2; exit 1");
    FAR_FAILS("last", "dump ssh:web1:1");
    build_must("rm bin/ssh; mkdir none");
    cr_assert_eq(build_run("PATH=$PWD/none " RECORDER " dump ssh:web1:1"), 1);
    cr_assert(strstr(build_text, "ssh cannot be started: No such file"), "%s",
              build_text);
}

/* Goal: a part of a recording is never shown as a recording. */
Test(remote, streams_that_break_off)
{
    int pid = (int)program(), size;
    build_must(RECORDER " save %d -o saved && stat -c %%s saved", pid);
    command_stop(pid);
    cr_assert_eq(sscanf(build_text, "%d", &size), 1);
    ssh_is("cat saved");
    cr_assert_eq(FAR("dump ssh:a:1"), 0, "%s", build_text);
    for (int i = 0; i < 40; i++) {
        char line[64];
        int cut = i < 20 ? 1 + i * i * 7 : size - 1 - (i - 20) * (size / 21);
        snprintf(line, sizeof line, "head -c %d saved", cut);
        ssh_is(line);
        FAR_FAILS("recorder: ssh:a:1: ", "dump ssh:a:1");
        snprintf(line, sizeof line, "head -c %d saved; echo lost >&2; exit 255",
                 cut);
        ssh_is(line);
        FAR_FAILS("recorder: ssh:a:1: lost\n", "dump ssh:a:1");
    }
    ssh_is("cat saved; echo lost >&2; exit 255");
    FAR_FAILS("lost", "dump ssh:a:1");
    ssh_is("echo Welcome; cat saved");
    FAR_FAILS("no recording came", "dump ssh:a:1");
    ssh_is("yes");
    FAR_FAILS("no recording came", "dump ssh:a:1");
    /* Ctrl-C while it comes: no file stays. */
    ssh_is("cat saved; touch waits; exec sleep 60");
    build_must("{ " HERE "timeout -s INT 60 " RECORDER
               " dump ssh:a:1 & } ; until test -e waits; do sleep 0.05; done; "
               "ls -A temporary >left; pkill -INT -P $! ; wait; "
               "! grep . left && ! ls -A temporary | grep .");
}

/* Goal: a stream without an end ends. */
Test(remote, endless_streams, .init = build_long)
{
    ssh_is("printf \"\\177ELF\"; exec cat /dev/zero");
    FAR_FAILS("more than 16 GiB came", "dump ssh:a:1");
}

/* Goal: the real ssh and sshd do as the script does. */
Test(remote, by_sshd)
{
    int pid = (int)program();
    if (geteuid() != 0 || build_run("command -v /usr/sbin/sshd && mkdir -p "
                                    "/run/sshd && command -v ssh-keygen") != 0)
        build_skip("no sshd here, or no root to start it");
    build_must(
        "ssh-keygen -q -t ed25519 -N \"\" -f key && cp key.pub allowed && "
        "chmod 600 allowed key");
    build_must("printf \"HostKey %%s/key\\nAuthorizedKeysFile %%s/allowed\\n"
               "StrictModes no\\nUsePAM no\\nPermitRootLogin yes\\nSetEnv "
               "PATH=%%s/bin:/usr/bin:/bin\\n\" $PWD $PWD $PWD >sshd_config");
    build_must("printf \"Host far\\nProxyCommand /usr/sbin/sshd -i -f "
               "$PWD/sshd_config 2>>$PWD/log\\nUser root\\nIdentityFile "
               "$PWD/key\\nStrictHostKeyChecking no\\nUserKnownHostsFile "
               "/dev/null\\nLogLevel ERROR\\n\" >ssh_config");
    text_write("bin/ssh",
               "#!/bin/sh\nexec /usr/bin/ssh -F ssh_config \"$@\"\n");
    build_must(HERE RECORDER " dump --function ssh:far:%d", pid);
    cr_assert(strstr(build_text, "third (main+"), "%s", build_text);
    build_must(RECORDER " save %d -o \"a b\" && " HERE RECORDER
                        " dump \"ssh:far:$PWD/a b\" | grep third",
               pid);
    command_stop(pid);
    FAR_FAILS("no such process", "dump ssh:far:%d", pid);
    build_must("rm bin/recorder");
    FAR_FAILS("finds no recorder", "dump ssh:far:1");
    build_must("rm allowed");
    FAR_FAILS("Permission denied", "dump ssh:far:1");
}
