/* zap.h - a library that its users see; it does not say that it records. */
/* SPDX-License-Identifier: MIT */
#ifndef ZAP_H
#define ZAP_H

int zap(int key);

#endif
