#!/bin/sh
# apt.sh COMMAND... - apt-get COMMAND by root, lists fresh, until it works.
# SPDX-License-Identifier: MIT
# A mirror may refuse for a moment, the lists be of before an update, another
# hold the lock: it tries five times, in two minutes and more.
command -v apt-get >/dev/null || exit 127
sudo=
[ "$(id -u)" = 0 ] || sudo=sudo
for pause in 5 15 40 60 ""; do
    $sudo apt-get update -qq &&
        DEBIAN_FRONTEND=noninteractive $sudo apt-get -qq \
            -o DPkg::Lock::Timeout=120 "$@" >/dev/null && exit
    code=$?
    [ -z "$pause" ] || echo "apt.sh: $1 again in $pause s" >&2
    sleep "${pause:-0}"
done
exit "$code"
