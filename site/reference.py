"""Makes HTML of headers: a heading and an anchor for each function and macro.

usage: reference.py FOLDER HEADER...

FOLDER gets NAME.body for each header, and index.body. The text is from the
comments: capitals or dashes are a section, two columns are names and meanings,
lines that are further in are code.
"""
# SPDX-License-Identifier: MIT
import html
import os
import re
import sys

NAME = r"\b(?:RECORDER|RECORDER_[A-Z0-9_]*[A-Z0-9]|recorder_[a-z0-9_]*[a-z0-9]|record)\b(?!_|\.h)"
pages = {}  # of each name, the header that has it


def inline(text):
    """HTML of a sentence: names, and words between backquotes, are code."""
    def code(match):
        word = match[0].strip("`")
        name = re.match(NAME, word)
        page = pages.get(name[0]) if name else None
        if page and word in (name[0], name[0] + "()"):
            return '<a href="%s.html#%s"><code>%s</code></a>' % (page, name[0], word)
        return "<code>%s</code>" % word
    text = html.escape(" ".join(text.split()), quote=False).replace(" -&gt; ", " \u2192 ")
    return re.sub(r"`[^`]+`|-D\w+|%s(?:\(\))?" % NAME.replace("|record)", r"|record(?=\(\)))"),
                  code, text)


def code(lines):
    return '<pre tabindex="0"><code>%s</code></pre>\n' % html.escape("\n".join(lines).strip("\n"), quote=False)


def entries(lines):
    """Pairs of names and their meaning, of two columns; None: they are not."""
    found = []
    for at, line in enumerate(lines):
        after = lines[at + 1] if at + 1 < len(lines) else ""
        two = re.match(r"(\S.*?) {2,}(?!//)(\S.*)$", line)
        name = re.split(r"\W", line)[0]
        if found and re.match(" {6}", line):
            found[-1][1] += " " + line.strip()
        elif line[0] == " " or not two and not re.match(" {12}", after) or ";" in line[:24]:
            return None
        elif found and name and name == re.split(r"\W", found[-1][0][0])[0]:
            found[-1][0].append(two[1] if two else line)
            found[-1][1] += " " + (two[2] if two else "")
        else:
            found.append([[two[1] if two else line], two[2] if two else ""])
    return found


def blocks(lines):
    """Lines between empty ones; prose ends where the lines are further in."""
    found = [[]]
    for line in lines:
        if not line or found[-1] and not entries(found[-1]) and not re.match(" {12}", line) and (
                line[:4] == "    ") != (found[-1][0][:4] == "    "):
            found.append([])
        if line:
            found[-1].append(line)
    return [block for block in found if block]


def text(lines, page):
    """HTML of a comment."""
    made = ""
    for block in blocks(lines):
        section = re.fullmatch(r"([A-Z]{5,})(?: \(.*\))?", block[0])
        if section:
            made += '<h2 id="%s">%s</h2>\n' % (section[1].lower(), section[1].capitalize())
            continue
        indent = min(len(line) - len(line.lstrip()) for line in block)
        inner = [line[indent:] for line in block]
        found = entries(inner)
        if inner[0].startswith("* "):
            items = re.split(r"(?m)^\* ", "\n".join(inner))[1:]
            made += "<ul>%s</ul>\n" % "".join("<li>%s</li>\n" % inline(item) for item in items)
        elif found and not indent:
            made += "".join(item(page, names, code(names), "<p>%s</p>" % inline(meaning))
                            for names, meaning in found)
        elif found:
            made += "<dl>%s</dl>\n" % "".join("<dt>%s</dt><dd>%s</dd>\n" % (
                "<br>".join("<code>%s</code>" % html.escape(name) for name in names),
                inline(meaning)) for names, meaning in found)
        else:
            made += code(inner) if indent else "<p>%s</p>\n" % inline(" ".join(block))
    return made.replace("</code></pre>\n<pre tabindex=\"0\"><code>", "\n\n")


