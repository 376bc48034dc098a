/* expect: passing argument 2 of 'recorder_copy_bytes_' from incompatible pointer type || incompatible pointer types passing 'int *' to parameter of type 'const char *' */
/* flags: -Werror */
/* SPDX-License-Identifier: MIT */
#include "recorder.h"
RECORDER(net, 16, "Network")
void use(int *n, const char *text);
void use(int *n, const char *text)
{
    (void)n, (void)text;
#ifdef RIGHT
    record(net, "%s", RECORDER_COPY_BYTES(net, text, 3));
#else
    record(net, "%s", RECORDER_COPY_BYTES(net, n, 3));
#endif
}
