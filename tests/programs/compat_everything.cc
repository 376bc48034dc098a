// compat_everything.cc - recorder 1.x in C++: overloads, references, strings.
// SPDX-License-Identifier: MIT
#include "compat_everything.h" // brings std::string and errno, as in 1.x

#include <cstdio>

namespace lib
{
template <typename T> struct GCPtr {
    T *pointer;
    explicit GCPtr(T *p) : pointer(p) {}
    GCPtr(const GCPtr &other) : pointer(other.pointer) { copies++; }
    static int copies;
    friend uintptr_t _recorder_arg(const GCPtr &p)
    {
        return (uintptr_t)p.pointer;
    }
};
template <typename T> int GCPtr<T>::copies = 0;
struct Version {
    int major, minor;
    friend uintptr_t _recorder_arg(const Version &v)
    {
        return (uintptr_t)(v.major * 100 + v.minor);
    }
};
enum class Color { red = 3 };
enum Old { one = 1 };
struct Constants {
    static const int defined_nowhere = 42;
    unsigned bits : 5;
};
} // namespace lib

RECORDER(MyRec, 32, "My recorder");
RECORDER(cxx, 64, "C++");
RECORDER_TWEAK_DEFINE(my_limit, 7, "A limit")

template <typename T> struct Save {
    T &reference;
    T saved;
    Save(T &r, T value) : reference(r), saved(r) { reference = value; }
    ~Save() { reference = saved; }
};

struct Class {
    int member;
    virtual ~Class() {}
    virtual int method() const
    {
        record(cxx, "method of %d, lambda %d", member, [] { return 5; }());
        return member;
    }
};

template <typename T> static void in_template(T value)
{
    record(cxx, "template %d %s", (int)sizeof(value), "x");
}

static size_t show_version(intptr_t, const char *, char *buffer, size_t size,
                           uintptr_t data)
{
    return (size_t)snprintf(buffer, size, "%d.%d", (int)data / 100,
                            (int)data % 100);
}

int main()
{
    errno = 0;
    int number = 9;
    lib::GCPtr<int> pointer(&number);
    const lib::GCPtr<int> same(&number);
    lib::Version version = {1, 23};
    lib::Constants constants = {17};
    std::string string(errno ? "no" : "std::string");
    const std::string &reference = string;
    Class object;
    object.member = 4;
    recorder_configure_type('V', show_version);
    recorder_trace_set("recorder_order=0:recorder_reltime=0:/recorder.*");
    record(cxx, "overloads %d %d %V",
           _recorder_arg(pointer) == (uintptr_t)&number,
           _recorder_arg(same) == (uintptr_t)&number, version);
    record(cxx, "pointer %d",
           (record(cxx, "%p", pointer), lib::GCPtr<int>::copies));
    record(cxx, "strings %s %s %s", string, reference, "literal");
    record(cxx, "enums %d %d bool %d null %p", lib::Color::red, lib::one, true,
           nullptr);
    record(cxx, "constant %d bits %u char %c", lib::Constants::defined_nowhere,
           constants.bits, 'c');
    record(cxx, "reals %g %g wide %lld", 1.5, 2.5f, -1LL);
    object.method();
    in_template(1.0);
    {
        Save<intptr_t> save(RECORDER_TRACE(cxx), -1);
        record(cxx, "not recorded %s", string);
        Save<intptr_t> limit(RECORDER_TWEAK(my_limit), 0);
        fprintf(stderr, "%d %ld\n", RECORDER_ENABLED(cxx),
                (long)RECORDER_TWEAK(my_limit));
    }
    fprintf(stderr, "%d %ld\n", RECORDER_ENABLED(cxx),
            (long)RECORDER_TWEAK(my_limit));
    record(cxx, "twelve %d %d %d %d %d %d %d %d %d %d %d %d", 1, 2, 3, 4, 5, 6,
           7, 8, 9, 10, 11, 12);
    recorder_trace_set("-recorder.*");
    part();
    fprintf(stderr, "%u\n", recorder_dump_for("cxx"));
    return 0;
}
