// namespaces.cc - recorders of one name, in namespaces and outside of them.
// SPDX-License-Identifier: MIT
//
//     -DCOMPAT        in the words of recorder 1.x
//     -DOTHER_FILE    the other file of the program, compiled as C or C++
#ifdef COMPAT
#include "recorder/recorder.h"
#else
#include "recorder_set.h"
#endif

#ifdef OTHER_FILE
RECORDER_DECLARE(shared);
RECORDER(net, 8, "Of the other file");
RECORDER_TWEAK_DEFINE(limit, 1, "Of the other file");
#ifdef __cplusplus
extern "C"
#endif
void other_file(void);
void other_file(void)
{
    record(shared, "other file");
    record(net, "outside, limit %d", (int)RECORDER_TWEAK(limit));
}
#else
RECORDER_DECLARE(net);
RECORDER_TWEAK_DECLARE(limit);
extern "C" void other_file(void);
RECORDER(shared, 8, "Of both files");

namespace app
{
RECORDER_DECLARE(net);
RECORDER_TWEAK_DECLARE(limit);
RECORDER(net, 8, "Of app");
RECORDER_TWEAK_DEFINE(limit, 2, "Of app");
template <typename T> void send(T value)
{
    record(net, "app %d, limit %d", (int)value, (int)RECORDER_TWEAK(limit));
    RECORDER_TWEAK(limit) = 5;
}
namespace inner
{
#ifndef COMPAT
RECORDER_DECLARE(shared_by_all);
#endif
RECORDER(net, 8, "Of app::inner");
struct Sender {
    void send() const
    {
#ifdef COMPAT
        RECORDER_DECLARE(shared_by_all);
#endif
        record(net, "inner, limit %d", (int)RECORDER_TWEAK(limit));
        record(shared, "inner");
        record(shared_by_all, "inner");
    }
};
RECORDER(shared_by_all, 8, "1.x may declare it in a function");
} // namespace inner
} // namespace app
namespace
{
RECORDER(hidden, 8, "Of this file only");
}

int main()
{
    recorder_trace_set("-all");
    other_file();
    app::send(7L);
    app::inner::Sender().send();
    record(hidden, "hidden");
    record(net, "main, limit %d", (int)RECORDER_TWEAK(limit));
    recorder_dump_for("net|shared.*|hidden");
    return 0;
}
#endif