def item(page, names, shown, meaning):
    """Names, of which the first is the anchor of a heading, and their text."""
    words = list(dict.fromkeys(re.findall(r"(?m)^" + NAME, "\n".join(names)))) or names[:1]
    anchors = ""
    for word in words:
        if re.match(NAME, word):
            pages.setdefault(word, page)
            anchors += '<a id="%s"></a>' % word
    return '%s<h3 class="name"%s>%s</h3>\n%s%s\n' % (
        anchors.partition("</a>")[2], ' id="%s"' % words[0] if anchors else "",
        html.escape(", ".join(words)), shown, meaning)


def declared(source):
    """(name, text) of each declaration, without the bodies of macros."""
    source = re.sub(r"(?ms)^#ifdef RECORDER_(?:NOTHING_|OFF)\n.*?^#(?:else|endif)\n", "", source)
    for found in re.finditer(r"(?m)^#define (%s)(\(.*?\))?(?:.*\\\n)*.*$|"
                             r"^(?:enum|struct)\b[^;{]*\{(?:.|\n)*?^\};|"
                             r"^[\w ]*\*?[\w \n*]*?\b(recorder_\w*[a-z0-9])\([^;{]*;.*$" % NAME,
                             source):
        shown = found[0]
        name = found[1] or found[3] or (re.search(NAME, shown) or [""])[0]
        if name.endswith("_H") or not name:
            continue
        if found[1] and (found[2] or "\\\n" in shown):
            shown = found[1] + (found[2] or "")
        yield name, re.sub(r"RECORDER_\w+_PROTOTYPE_\s|^#define |^extern ", "", shown)


def body(page, source):
    """HTML of a header."""
    title, rest = re.match(r"/\* (.*?) \*/\n/\* SPDX.*?\*/\n(.*)", source, re.S).groups()
    named, lead = " ".join(title.split()).split(" - ", 1)
    made = "<h1>%s</h1>\n<p>%s. <a href=\"../source/%s.txt\">The header itself</a></p>\n" % (
        named, lead[0].upper() + html.escape(lead[1:].rstrip(".")), named)
    known, comment, group = set(), [], []

    def flush():
        nonlocal made, comment, group
        if group:
            shown = code([line for _, what in group for line in what.split("\n")])
            made += item(page, [name for name, _ in group], shown, text(comment, page))
        comment, group = [], []
    for part in re.split(r"(?ms)^(/\*.*?\*/)(?=\n)", rest):
        if part.startswith("/*"):
            flush()
            lines = [re.sub(r"^ \*(?: |$)", "", line) for line in
                     re.sub(r"^/\*+ ?|\s*\*/$", "", part).split("\n")]
            section = re.match(r"-{3,} (\w+) -", lines[0])
            if section:
                made += '<h2 id="%s">%s</h2>\n' % (section[1], section[1].capitalize())
            if section or not made.count("<h2") and "PROMISES" in part:
                inner = text(lines[1:], page)
                known |= set(re.findall(r'id="(\w+)"', inner))
                made += inner
            else:
                comment = lines
        else:
            for name, what in declared(part):
                if name not in known:
                    known.add(name)
                    group.append((name, what))
    flush()
    return made, lead


def main(folder, headers):
    sources = {os.path.basename(path)[:-2]: open(path).read() for path in headers}
    for _ in range(2):  # at the second time, all names are known
        made = {page: body(page, source) for page, source in sources.items()}
    made["index"] = (
        "<h1>The headers</h1>\n<p>A page for each header: its promises, its limits, and its "
        "functions and macros.</p>\n<dl>%s</dl>\n<h2 id=\"names\">All names</h2><div class="
        "\"names\">%s</div>" % (
            "".join('<dt><a href="%s.html">%s.h</a></dt><dd>%s</dd>\n' % (
                page, page, html.escape(lead)) for page, (_, lead) in made.items()),
            "".join('<a href="%s.html#%s"><code>%s</code></a>\n' % (pages[name], name, name)
                    for name in sorted(pages))), "")
    for page, (inner, _) in made.items():
        with open(os.path.join(folder, page + ".body"), "w") as file:
            file.write(inner)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
