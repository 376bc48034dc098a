/* criterion.h - as much of Criterion as our tests use, where there is none. */
/* SPDX-License-Identifier: MIT */
/*
 * Criterion itself does not start under ThreadSanitizer (Snaipe/Criterion#274),
 * and other processors have none. Each test runs in a child of fork(); -I this
 * folder, and no -lcriterion. A program's arguments name tests to leave out;
 * `--filter SUITE/NAME` leaves out all but one.
 */
#ifndef CRITERION_SHIM_H
#define CRITERION_SHIM_H
#pragma GCC system_header
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct shim_data {
    void (*init)(void), (*fini)(void);
    double timeout;
    bool disabled;
};
struct shim_test {
    const char *suite, *name;
    void (*run)(void);
    struct shim_data data;
    struct shim_test *next;
};
static struct shim_test *shim_tests;
__attribute__((weak)) struct shim_data shim_suite;
static int shim_failed;
static int shim_stderr = 2; /* a copy, for when a test takes 2 for itself */

#define TestSuite(suite, ...) struct shim_data shim_suite = {__VA_ARGS__}
#define Test(suite_, name_, ...)                                               \
    static void suite_##_##name_(void);                                        \
    static struct shim_test shim_##suite_##_##name_ = {                        \
        #suite_, #name_, suite_##_##name_, {__VA_ARGS__}, NULL};               \
    __attribute__((constructor)) static void shim_enter_##name_(void)          \
    {                                                                          \
        shim_##suite_##_##name_.next = shim_tests;                             \
        shim_tests = &shim_##suite_##_##name_;                                 \
    }                                                                          \
    static void suite_##_##name_(void)
#define cr_log_info(...) ((void)0)
#define cr_log_warn(...) (fprintf(stderr, __VA_ARGS__), fputc('\n', stderr))
#define cr_skip_test(...) (cr_log_warn(__VA_ARGS__), _exit(0))
#define shim_says(condition, text, ...)                                        \
    (dprintf(shim_stderr, "%s:%d: %s " text "%.0d\n", __FILE__, __LINE__,      \
             condition, __VA_ARGS__))
#define cr_assert(condition, ...)                                              \
    ((condition) ? (void)0                                                     \
                 : (shim_says(#condition, "" __VA_ARGS__, 0), _exit(1)))
#define cr_assert_eq(a, b, ...) cr_assert((a) == (b), __VA_ARGS__)
#define cr_assert_neq(a, b, ...) cr_assert((a) != (b), __VA_ARGS__)
#define cr_assert_lt(a, b, ...) cr_assert((a) < (b), __VA_ARGS__)
#define cr_assert_leq(a, b, ...) cr_assert((a) <= (b), __VA_ARGS__)
#define cr_assert_gt(a, b, ...) cr_assert((a) > (b), __VA_ARGS__)
#define cr_assert_geq(a, b, ...) cr_assert((a) >= (b), __VA_ARGS__)
#define cr_assert_null(a, ...) cr_assert((a) == NULL, __VA_ARGS__)
#define cr_assert_not_null(a, ...) cr_assert((a) != NULL, __VA_ARGS__)
#define cr_assert_not(a, ...) cr_assert(!(a), __VA_ARGS__)
#define cr_assert_str_eq(a, b, ...) cr_assert(strcmp(a, b) == 0, __VA_ARGS__)
#define cr_assert_fail(...) cr_assert(false, __VA_ARGS__)
#define cr_expect(condition, ...)                                              \
    ((condition)                                                               \
         ? (void)0                                                             \
         : (void)(shim_says(#condition, "" __VA_ARGS__, 0), shim_failed = 1))
#define cr_expect_eq(a, b, ...) cr_expect((a) == (b), __VA_ARGS__)
#define cr_expect_neq(a, b, ...) cr_expect((a) != (b), __VA_ARGS__)
#define cr_expect_lt(a, b, ...) cr_expect((a) < (b), __VA_ARGS__)
#define cr_expect_leq(a, b, ...) cr_expect((a) <= (b), __VA_ARGS__)
#define cr_expect_gt(a, b, ...) cr_expect((a) > (b), __VA_ARGS__)
#define cr_expect_geq(a, b, ...) cr_expect((a) >= (b), __VA_ARGS__)
#define cr_expect_str_eq(a, b, ...) cr_expect(strcmp(a, b) == 0, __VA_ARGS__)

int main(int arguments, char **left_out)
{
    const char *only = NULL;
    unsigned failed = 0, count = 0;
    struct shim_test *t;
    shim_stderr = fcntl(2, F_DUPFD_CLOEXEC, 100);
    if (arguments > 2 && strcmp(left_out[1], "--filter") == 0)
        only = strchr(left_out[2], '/') + 1;
    for (t = shim_tests; t; t = t->next) {
        int status, i = arguments;
        pid_t child;
        while (--i > 0 && strcmp(left_out[i], t->name) != 0)
            ;
        if (t->data.disabled || i > 0 || (only && strcmp(only, t->name) != 0))
            continue;
        count++;
        child = fork();
        if (child == 0) {
            void (*init)(void) = t->data.init ? t->data.init : shim_suite.init;
            if (init)
                init();
            void (*fini)(void) = t->data.fini ? t->data.fini : shim_suite.fini;
            t->run();
            if (fini)
                fini();
            exit(shim_failed);
        }
        waitpid(child, &status, 0);
        failed += status != 0;
        fprintf(stderr, "[%s] %s::%s %#x\n", status ? "FAIL" : "PASS", t->suite,
                t->name, (unsigned)status);
    }
    fprintf(stderr, "%u passed, %u failed\n", count - failed, failed);
    return failed != 0;
}
#endif
