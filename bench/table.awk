# table.awk: Markdown tables of what was measured, in the order of the names.
# SPDX-License-Identifier: MIT
# usage: awk -f table.awk NAMES CSV SIZES

# "group/what/manual_time/threads:2" is `name` with `threads`.
function split_name(text)
{
    threads = 1
    if (match(text, /\/threads:[0-9]+$/)) {
        threads = substr(text, RSTART + 9) + 0
        text = substr(text, 1, RSTART - 1)
    }
    name = text
    sub(/\/manual_time.*/, "", name)
}
function shown(text)
{
    sub(/\//, ": ", text)
    return text
}
function figure(x) { return sprintf(x < 100 ? "%.1f" : "%.0f", x) }
# A table of figures for each number of threads.
function threads_table(title, of, i, j, what, row)
{
    printf "\n%s\n\n", title
    row = "| threads |"
    what = "|---|"
    for (j = 1; j <= columns_count; j++) {
        row = row " " columns[j] " |"
        what = what "---:|"
    }
    print row "\n" what
    for (i = 1; i <= names_count; i++)
        if (names[i] in threaded) {
            what = names[i]
            sub(/^[^\/]*\//, "", what)
            row = "| " what " |"
            for (j = 1; j <= columns_count; j++)
                row = row " " figure(of[names[i], columns[j]]) " |"
            print row
        }
}
# CPU time of one with so many threads, over another.
function ratio_of(above, threads_above, below, threads_below)
{
    if (!((above, threads_above) in cpu) || !((below, threads_below) in cpu))
        return ""
    return cpu[above, threads_above] / cpu[below, threads_below]
}
function ratio(above, below)
{
    if (!(above in middle) || !(below in middle))
        return ""
    return middle[above] / middle[below]
}
function reached(what, most, x, digits, unit)
{
    if (x == "")
        printf "| %s | %s%s | not measured | |\n", what, most, unit
    else
        printf "| %s | %s | %." digits "f%s | %s |\n", what,
               most == "" ? "" : most unit, x, unit,
               most == "" ? "" : x <= most + 0 ? "yes" : "**no**"
}

FNR == 1 { file++ }

file == 1 {
    split_name($0)
    if (!(name in known)) {
        known[name] = 1
        names[++names_count] = name
    }
    if ($0 ~ /\/threads:/) {
        threaded[name] = 1
        if (!(threads in column)) {
            column[threads] = 1
            columns[++columns_count] = threads
        }
    }
}

file == 2 && /^"/ {
    end = index(substr($0, 2), "\"")
    text = substr($0, 2, end - 1)
    split(substr($0, end + 3), value, ",") # iterations, wall, CPU time
    is_median = sub(/_median$/, "", text)
    is_one = text !~ /_(mean|stddev|cv)$/
    split_name(text)
    if (is_median && name in threaded) {
        wall[name, threads] = value[2]
        cpu[name, threads] = value[3]
        busy[threads] += value[3] / value[2]
        busy_count[threads]++
    } else if (is_median)
        middle[name] = value[3]
    else if (is_one && (!(name in least) || value[3] + 0 < least[name]))
        least[name] = value[3] + 0
}

file == 3 {
    split($0, part, "\t")
    size[part[1]] = part[2]
    sizes[++sizes_count] = "| " part[1] " | " \
        (part[3] == "ms" ? figure(part[2]) : part[2]) " " part[3] " |"
}

END {
    print "| one thread, ns of CPU time | median | least |\n|---|---:|---:|"
    for (i = 1; i <= names_count; i++)
        if (names[i] in middle)
            printf "| %s | %s | %s |\n", shown(names[i]),
                   figure(middle[names[i]]), figure(least[names[i]])

    threads_table("Wall-clock ns per record of all threads together, median:",
                  wall)
    row = "| cores that were at it |" # fewer than there are: others were, too
    for (j = 1; j <= columns_count; j++)
        row = row " " figure(busy[columns[j]] / busy_count[columns[j]]) " |"
    print row
    threads_table("CPU ns per record, of all threads together, median:", cpu)

    print "\n| size and compile time | |\n|---|---:|"
    for (i = 1; i <= sizes_count; i++)
        print sizes[i]

    on = "record/4 arguments"
    bottom = "record/floor"
    clock = "compare/clock_gettime(CLOCK_MONOTONIC)"
    dump = "dump/a record of a million"
    print "\nRatios of medians, of repetitions that alternate; the floor is a" \
          " record without any safety.\n"
    print "| | at most | here | |\n|---|---:|---:|---|"
    reached("record, 4 arguments / floor", "1.15", ratio(on, bottom), 2, "")
    reached("record, 4 arguments / clock_gettime(CLOCK_MONOTONIC)", "0.70",
            ratio(on, clock), 2, "")
    reached("floor / clock_gettime(CLOCK_MONOTONIC)", "",
            ratio(bottom, clock), 2, "")
    reached("record with its ring in a file / in memory", "1.05",
            ratio("record/4 arguments; ring in a file",
                  "record/4 arguments; ring in memory"), 2, "")
    reached("record, 12 arguments / 4 arguments", "1.7",
            ratio("record/12 arguments", on), 2, "")
    reached("record in a lane of its thread / in one ring", "0.85",
            ratio("record/4 arguments; in a lane", on), 2, "")
    plain = "threads/RECORDER_LANES"
    clocked = plain " by the clock"
    reached("record in a lane by the clock, 2 threads / 1, CPU time", "1.1",
            ratio_of(clocked, 2, clocked, 1), 2, "")
    reached("record in a lane, 2 threads / 1, CPU time", "",
            ratio_of(plain, 2, plain, 1), 2, "")
    reached("record in a lane / its floor", "1.1",
            ratio_of(plain, 1, "threads/floor of RECORDER_LANES", 1), 2, "")
    reached("record in a lane by the clock / its floor", "1.1",
            ratio_of(clocked, 1, "threads/floor of RECORDER_LANES by the clock",
                     1), 2, "")
    reached("record off / record on", "0.05", ratio("record/off", on), 3, "")
    reached("an empty loop / record on", "", ratio("record/an empty loop", on),
            3, "")
    reached("record watched by a trigger / not watched", "1.6",
            ratio("trigger/watched by one", on), 2, "")
    reached("record while another recorder is watched / none", "1.05",
            ratio("trigger/another recorder is watched", on), 2, "")
    reached("code at a call site with 4 arguments", "80",
            size["code at a call site with 4 arguments"], 0, " bytes")
    # ns for one of them are ms for a million
    reached("dump of a million records to /dev/null", "1.0",
            dump in middle ? middle[dump] / 1000 : "", 2, " s")
    reached("header compile time, alone", "30",
            size["the header alone, over an empty file"], 1, " ms")
}
