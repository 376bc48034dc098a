#!/bin/sh
# site.sh FOLDER - the documentation as plain HTML, by lowdown and python3; no network.
# SPDX-License-Identifier: MIT
#
# A page of docs/ that the list below does not name is refused, and so is a dead
# link: tests/outside/site.sh.
set -eu
cd "$(dirname "$0")/.."
out=$1
# A section, or PAGE:its name in the menu.
pages="Start
index:Overview
tutorial:From a crash to its cause
own-ring:Replace your own ring
files:Many files and libraries
install:Install
How to
server:A server
library:A library
tests:A failed test
container:Container and systemd
rtos:RTOS and bare metal
diff:A good run and a bad one
triggers:Triggers
watch:Watch a service
functions:The last calls
fleet:A fleet
fleet-operate:Operate a fleet
fleet-hub:The hub of a fleet
python:Python
languages:Other languages
explain:A crash explained
why:A slow request
pipeline:A dropped frame
tasks:Tasks of your own
threads:Threads and locks
Reference
reference/index:The headers
say:Macros and functions
command:The command
exports:Exports and SQL
recordings:Recordings and logs
timeline:The timeline
reference/command:Its options
options:Variables and options
troubleshooting:Troubleshooting
Background
explanation:How it works, limits
sizing:How large a ring
compared:Compared with
cost:The price of a record
benchmarks:Benchmarks
benchmarks-how:Benchmarks, reasons
threads-how:Threads, mechanisms
tasks-how:Tasks, mechanisms
proof:How we know that it is right
evidence:Evidence for a safety case
deviations:Deviations and gaps"

command -v lowdown >/dev/null || {
    echo "site.sh: lowdown is not installed (Debian: apt-get install lowdown)" >&2
    exit 1
}
for page in docs/*.md; do
    name=${page#docs/}
    printf '%s\n' "$pages" | grep -q "^${name%.md}:" || {
        echo "site.sh: $page is in no section of the menu" >&2
        exit 1
    }
done
rm -rf "$out"
mkdir -p "$out/reference" "$out/source"
cp site/site.css site/search.js docs/*.png "$out"

# The menu, as seen from a page: PAGE
menu()
{
    up=
    case $1 in */*) up=../ ;; esac
    printf '%s\n' "$pages" | awk -F: -v here="$1" -v up="$up" '
        NF == 1 { print "<h2>" $1 "</h2>"; next }
        { print "<a href=\"" up $1 ".html\"" \
            ($1 == here ? " aria-current=\"page\"" : "") ">" $2 "</a>" }'
}

