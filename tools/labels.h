/* labels.h - labels of sources: host=web1, service=shop. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "command.h"

/* The row of verbs that write recordings. */
#define ROW_LABEL_SAVED                                                        \
    {                                                                          \
        OPTION_LABEL, "label", "NAME=VALUE",                                   \
            "facts about the origin of the recording: host=web1, "             \
            "service=shop; offset_ns=N is added to its clock when it is "      \
            "shown, and error_ns=N is the error of that. As often as needed"   \
    }

/* A row of verbs that show several sources, and of save. */
#define ROW_LABEL                                                              \
    {                                                                          \
        OPTION_LABEL, "label", "NAME=VALUE",                                   \
            "a label of all SOURCES, which replaces the recording's label "    \
            "of that name; as often as needed: host=web1, service=shop. host " \
            "names the source before each line; csv, json and sqlite have a "  \
            "column for each"                                                  \
    }

struct label {
    char *name, *value;
};

/* Reads the labels of a call's source: from its note, and from --label. */
void labels_read(struct call *);
void labels_free(struct call *);
/* Returns the value of a label, or null. */
const char *label_of(const struct call *, const char *name);
/* Returns label `i` of all that a list of calls has, each name once; null:
 * there are no more. */
const char *labels_name(const struct call *calls, size_t i);
/* Writes the labels as lines, "host=web1\n". Returns their size. */
size_t labels_text(const struct call *, char **text);
