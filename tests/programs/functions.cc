/* Calls of C++ that exceptions leave, and names that are demangled. */
/* SPDX-License-Identifier: MIT */
#include "recorder_dump.h"
#include "recorder_functions.h"
#include <stdexcept>

RECORDER(net, 64, "Records among calls")
#define KEPT __attribute__((noinline))

namespace app
{
struct guard {
    KEPT guard()
    {
    }
    KEPT ~guard()
    {
    }
};
KEPT int throws(int n)
{
    guard g;
    if (n == 0)
        throw std::runtime_error("none");
    return throws(n - 1) + 1;
}
template <typename T> KEPT T twice(T value)
{
    return value + value;
}
KEPT void catches()
{
    try {
        throws(2);
    } catch (const std::exception &) {
        record(net, "caught");
        twice(2.0);
    }
}
} // namespace app

int main()
{
    app::catches();
    app::catches();
    return app::twice(1) == 0;
}