# A whole page around the HTML of stdin: PAGE TITLE
frame()
{
    up=
    case $1 in */*) up=../ ;; esac
    body=$(cat)
    cat >"$out/$1.html" <<END
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>$2 - Recorder</title>
<link rel="stylesheet" href="${up}site.css">
</head>
<body><div class="page">
<nav id="pages" aria-label="Pages"><a class="name" href="${up}index.html">Recorder</a>
<form role="search" onsubmit="return false"><input id="search" type="search" data-up="$up" aria-label="Search the documentation" placeholder="Search (/)" autocomplete="off"></form>
<div role="status"><ol id="found"></ol></div>
$(menu "$1")
</nav>
<main>
<p class="menu"><a href="#pages">Search and pages</a></p>
$body
<p class="turns">$(printf '%s\n' "$pages" | grep : | grep -C 1 "^$1:" |
        sed -n "\\|^$1:|!s|\(.*\):\(.*\)|<a href=\"$up\1.html\">\2</a>|p")</p>
</main>
<aside aria-label="On this page">
$(printf '%s\n' "$body" |
        sed -n 's|.*<h2 id="\([^"]*\)">\(.*\)</h2>.*|<a href="#\1">\2</a>|p
            s|.*<h3 class="name" id="\([^"]*\)">\(.*\)</h3>|<a href="#\1">\2</a>|p')
</aside>
</div><script src="${up}search.js"></script></body>
</html>
END
}

# Markdown of stdin as HTML. Tables are wide, and their code has a \ before a bar.
html()
{
    lowdown -t html --html-no-skiphtml --html-no-escapehtml |
        sed 's|<table>|<div class="table" tabindex="0"><table>|
            s|</table>|</table></div>|; s|<pre>|<pre tabindex="0">|
            :a; s/\(<code>[^<]*\)\\|/\1|/; ta'
}

# Links of HTML to files of this checkout, from FOLDER: a page of docs becomes
# its page here, another file is copied to source/, as text.
links()
{
    awk -v folder="$1" -v out="$out" '
        # docs/../a/b is a/b.
        function plain(path)
        {
            while (match(path, /[^\/]+\/\.\.\//))
                path = substr(path, 1, RSTART - 1) substr(path, RSTART + RLENGTH)
            return path
        }
        function place(link, path, anchor, copy)
        {
            if (link ~ /^(https?:|#|mailto:)/ || link ~ /^reference\//)
                return link
            anchor = match(link, /#/) ? substr(link, RSTART) : ""
            sub(/#.*/, "", link)
            path = plain(folder == "." ? link : folder "/" link)
            if (path ~ /^docs\/[^\/]*\.md$/) {
                sub(/^docs\//, "", path)
                sub(/\.md$/, ".html", path)
                return path anchor
            }
            if (path == "README.md") return "index.html" anchor
            if (path ~ /^docs\/.*\.png$/) return substr(path, 6)
            if (path == "recorder") return "reference/index.html"
            if (path ~ /^recorder[a-z_]*\.h$/)
                return "reference/" substr(path, 1, length(path) - 2) ".html"
            copy = path
            gsub(/\//, "-", copy)
            system("if test -d " path "; then ls " path "; else cat " path \
                "; fi >" out "/source/" copy ".txt")
            return "source/" copy ".txt"
        }
        {
            line = ""
            while (match($0, /(href|src)="[^"]*"/)) {
                found = substr($0, RSTART, RLENGTH)
                rest = substr($0, RSTART + RLENGTH)
                quote = index(found, "\"")
                line = line substr($0, 1, RSTART - 1) substr(found, 1, quote) \
                    place(substr(found, quote + 1, length(found) - quote - 1)) "\""
                $0 = rest
            }
            print line $0
        }'
}

title()
{
    sed -n 's/^# //p' "$1" | head -n 1
}

for page in docs/*.md; do
    name=${page#docs/}
    html <"$page" | links docs | frame "${name%.md}" "$(title "$page")"
done
html <README.md | links . | frame index "A flight recorder for C"

# ------------------------------------------------------------- reference --

python3 site/reference.py "$out/reference" recorder*.h library/recorder_reader.h
for file in "$out"/reference/*.body; do
    name=${file##*/} name=${name%.body}
    frame "reference/$name" "$name" <"$file"
    rm "$file"
done
for door in recorder*.h library/recorder_reader.h; do
    cp "$door" "$out/source/${door##*/}.txt"
done
escaped()
{
    sed 's/&/\&amp;/g; s/</\&lt;/g; s/>/\&gt;/g'
}
{
    echo '<h1>The command</h1><pre tabindex=0><code>'
    build/recorder --help | escaped
    echo '</code></pre>'
    for verb in $(build/recorder --help | sed -n 's/^  \([a-z]*\)  .*/\1/p') options; do
        echo "<h2 id=\"$verb\">recorder help $verb</h2><pre tabindex=0><code>"
        build/recorder help "$verb" | escaped
        echo '</code></pre>'
    done
} | frame reference/command "The command"
# The text of each section, for search.js.
for page in $(printf '%s\n' "$pages" | sed -n 's/:.*//p' | grep -v ' '); do
    [ -f "$out/$page.html" ] || continue
    awk -v page="$page" -f site/sections.awk "$out/$page.html"
done >"$out/sections"
{ echo 'window.sections = [' && cat "$out/sections" && echo '];'; } \
    >"$out/search-index.js"
rm "$out/sections"
echo "$out/index.html"
