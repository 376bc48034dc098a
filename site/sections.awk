# sections.awk - a page's sections as JavaScript: ["page","anchor","title","text"],
# SPDX-License-Identifier: MIT
function plain(html)
{
    gsub(/<[^>]*>/, " ", html)
    gsub(/&lt;|&#60;/, "<", html)
    gsub(/&gt;|&#62;/, ">", html)
    gsub(/&quot;|&#34;/, "\"", html)
    gsub(/&#39;/, "\047", html)
    gsub(/&#47;/, "/", html)
    gsub(/&#821[67];/, "\047", html)
    gsub(/&#[0-9]+;/, " ", html)
    gsub(/&amp;|&#38;/, "\\&", html)
    gsub(/[\\"]/, "\\\\&", html)
    gsub(/[ \t]+/, " ", html)
    sub(/^ /, "", html)
    return html
}
function flush()
{
    if (title)
        printf "[\"%s\",\"%s\",\"%s\",\"%s\"],\n", page, anchor, title, plain(text)
    text = ""
}
/<main>/ { inside = 1 }
/<p class="turns">/ { inside = 0 }
!inside || /class="menu"/ { next }
/<h[123][^>]*>.*<\/h[123]>/ {
    flush()
    anchor = match($0, /id="[^"]*"/) && !/<h1/ ? substr($0, RSTART + 4, RLENGTH - 5) : ""
    title = plain($0)
    next
}
{ text = text " " $0 }
END { flush() }
