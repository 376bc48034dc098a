// compat_compiler.cc - how a compiler of many files in C++ uses recorder 1.x.
// SPDX-License-Identifier: MIT
//
//     -DOTHER_FILE    the other file of it
#include "compat_compiler.h"

#include <atomic>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <vector>

#ifdef OTHER_FILE
RECORDER(options, 32, "Options "
                      "of main");
RECORDER_TWEAK_DEFINE(gc_statistics, 0, "Statistics of the collector");

namespace lang
{
RECORDER(types, 64, "Types");
RECORDER(gc, 2 * 128, "Collector");
RECORDER_TWEAK_DEFINE(max_depth, 100, "Depth of recursion")

static int counter = (record(types, "static %d", 1), 3);

static size_t show_tree(intptr_t, const char *, char *buffer, size_t size,
                        uintptr_t data)
{
    return (size_t)snprintf(buffer, size, "tree %d",
                            data ? reinterpret_cast<Tree *>(data)->tag : 0);
}

template <typename F> static auto timed(F f) -> decltype(f())
{
    RECORD_TIMING_BEGIN(gc);
    f();
    RECORD_TIMING_END(gc, "Timed", "calls", 1);
    return f();
}

#define LOG(format, ...) record(types, "log " format, __VA_ARGS__)
#define LOG_TO(name, ...) record(name, __VA_ARGS__)

struct Abstract {
    virtual ~Abstract() {}
    virtual int number() const = 0;
    operator int() const { return number(); }
};
struct Seven : Abstract {
    int number() const override { return 7; }
};
enum Small : unsigned char { small_one = 1 };
enum class Color : long { red = -1 };
struct Bits {
    unsigned a : 3;
    int b : 5;
    volatile int v;
};

static void arguments(Tree *tree)
{
    Tree_p pointer(tree);
    const Tree *constant = tree;
    Bits bits = {5, -3, 9};
    std::atomic<int> atomic(3);
    std::atomic<bool> flag(true);
    static std::string string("abc"); // a record keeps addresses
    const std::string &reference = string;
    std::vector<bool> truths(3);
    std::unique_ptr<Abstract> seven(new Seven);
    const Abstract &abstract = *seven;
    static char buffer[10] = "buffer";
    static const char constants[] = "constants";
    void (*none)(int) = nullptr;
    record(types, "%t %t %t %p", tree, pointer, constant, nullptr);
    record(types, "%d %ld %d %d %d", small_one, Color::red, bits.a, bits.b,
           bits.v);
    record(types, "%d %d %d %d", atomic, flag, atomic.load(), (bool)truths[0]);
    record(types, "%s %s %s %s %s", string, reference, string.c_str(), buffer,
           constants);
    record(types, "%p %d %d %zu", none, tree != nullptr, abstract,
           truths.size());
    record(types, "%llu %lld %zd %d", 1ull, (int64_t)-1, (ptrdiff_t)-2, errno);
    record(types, "%c %c %c %g %f", 'a', (unsigned char)'b', L'c', 1.5f, 2.5);
    record(types, "%*s%s", 3, "", tree ? "yes" : string.c_str());
}

static int functions(int count, char **names)
{
    Visitor<int, std::string, float> visit = {3};
    static Tree tree(count);
    std::function<int()> function = [&] {
        return record(types, "std::function") ? 1 : 0;
    };
    auto lambda = [=](const char *text) {
        record(gc, "lambda %d %+s", count, text);
        return count;
    };
    record(types, "value of a lambda %d", lambda("in record"));
    function();
    visit(&tree, std::string("x"), 1.0f);
    visit.twice(7L);
    timed([=] { return names; });
    LOG("one %d", 1);
    LOG_TO(gc, "none");
    LOG_TO(gc, "two %d %d", 1, 2);
    if (count > 5)
        record(gc, "no braces");
    else
        record(gc, "else");
    for (int i = 0; i < 2; record(gc, "in for %d", i), i++)
        ;
    IFTRACE(types) record(types, "only traced");
    return record(types, "last") == (ringidx_t)-1;
}

int compile(int count, char **names)
{
    static Tree tree(count);
    recorder_configure_type('t', show_tree);
    Save<intptr_t> trace(RECORDER_TRACE(options), 0);
    Save<intptr_t> depth(RECORDER_TWEAK(max_depth),
                         RECORDER_TWEAK(max_depth) + 1);
    intptr_t &bits = RECORDER_TRACE(gc);
    bits |= 4;
    if (RECORDER_TRACE(gc) & 4)
        bits = 0;
    errno = 0;
    arguments(&tree);
    return functions(count, names) + counter - 3 + !depth_is_ok(100) +
           (int)RECORDER_INFO(types)->trace;
}
} // namespace lang

#else
using namespace lang;
int main(int argc, char **argv)
{
    int status;
    recorder_dump_on_common_signals(0, 0);
    for (int i = 1; i < argc; i++) {
        record(options, "%d is %+s", i, argv[i]);
        if (strncmp(argv[i], "-t", 2) == 0)
            recorder_trace_set(argv[i][2] ? argv[i] + 2 : ".*");
    }
    record(types, "main %d", RECORDER_TWEAK(gc_statistics));
    status = compile(argc, argv);
    recorder_dump_for("options|types|gc");
    return status;
}
#endif
