// compat_compiler.h - what the files of a compiler share, in 1.x' words.
// SPDX-License-Identifier: MIT
#ifndef COMPAT_COMPILER_H
#define COMPAT_COMPILER_H
#include "recorder/recorder.h"

RECORDER_DECLARE(options);
RECORDER_TWEAK_DECLARE(gc_statistics);

namespace lang
{
RECORDER_DECLARE(types);
RECORDER_DECLARE(gc);
RECORDER_TWEAK_DECLARE(max_depth);

struct Tree {
    int tag;
    explicit Tree(int t) : tag(t) {}
    virtual ~Tree() {}
    virtual std::string name() const { return "tree"; }
};

template <typename T> class GCPtr
{
    T *pointer;

  public:
    GCPtr(T *p = nullptr) : pointer(p) { record(gc, "New for %t", p); }
    GCPtr(const GCPtr &other) : pointer(other.pointer) {}
    operator T *() const { return pointer; }
    T *operator->() const { return pointer; }
    friend uintptr_t _recorder_arg(const GCPtr &p)
    {
        return (uintptr_t)p.pointer;
    }
};
typedef GCPtr<Tree> Tree_p;

// Visits, with as many arguments as there are.
template <typename T, typename... Arguments> struct Visitor {
    T value;
    bool operator()(Tree *what, const Arguments &...arguments)
    {
        record(types, "Visit %t with %u arguments, value %d", what,
               sizeof...(arguments), value);
        return what != nullptr;
    }
    template <typename U> U twice(U u)
    {
        record(types, "Twice %d of %u bytes", u, (unsigned)sizeof u);
        return (U)(u + u);
    }
};

inline bool depth_is_ok(int depth)
{
    return depth < RECORDER_TWEAK(max_depth) &&
           (RECORDER_TRACE(types) & 2) == 0 && RECORDER_ENABLED(types);
}

template <typename T> struct Save {
    T &reference;
    T saved;
    Save(T &r, T value) : reference(r), saved(r) { reference = value; }
    ~Save() { reference = saved; }
};

int compile(int count, char **names);
} // namespace lang

#define IFTRACE(name) if (RECORDER_TRACE(name))
#endif
