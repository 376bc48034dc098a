/* expect: 'recorder_for_net' || use of undeclared identifier 'recorder_for_net' */
/* SPDX-License-Identifier: MIT */
#include "recorder.h"
void use(void);
#ifdef RIGHT
RECORDER_DECLARE(net)
#endif
void use(void)
{
    record(net, "a recorder that nobody declared");
}
