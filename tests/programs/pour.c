/* Records into 50 small rings, at full speed, until the program is killed. */
/* SPDX-License-Identifier: MIT */
#include "recorder.h"

#include <stdio.h>
#include <unistd.h>

#define TEN(a)                                                                 \
    R(a##0) R(a##1) R(a##2) R(a##3) R(a##4)                                    \
    R(a##5) R(a##6) R(a##7) R(a##8) R(a##9)
#define FIFTY TEN(1) TEN(2) TEN(3) TEN(4) TEN(5)
#define R(n) RECORDER(net##n, 64);
FIFTY
#undef R
#define R(n) record(net##n, "%lu", i);

int main(void)
{
    printf("PID %d\n", (int)getpid());
    fflush(stdout);
    for (unsigned long i = 1;; i++) {
        FIFTY
    }
}
