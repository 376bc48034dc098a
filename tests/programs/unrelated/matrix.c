/* matrix.c - small integers, and an index that a record of another thing equals. */
/* SPDX-License-Identifier: MIT */
/* a: SIGSEGV: .*not mapped */
/* b: SIGFPE: integer division by zero */
#include "unrelated.h"
#include <pthread.h>
RECORDER(math, 512, "Matrices")
RECORDER(disk, 128, "Blocks")
typedef struct {
    int rows, cols;
    double *at;
} matrix;
static NOINLINE void loader(int i)
{
    record(disk, "block i=%d n=%d bytes=%d", i, i * 3, 4096);
}
static void *work(void *none)
{
    for (int i = 0; i < 200; i++)
        record(math, "row i=%d j=%d k=%d", i, i % 10, i % 4);
    (void)none;
    return NULL;
}
static NOINLINE double sum(const matrix *m, const int *order, int count, int k)
{
    double s = 0;
    for (int n = 0; n < count; n++) {
        int i = order[n];
        s += m->at[i] / (double)(k + 1);
    }
    return s;
}
static NOINLINE int share(int n, int count)
{
    int each = n / count;
    record(math, "each=%d", each);
    return each;
}
int main(int argc, char **argv)
{
    matrix m = {40, 40, calloc(1600, sizeof(double))};
    pthread_t t;
    int order[] = {1, 2, 3, 100000000, 5};
    loader(100000000);
    loader(1600);
    loader(0);
    pthread_create(&t, NULL, work, NULL);
    pthread_join(t, NULL);
    for (int i = 0; i < 20; i++)
        record(math, "count=%d n=%d", i % 2, i);
    if (argv[1][0] == 'a')
        return (int)sum(&m, order, 5, 2);
    return share(1600, (int)m.at[3]);
}
