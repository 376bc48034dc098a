/* histogram.h - how long many things took. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "libc.h"

/* Sorts some times, for the functions below. */
void histogram_sort(uint64_t *ns, size_t count);
/* The time within which `thousandths` of all end; `count` is at least 1. */
uint64_t histogram_within(const uint64_t *ns, size_t count, size_t thousandths);
/* Steps of 1, 2, 5, 10 ...: how many took no longer, and a bar. */
void histogram_print(const uint64_t *ns, size_t count);
/* Prints these steps as "[from,to,count]", with commas between them. */
void histogram_json(const uint64_t *ns, size_t count);
