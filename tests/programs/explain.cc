// explain.cc - a program that an exception ends.
// SPDX-License-Identifier: MIT
#include "recorder_dump.h"

#include <cstring>
#include <stdexcept>
#include <string>

RECORDER(parser, 64, "Lines")

struct bad_line : std::runtime_error {
    explicit bad_line(const std::string &what) : std::runtime_error(what) {}
};

static void parse(const char *line, int number)
{
    record(parser, "line %d: %s", number, line);
    if (*line == '#')
        throw bad_line("no # is allowed");
}

struct client {
    virtual ~client() = default;
    virtual int poll() { return id; }
    int id = 5;
};
RECORDER(clients, 64, "Clients")

static int sum(const client *each, const client *, client *last)
{
    int id = each ? each->id : 0;
    return id + last->poll();
}

// Another object has the memory of a client that was closed.
static void poll_closed()
{
    client *all[4];
    int sum = 0;
    for (auto &each : all) {
        each = new client;
        record(clients, "open client=%p", RECORDER_ADDRESS(each));
    }
    record(clients, "close client=%p", RECORDER_ADDRESS(all[2]));
    delete all[2];
    std::memset(static_cast<void *>(all[2]), 0x41, sizeof *all[2]);
    for (auto &each : all)
        sum += each->poll();
    record(clients, "sum %d", sum);
}

int main(int argc, char **)
{
    recorder_dump_on_common_signals(0, 0);
    if (argc > 2)
        return sum(nullptr, nullptr, nullptr);
    if (argc > 1)
        poll_closed();
    parse("one", 1);
    parse("# two", 2);
    return 0;
}
