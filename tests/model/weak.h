/* weak.h - C11 atomics under a model checker: GenMC's or our own (weak.c). */
/* SPDX-License-Identifier: MIT */
/*
 * A program that includes this file before its own code has its atomics, its
 * threads and its checks redirected. The explorer in weak.c then runs it in
 * every way that the memory model allows; with -DGENMC all stays what it is
 * and GenMC does the same.
 *
 * A program is a function: it creates threads, joins them all, looks at what
 * they left behind and returns an outcome from 0 to 63. What its threads share
 * must go through __atomic_... or weak_alone; anything else they touch must be
 * their own. The threads are run again and again from their start, so they
 * must do the same whenever their atomics answer the same.
 */
#ifndef WEAK_H
#define WEAK_H

#include <stdbool.h>
#include <stdint.h>

#ifdef GENMC

#include <assert.h>
#include <pthread.h>
#define WEAK_LOAD_(p, order) __atomic_load_n(p, order)
#define WEAK_STORE_(p, value, order) __atomic_store_n(p, value, order)
#define WEAK_ADD_(p, value, order) __atomic_fetch_add(p, value, order)
#define weak_thread pthread_t
#define weak_begin(thread, function, argument)                                 \
    pthread_create(thread, NULL, function, argument)
#define weak_join(thread, result) pthread_join(thread, result)
#define weak_past(a, b) ((void)0)
/* GenMC reports two of these that race. */
#define weak_alone(p) (*(p) = 1)
#define weak_check(condition, text) assert((condition) && text)

#else

/* --------------------------------------------- what a program may call -- */

uintptr_t weak_load(const void *p, int order);
void weak_store(void *p, uintptr_t value, int order);
uintptr_t weak_add(void *p, uintptr_t value, int order);
bool weak_cas(void *p, void *expected, uintptr_t desired, int success,
              int failure);
void weak_fence(int order);
/* A plain store: every other one to the same place must happen before or
 * after it. */
void weak_alone(void *p);
typedef unsigned weak_thread;
void weak_begin(weak_thread *thread, void *(*function)(void *), void *argument);
void weak_join(weak_thread thread, void **result);
/* What this thread does from here on follows from a and b alone: how it came
 * here is forgotten. */
void weak_past(uintptr_t a, uintptr_t b);
void weak_fail(const char *text);
#define weak_check(condition, text) ((condition) ? (void)0 : weak_fail(text))

/* The comma drops const from the type. */
#define WEAK_TYPE_(p) __typeof__((void)0, *(p))
#define WEAK_LOAD_(p, order) ((WEAK_TYPE_(p))weak_load(p, order))
#define WEAK_STORE_(p, value, order) weak_store(p, (uintptr_t)(value), order)
#define WEAK_ADD_(p, value, order)                                             \
    ((WEAK_TYPE_(p))weak_add(p, (uintptr_t)(value), order))
#define __atomic_load_n(p, order) WEAK_LOAD_(p, order)
#define __atomic_store_n(p, value, order) WEAK_STORE_(p, value, order)
#define __atomic_fetch_add(p, value, order) WEAK_ADD_(p, value, order)
#define __atomic_compare_exchange_n(p, expected, desired, weak, success,       \
                                    failure)                                   \
    weak_cas(p, expected, (uintptr_t)(desired), success, failure)
#define __atomic_thread_fence(order) weak_fence(order)

/* ------------------------------------------------------ how to check it -- */

enum {
    WEAK_REDUCED = 1,   /* leave out schedules that cannot matter */
    WEAK_SYMMETRIC = 2, /* threads of one function are alike: see weak.c */
    WEAK_TRACE = 4,     /* print the execution that failed */
};
struct weak_result {
    double executions;    /* ways from the beginning to an end */
    unsigned long states; /* that these lead through */
    uint64_t outcomes;    /* bit n: the program returned n */
    const char *failure;  /* the text of the check that failed, or null */
};
/* Explores all executions, up to the first that fails. */
struct weak_result weak_explore(int (*program)(void), int flags);
/* Explores `count` executions at random. */
struct weak_result weak_random(int (*program)(void), int flags,
                               unsigned long count, uint64_t seed);

#endif
#endif
