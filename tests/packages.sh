#!/bin/sh
# packages.sh build|fleet|test|fuzz|litmus|evidence - installs the Debian packages that are missing.
# SPDX-License-Identifier: MIT
# Where there is no apt-get, it says what of the libraries is missing; what else
# tests need, they say themselves.
set -u
libraries=$(sh packages/libraries.sh names debian)
case $1 in
build) packages=$libraries ;;
test) packages="$libraries g++ gcc-multilib g++-multilib clang
    libcriterion-dev libbenchmark-dev libpth-dev libboost-fiber-dev gdb gdbserver elfutils lld babeltrace2
    gtkwave sigrok-cli protobuf-compiler sqlite3 xvfb xauth python3 chromium pkg-config cmake meson
    build-essential debhelper dh-python lintian rustc cargo golang-go
    nodejs npm pigz pbzip2 lbzip2 xz-utils zstd memcached redis-server libjemalloc2
    libtcmalloc-minimal4 linux-perf uftrace valgrind python3-numpy python3-pandas nats-server libnats-dev libssl-dev openssl lowdown openssh-server openssh-client" ;;
fleet) packages="$libraries libnats-dev libssl-dev" ;;
fuzz) packages="$libraries clang-14 libclang-rt-14-dev" ;;
evidence) packages="$libraries libcriterion-dev clang-19 libclang-rt-19-dev llvm-19 lld-19 cppcheck frama-c-base
    gcc-arm-none-eabi qemu-system-arm qemu-user" ;;
litmus)
    command -v herd7 >/dev/null || exit 0
    packages="clang gcc-aarch64-linux-gnu gcc-riscv64-linux-gnu gcc-powerpc64le-linux-gnu"
    ;;
*) echo "packages.sh: build, fleet, test, fuzz, litmus or evidence" >&2 && exit 2 ;;
esac
if ! command -v apt-get >/dev/null; then
    sh packages/libraries.sh
    exit
fi
missing=
for package in $packages; do
    command -v "$package" >/dev/null && continue # from elsewhere: as good
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null |
        grep -q 'install ok installed' || missing="$missing $package"
done
[ -z "$missing" ] && exit 0
echo "Installing what make $1 needs:$missing"
# shellcheck disable=SC2086
sh tests/apt.sh install -y --no-install-recommends $missing || {
    echo "packages.sh: could not install:$missing" >&2
    exit 1
}
