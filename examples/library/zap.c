/* zap.c - a library that records in any program: docs/library.md. */
/* SPDX-License-Identifier: MIT */
#include "zap.h"
#include "recorder.h"

RECORDER(zap_cache, 64, "Requests to the cache");

int zap(int key)
{
    record(zap_cache, "key=%d is %s", key, key % 2 ? "missing" : "there");
    return key / 2;
}
