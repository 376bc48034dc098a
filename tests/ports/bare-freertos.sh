#!/bin/sh
# bare-freertos.sh - FreeRTOS itself with our hooks: counts are those of its tasks.
# SPDX-License-Identifier: MIT
#
# The kernel is in no package of Debian 12, but Debian 13 has its source, in
# that of micropython: it is fetched from the mirror that this machine has, into
# build/ports, and goes nowhere else. Where it cannot be had, that is said, and
# nothing fails. RECORDER_FREERTOS names a folder that has one already.
set -u
LC_ALL=C
export LC_ALL
cd "$(dirname "$0")/../.." || exit 2
out=build/ports/bare-freertos
. tests/ports/bare-machines.sh
kernel=${RECORDER_FREERTOS:-$root/build/ports/freertos/FreeRTOS/Source}

# Into build/ports/freertos, by an apt that has no other list: whole, or not.
fetch()
{
    mirror=$(apt-get indextargets --format '$(REPO_URI) $(CODENAME)' \
        'Created-By: Packages' 'Label: Debian' 2>/dev/null |
        sed -n 's/ bookworm$//p' | head -n 1)
    [ -n "$mirror" ] || { echo "apt-get knows no mirror" && return 1; }
    new=$root/build/ports/freertos.new
    rm -rf "$new" && mkdir -p "$new/lists/partial" "$new/cache/archives/partial"
    echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]" \
        "$mirror trixie main" >"$new/list"
    (cd "$new" && for pause in 5 0; do
        for do in update "source --download-only micropython"; do
            # shellcheck disable=SC2086
            timeout 60 apt-get -qq -o Dir::Etc::sourcelist="$new/list" \
                -o Dir::Etc::sourceparts=/dev/null -o Dir::Cache="$new/cache" \
                -o Dir::State::lists="$new/lists" -o APT::Sandbox::User=root \
                $do || { sleep $pause && continue 2; }
        done
        break
    done && tar -xf micropython_*.orig.tar.xz --wildcards \
        --strip-components=3 '*/ports/cc3200/FreeRTOS') >"$out/fetch" 2>&1 &&
        rm -rf "$new/lists" "$new/cache" "$new"/micropython* \
            "$root/build/ports/freertos" &&
        mv "$new" "$root/build/ports/freertos" && return
    sed -n "s/^E: //p" "$out/fetch" | head -n 1
    return 1
}

# freertos NAME [option...]: builds, runs, and compares each row of its counts.
freertos()
{
    what=$1 port=$kernel/portable/GCC/ARM_CM3 objects=
    shift
    for part in tasks queue list portable/GCC/ARM_CM3/port \
        portable/MemMang/heap_4; do
        object=$out/$what-$(basename $part).o objects="$objects $object"
        arm-none-eabi-gcc -mcpu=cortex-m3 -mthumb -O2 -g -ffreestanding -w \
            -I. -Ihooks -I$arm -I$tests/freertos -I"$kernel/include" -I"$port" \
            "$@" -c "$kernel/$part.c" -o "$object" || return 1
    done
    build m3 "$what" "$tests/freertos/main.c $objects" -Ihooks \
        -I$tests/freertos -isystem "$kernel/include" -isystem "$port" \
        -Wl,--wrap=vTaskSwitchContext &&
        save m3 "$what" "$what.bin" \
            "dump binary memory $what.bin 0x20000000 0x20100000" || return 1
    build/recorder sched --elf $out/"$what" \
        --memory 0x20000000:$out/"$what".bin --json >$out/json || return 1
    sed -n 's/^{"thread":"\([^"]*\)".*"runs":\([0-9]*\).*"blocked":\([0-9]*\),"preempted":\([0-9]*\),.*"state":"\([a-z]*\)"}/\1 \2 \3 \4 \5/p
        s/^{"interrupt":"\([^"]*\)".*"count":\([0-9]*\),.*/\1 \2/p' $out/json |
        awk 'NF == 5 { $5 = $5 == "ended" } { print }' | sort >$out/said
    tr -d '\r' <"$out/$what.txt" | sort >$out/counted
    diff $out/counted $out/said || return 1
    awk 'NF == 5 { runs += $2; blocked += $3; preempted += $4; ended += $5 }
        NF == 2 { ticks += $2 }
        END {
            print runs " runs, " blocked " blocked, " preempted \
                " preempted, " ended " ended, " ticks " interrupts"
            exit !(runs > 500 && blocked > 100 && preempted > 100 && ended == 2)
        }' $out/said
}

if [ ! -f "$kernel/tasks.c" ] && [ -n "${RECORDER_FREERTOS:-}" ]; then
    echo "bare-freertos.sh: no tasks.c in $kernel" >&2
    exit 1
elif [ ! -f "$kernel/tasks.c" ] && ! why=$(fetch); then
    echo "bare: FreeRTOS itself: skipped: ${why:-its source cannot be fetched}"
    exit 0
fi
version=$(sed -n 's/#define tskKERNEL_VERSION_NUMBER *"\(.*\)"/\1/p' \
    "$kernel/include/task.h")
check "Cortex-M3: FreeRTOS $version itself" freertos freertos
[ -s $out/failed ] || exit 0
echo "--- of bare-freertos.sh:" && cat $out/failed && exit 1
