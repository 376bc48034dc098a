// explain.cc - a program that an exception ends.
// SPDX-License-Identifier: MIT
#include "recorder_dump.h"

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

int main()
{
    parse("one", 1);
    parse("# two", 2);
    return 0;
}
