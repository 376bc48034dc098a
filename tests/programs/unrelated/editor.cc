/* editor.cc - C++: an editor with undo; objects of new and delete at the same addresses. */
/* SPDX-License-Identifier: MIT */
/* a: null pointer */
/* b: uncaught exception of type std::out_of_range */
#include "unrelated.h"
#include <string>
#include <vector>
RECORDER(edit, 512, "Edits")
struct Command {
    virtual ~Command()
    {
    }
    virtual int apply(std::string &text) = 0;
    int at = 0;
};
struct Insert : Command {
    char what;
    Insert(int p, char c) : what(c)
    {
        at = p;
    }
    int apply(std::string &t) override
    {
        t.insert((size_t)at, 1, what);
        return 1;
    }
};
struct Remove : Command {
    Remove(int p)
    {
        at = p;
    }
    int apply(std::string &t) override
    {
        t.erase((size_t)at, 1);
        return -1;
    }
};
struct Document {
    std::string text;
    std::vector<Command *> undo;
    Command *last = nullptr;
    NOINLINE void run(Command *command)
    {
        record(edit, "apply command=%p at=%d", A(command), command->at);
        int n = command->apply(text);
        record(edit, "applied n=%d size=%zu", n, text.size());
        delete command;
    }
    NOINLINE int again()
    {
        return last->apply(text);
    }
    NOINLINE char at(size_t n)
    {
        return text.at(n);
    }
};
int main(int, char **argv)
{
    Document d;
    record(edit, "new document=%p", A(&d));
    for (int i = 0; i < 50; i++) {
        d.run(new Insert(i, (char)('a' + i % 26)));
        if (i % 5 == 4) {
            d.run(new Remove(i));
            d.text += 'x';
        }
    }
    if (argv[1][0] == 'a')
        return d.again();
    return d.at(1000);
}
