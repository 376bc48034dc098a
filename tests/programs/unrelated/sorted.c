/* sorted.c - a sort that records each swap; a large array on the stack. */
/* SPDX-License-Identifier: MIT */
/* a: null pointer */
/* b: stack overflow */
#include "unrelated.h"
RECORDER(sort, 512, "Swaps")
typedef struct {
    const char *name;
    int age;
} person;
static person *people[32];
static NOINLINE void swap(person **a, person **b)
{
    person *t = *a;
    record(sort, "swap a=%p b=%p person=%p", A(*a), A(*b), A(t));
    *a = *b;
    *b = t;
}
static NOINLINE int by_age(const person *a, const person *b)
{
    return a->age - b->age;
}
static NOINLINE int by_name(const person *a, const person *b)
{
    return strcmp(a->name, b->name);
}
static NOINLINE void sort_all(person **at, int n,
                              int (*compare)(const person *, const person *))
{
    for (int i = 1; i < n; i++)
        for (int k = i; k > 0 && compare(at[k - 1], at[k]) > 0; k--)
            swap(&at[k - 1], &at[k]);
}
static NOINLINE long histogram(int n)
{
    volatile int counts[3000000];
    for (int i = 0; i < n; i++)
        counts[people[i % 32]->age]++;
    return counts[5];
}
int main(int argc, char **argv)
{
    for (int i = 0; i < 32; i++) {
        people[i] = malloc(sizeof(person));
        people[i]->age = (i * 17) % 32;
        people[i]->name = i == 20 ? NULL : "someone";
    }
    sort_all(people, 32, by_age);
    if (argv[1][0] == 'a') {
        sort_all(people, 32, by_name);
        return 0;
    }
    return (int)histogram(3000000);
}
