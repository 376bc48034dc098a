/* expect: record(): a struct is no argument; record its members */
/* SPDX-License-Identifier: MIT */
#include "recorder.h"
RECORDER(net, 16, "Network")
class text
{
  public:
    text(const char *from) : copy(from) {}
    ~text() {}
    const char *copy;
};
void use(const text &name);
void use(const text &name)
{
#ifdef RIGHT
    record(net, "%s", name.copy);
#else
    record(net, "%s", name);
#endif
}
