#!/bin/sh
# recipes.sh ARCHIVE URL FOLDER - writes the recipes of package registries for a release.
# SPDX-License-Identifier: MIT
#
# ARCHIVE is the file that `make dist` wrote, URL the address where users will
# find it. Each registry wants the version, the address and the check sum.
set -eu
if [ $# != 3 ] || [ ! -f "$1" ]; then
    echo "recipes.sh ARCHIVE URL FOLDER" >&2
    exit 2
fi
name=${1##*/recorder-}
version=${name%.tar.gz}
hex=$(sha256sum <"$1")
hex512=$(sha512sum <"$1")
base64=$(openssl dgst -sha256 -binary <"$1" | base64)
mkdir -p "$3"
for recipe in "$(dirname "$0")"/recipes/*; do
    sed "s|@VERSION@|$version|g; s|@URL@|$2|g; s|@SHA256@|${hex%% *}|g
        s|@SHA512@|${hex512%% *}|g; s|@INTEGRITY@|sha256-$base64|g
        s|@DATE@|$(LC_ALL=C date '+%a %b %d %Y')|g" \
        "$recipe" >"$3/${recipe##*/}"
done
