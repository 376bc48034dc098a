/* control.h - which bytes move a terminal's cursor. */
/* SPDX-License-Identifier: MIT */
#ifndef CONTROL_H
#define CONTROL_H

#include <stdbool.h>

/* True for bytes that a terminal does not show: they are printed as '?'. */
static inline bool text_is_control(char byte)
{
    return (unsigned char)byte < ' ' || byte == 0x7f;
}

#endif
