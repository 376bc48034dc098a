#!/bin/sh
# apt.sh COMMAND... - apt-get COMMAND, lists fresh, until it works.
# SPDX-License-Identifier: MIT
# A mirror may refuse for a moment, the lists be of before an update, another
# hold the lock: it tries five times, in two minutes and more. It needs root;
# SUDO names a command that gives it.
command -v apt-get >/dev/null || exit 127
[ "$(id -u)" = 0 ] || [ -n "${SUDO:-}" ] || {
    echo "apt.sh: only root may install packages;" \
        "SUDO=sudo in the environment asks sudo" >&2
    exit 77
}
lock=$(dirname "$0")/../build/apt.lock # of tests that run at once
mkdir -p "${lock%/*}" && exec 9>"$lock" && flock 9 || exit
for pause in 5 15 40 60 ""; do
    ${SUDO:-} apt-get update -qq &&
        ${SUDO:-} env DEBIAN_FRONTEND=noninteractive apt-get -qq \
            -o DPkg::Lock::Timeout=120 "$@" >/dev/null && exit
    code=$?
    [ -z "$pause" ] || echo "apt.sh: $1 again in $pause s" >&2
    sleep "${pause:-0}"
done
exit "$code"
