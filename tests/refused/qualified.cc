/* expect: record(net, ...) in namespace app, or after: using app::recorder_for_net; */
/* SPDX-License-Identifier: MIT */
#include "recorder.h"
namespace app
{
RECORDER(net, 16, "Network");
}
void use(int bytes);
void use(int bytes)
{
#ifdef RIGHT
    using app::recorder_for_net;
    record(net, "%d bytes", bytes);
#else
    record(app::net, "%d bytes", bytes);
#endif
}
