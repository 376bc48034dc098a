#!/bin/sh
# tools.sh - installs what the tests and benchmarks need and is missing.
# SPDX-License-Identifier: MIT
set -u
missing=
for package in g++ gcc-multilib clang libcriterion-dev libbenchmark-dev; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null |
        grep -q 'install ok installed' || missing="$missing $package"
done
[ -z "$missing" ] && exit 0
echo "Installing what the tests need:$missing"
sudo=
[ "$(id -u)" = 0 ] || sudo=sudo
# shellcheck disable=SC2086
if ! { $sudo apt-get update -qq &&
    DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq \
        --no-install-recommends $missing >/dev/null; }; then
    echo "tools.sh: could not install:$missing" >&2
    exit 1
fi
