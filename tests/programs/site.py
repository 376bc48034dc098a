"""Checks the documentation: tests/outside/site.sh

site.py tutorial PAGE   types what stands behind each $, and compares what is
                        said with the page, but for digits that are not of a
                        line as in main.c:12; ... is any lines
site.py spans PAGE PID  runs the commands in its text
site.py links FOLDER    each link of each page leads somewhere
"""
# SPDX-License-Identifier: MIT

import html.parser
import os
import re
import subprocess
import sys


def shape(line):
    """A line without the values of its numbers, but for lines of files."""
    return re.sub(r"(\.\w+:)?[0-9]+", lambda number: number[0] if number[1] else
                  "0", re.sub(" +", " ", line))


def agrees(page, said):
    """Are these lines what was said? "..." stands for any, also for none."""
    if not page:
        return not said
    if page[0] == "...":
        return any(agrees(page[1:], said[i:]) for i in range(len(said) + 1))
    return bool(said) and shape(page[0]) == shape(said[0]) and agrees(
        page[1:], said[1:])


def tutorial(path):
    """Runs the console blocks of a page, in this folder, with its files of C,
    whose first lines name them."""
    ran = 0
    for text in re.findall(r"^```c\n(/\* \w+\.[ch] \*/\n.*?)^```$",
                           open(path).read(), re.M | re.S):
        open(text.split()[1], "w").write(text)
    for block in re.findall(r"^```console\n(.*?)^```$", open(path).read(),
                            re.M | re.S):
        for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
            command, _, text = part.partition("\n")
            done = subprocess.run(["sh", "-c", command], text=True,
                                  stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT)
            started = re.search(r"echo \$! >(\S+)", command)
            if started: # the program records a moment later
                subprocess.run(["sh", "-c", "until recorder list $(cat %s) "
                                ">started 2>&1; do sleep 0.1; done" %
                                started[1]], timeout=60)
            assert agrees(text.splitlines(), done.stdout.splitlines()), (
                "%s: $ %s\nsays:\n%s\nbut the page:\n%s" %
                (path, command, done.stdout, text))
            ran += 1
    assert ran >= 4, ran
    print("%d commands" % ran)


class Page(html.parser.HTMLParser):
    """The links and targets of a page."""

    def __init__(self, path):
        super().__init__()
        self.links, self.targets = [], set()
        self.feed(open(path).read())

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("href", "src"):
                self.links.append(value)
            if name == "id":
                self.targets.add(value)


def spans(path, pid):
    """Each command in the text of a page is one that the recorder takes: its
    files are here, 4711 is a process."""
    commands = [re.sub(r"\\\|", "|", c) for c in re.findall(
        r"`(recorder (?!run )[^`\n]*(?:4711|\.rec)[^`\n]*)`", open(path).read())]
    for command in commands:
        done = subprocess.run(["sh", "-c", command.replace("4711", pid)],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        assert done.returncode in (0, 1) and b"usage" not in done.stdout, (
            command, done)
        assert done.returncode == 0 or " diff " in command, (command, done)
    assert len(commands) > 4, commands


def links(folder):
    """All of them, and no page asks the network for anything."""
    pages = {os.path.join(where, name): None
             for where, _, names in os.walk(folder)
             for name in names if name.endswith(".html")}
    for path in pages:
        pages[path] = Page(path)
    count = 0
    for path, page in pages.items():
        for link in page.links:
            if link.startswith(("http:", "https:")):
                assert not re.search(r'(src|rel="stylesheet" href)="http',
                                     open(path).read()), path
                continue
            file, _, anchor = link.partition("#")
            to = os.path.normpath(os.path.join(os.path.dirname(path), file)
                                  if file else path)
            assert os.path.exists(to), "%s: no %s" % (path, link)
            if anchor and to in pages:
                assert anchor in pages[to].targets, "%s: no %s" % (path, link)
            count += 1
    assert len(pages) > 20 and count > 400, (len(pages), count)
    names = pages[os.path.join(folder, "reference", "index.html")].links
    for name in ("recorder.html#RECORDER", "recorder.html#RECORDER_TIME_HZ", "recorder.html#record",
                 "recorder.html#recorder_dump",
                 "recorder_reader.html#recorder_reader_open"):
        assert name in names, name
    assert '<h3 class="name" id="RECORDER_SPAN">' in open(
        os.path.join(folder, "reference", "recorder.html")).read()
    print("%d pages, %d links" % (len(pages), count))


if __name__ == "__main__":
    {"tutorial": tutorial, "links": links, "spans": spans}[sys.argv[1]](
        *sys.argv[2:])
