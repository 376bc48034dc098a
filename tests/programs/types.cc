// Enum classes and types of a program's own as arguments; prints a dump.
// SPDX-License-Identifier: MIT
#include "recorder_dump.h"

#include <string>

RECORDER(net, 64, "Network traffic")

enum class color : unsigned char { red = 3, green };
enum plain { one = 1 };

namespace app
{
struct point {
    int x, y;
};
inline std::string recorder_argument(const point &p)
{
    return "(" + std::to_string(p.x) + "," + std::to_string(p.y) + ")";
}
enum class state { idle, busy };
inline const char *recorder_argument(state s)
{
    return s == state::idle ? "idle" : "busy";
}
struct meters {
    double m;
};
inline double recorder_argument(meters m)
{
    return m.m;
}
} // namespace app

template <class... A> static void one_of(A... a)
{
    record(net, "pack %d", a...);
}

int main()
{
    app::point p = {1, 2};
    std::string text = "text";
    record(net, "%d %u %d", color::green, color::red, one);
    record(net, "at %s %s %.1f", p, app::state::busy, app::meters{2.5});
    one_of(7);
    record(net, "%s", text);
    RECORDER_SPAN(net, "span %s", app::state::idle);
    recorder_dump();
}
