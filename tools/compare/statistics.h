/* statistics.h - the tests by which two recordings are compared. */
/* SPDX-License-Identifier: MIT */
/*
    Each returns a p-value: the probability of a difference as large, or larger,
    between two runs that do not differ. Unseen kinds are no matter of a mean:
    see statistics_unseen().

SOURCES
    G-test            Sokal and Rohlf, Biometry, log-likelihood ratio
    two rates         Przyborowski and Wilenski 1940: given the sum of two
                      Poisson counts, one of them is binomial
    dispersion        McCullagh and Nelder, Generalized Linear Models, quasi-
                      likelihood: a statistic is divided by variance / mean
    Mann-Whitney      1947, with ties; superiority: Vargha and Delaney 2000
    batch means       Law and Kelton: of dependent values, fewer count
    unseen            Good 1953, Efron and Thisted 1976: the number of kinds
                      that a longer look would add
    precedence test   Nelson 1963: the number of values of one sample beyond all
                      of the other
    Holm              1979: many tests at once
*/
#ifndef STATISTICS_H
#define STATISTICS_H

#include <stdbool.h>
#include <stddef.h>

/* The probability that a Poisson variable of that mean is `count` or more. */
double statistics_poisson(double count, double mean);

/* Two counts, the second of which should be `scale` times the first. */
double statistics_rates(double a, double b, double scale, double dispersion);

/* a of of_a, and b of of_b: the same share */
double statistics_shares(double a, double of_a, double b, double of_b,
                         double dispersion);

/* None of `of_b`, where there were `a` of `of_a`: Fisher's exact test. */
double statistics_none(double a, double of_a, double of_b);

/* `beyond` of `of_a` values are beyond all others. */
double statistics_precedence(double beyond, double of_a, double of_b);

/* `kinds[i]`: how many kinds were seen 1 + i times in `of_a`: the number of new
 * kinds to expect in `of_b` more, biased up. */
double statistics_unseen(const size_t kinds[3], double of_a, double of_b);

/* Two samples, in the order of time. */
struct statistics_sample {
    const double *at;
    size_t count;
};
enum { STATISTICS_MAX = 4096 }; /* values of a sample that are looked at */
struct statistics_summary {
    double least, low, median, high, most; /* low, high: the 5th, 95th of 100 */
    double trend;  /* Spearman's rank correlation with time */
    double weight; /* this number of values counts as one: more than 1 if they
                    * depend on earlier values */
};
struct statistics_comparison {
    double p;
    double superiority; /* the chance that one of b is larger than one of a */
    struct statistics_summary of[2];
};
/* Compares two samples by the Mann-Whitney test. False: there is no memory, or
 * a sample is empty. */
bool statistics_compare(struct statistics_sample a, struct statistics_sample b,
                        struct statistics_comparison *);

/* The p-values of `count` tests, as if there were one test, in place. */
void statistics_holm(double **p, size_t count);

/* Keeps one of each few values, by chance, so that STATISTICS_MAX remain, in
 * their order; returns their number. In place. */
size_t statistics_thin(double *values, size_t count);

#endif
