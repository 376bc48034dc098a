/* kinds.c - the words of headings of recorder_switch.h. */
/* SPDX-License-Identifier: MIT */
#include "switches.h"

const char *kind_word(enum kind kind)
{
    static const char words[KINDS][8] = {"",      "switch", "in",   "out",
                                         "ready", "sleep",  "wake", "enter",
                                         "exit",  "off",    "on",   "faults"};
    return words[kind];
}

enum kind kind_of(const char *words, char *how)
{
    *how = 0;
    while (words && *words) {
        size_t size = strcspn(words, " "), i;
        for (i = 1; i < KINDS; i++)
            if (strncmp(words, kind_word((enum kind)i), size) == 0 &&
                !kind_word((enum kind)i)[size])
                break;
        words += size + (words[size] == ' ');
        if (i == KINDS)
            continue;
        if (*words && (!words[1] || words[1] == ' '))
            *how = *words;
        return (enum kind)i;
    }
    return KIND_OTHER;
}
