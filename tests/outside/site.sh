#!/bin/bash
# site.sh - The documentation is true: the commands of the tutorial, and the links.
# SPDX-License-Identifier: MIT
. "${0%/*}/../harness/cases.sh"

## tutorial
# Goal: a newcomer who types the commands of docs/tutorial.md sees its output.
ulimit -c 0
RECORDER=$ROOT /usr/bin/python3 $PROGRAMS/site.py tutorial \
    $ROOT/docs/tutorial.md

## readme
# Goal: the same for README, whose commands in the text the recorder takes.
ulimit -c 0
ln -s $ROOT/recorder* .
/usr/bin/python3 $PROGRAMS/site.py tutorial $ROOT/README.md
cp demo.rec good.rec
cp demo.rec bad.rec
sleep 100 &
/usr/bin/python3 $PROGRAMS/site.py spans $ROOT/README.md $!

## pages, long
# Goal: the same for other pages.
for page in server library own-ring files tests; do
    mkdir $page
    (cd $page && RECORDER=$ROOT /usr/bin/python3 $PROGRAMS/site.py tutorial \
        $ROOT/docs/$page.md)
done

## links
# Goal: each page of docs/ is in the menu, each link has a target, and the
# reference has the names of the headers.
needs lowdown
sh $ROOT/site/site.sh $PWD/html
/usr/bin/python3 $PROGRAMS/site.py links html
