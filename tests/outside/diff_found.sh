#!/bin/bash
# diff_found.sh - differences that recorder diff must find, and show in words.
# SPDX-License-Identifier: MIT
. "${0%/*}/../harness/cases.sh"

# A program of one thread with 300 searches, of which "rare" and "never" break
# some; with 8 slow ones.
searches()
{
    cat >searches.c <<END
#include "recorder_dump.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
RECORDER(find, 1024, "")

int main(int count, char **arguments)
{
    const char *how = count > 1 ? arguments[1] : "";
    for (int i = 0; i < (count > 2 ? 8 : 300); i++) {
        int place = i % 30 == 29 ? -1 : i * 7 % 11;
        if (strcmp(how, "rare") == 0 && i == 5)
            place = 12;
        if (strcmp(how, "never") == 0 && !place)
            place = -1;
        if (strcmp(how, "slow") == 0)
            usleep(50000);
        for (int k = 0; k < 30 && getenv("NAPS"); k++)
            usleep(60);
        record(find, "search in a list with a long name, at=%p found=%d",
               (void *)&place, place);
    }
    return 0;
}
END
    gcc -O1 -g $WARNINGS -I$ROOT -o searches searches.c
    for i in 1 2 3; do RECORDER_FILE=good$i.rec ./searches; done
    for how in rare never; do RECORDER_FILE=$how.rec ./searches $how; done
}

## waits_in_words
# Goal: a difference between two recordings of recorder run, and the records
# around it, are in words; a wait's end is no second difference. Method: a
# program sleeps in one of two runs.
cat >naps.c <<END
#include <pthread.h>
#include <unistd.h>

static void *worker(void *naps)
{
    for (int i = 0; i < 20; i++)
        if (naps)
            usleep(2000);
    return NULL;
}

int main(int count, char **arguments)
{
    pthread_t thread;
    pthread_create(&thread, NULL, worker, count > 1 ? arguments : NULL);
    return pthread_join(thread, NULL);
}
END
gcc -O1 -g -o naps naps.c -lpthread
recorder run -q -o good.rec ./naps
recorder run -q -o bad.rec ./naps naps
must recorder diff good.rec bad.rec
has '. new: slow_call: waits in usleep: 20 times in BAD, never in GOOD' \
    'with it, new: slow_call: waited in usleep: 20 times in BAD' \
    'slow_call: waits in usleep'
lacks 'call_stack' 'lock_total' '%' 'stack 1'
must -1 recorder diff --any good.rec bad.rec
must recorder diff bad.rec good.rec
has '. gone: slow_call: wait' ' in usleep: never in BAD, 20 times in GOOD'

## a_value_is_gone
# Goal: a value of a tenth of GOOD that BAD never has is a difference.
searches
must -1 recorder diff good1.rec never.rec
has 'is 0 in 0% of 300 records of BAD, 9% of 300 of GOOD'
must recorder diff good1.rec good2.rec
has 'No difference'
lacks 'times as long'

## good_runs_that_are_alike
# Goal: if all of three good runs are the same in each record, one record that
# is not is the difference; its whole line is shown, not a column of it.
searches
must -1 recorder diff good1.rec good2.rec good3.rec -- rare.rec
has 'exact: found of find: ' ' is 12 in BAD, 2 in GOOD; before it 5 records'
has ' found=2
| ' ' found=12
'
must recorder diff good1.rec good2.rec -- good3.rec
# Also if waits of recorder run were overwritten.
export NAPS=1
for i in 1 2 3; do recorder run -q --always -o good$i.rec ./searches; done
recorder run -q --always -o rare.rec ./searches rare
must -1 recorder diff good1.rec good2.rec good3.rec -- rare.rec
has ' overwritten)' '1. exact: found of find: ' ' is 12 in BAD, 2 in GOOD; '
must recorder diff good1.rec good2.rec -- good3.rec

## a_run_takes_longer
# Goal: a run that takes many times as long for the same records is no silent
# "no difference", also if its steps are too few to compare.
searches
RECORDER_FILE=fast.rec ./searches fast 8
RECORDER_FILE=slow.rec ./searches slow 8
must recorder diff fast.rec slow.rec
has ' times as long, and has no more records; --times shows'
must recorder diff slow.rec fast.rec
lacks ' times as long'

## waits_hide_no_record
# Goal: a difference in the program's own records is found in recordings of
# recorder run, too, where waits come between them. Method: a record is left
# out in a quarter of 40 passes; each pass sleeps once, or 200 times: most
# waits are overwritten then.
cat >cache.c <<END
#include "recorder_dump.h"
#include <stdlib.h>
#include <unistd.h>
RECORDER(cache, 1024, "")

int main(int count, char **arguments)
{
    for (int i = 0; count > 1 && i < 40; i++) {
        record(cache, "lookup key=%d", i);
        if (count == 2 || i % 4)
            record(cache, "fill key=%d", i);
        for (int k = 0; k < atoi(arguments[1]); k++)
            usleep(100);
        record(cache, "status %d", 200);
    }
    return 0;
}
END
gcc -O1 -g $WARNINGS -I$ROOT -o cache cache.c
for sleeps in 1 200; do
    recorder run -q --always -o good.rec ./cache $sleeps
    recorder run -q --always -o again.rec ./cache $sleeps
    recorder run -q --always -o bad.rec ./cache $sleeps leaves-out
    must recorder diff good.rec again.rec
    must -1 recorder diff good.rec bad.rec
    has '1. order: after cache: "lookup key=%d" cache.c' \
        'comes cache: "status %d"' ': 10 of 40 times in BAD, never in 40 of GOOD'
done
