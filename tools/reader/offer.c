/* offer.c - different names, and a text that offers them to a user. */
/* SPDX-License-Identifier: MIT */
#include "offer.h"
#include "array.h"

enum { SHOWN = 8, LIST_MAX = 600 };

const char *offer_add(struct offer *offer, const char *name)
{
    for (size_t i = 0; i < offer->count; i++)
        if (strcmp(offer->names[i], name) == 0)
            return offer->names[i];
    return *array_add(offer->names, offer->count, offer->max) =
               need(strdup(name));
}

const char *offer_text(const struct offer *offer, const char *written)
{
    static _Thread_local char text[LIST_MAX + 128];
    const char *alike = NULL;
    size_t at = 0, i;
    *text = '\0';
    for (i = 0; i < offer->count; i++) {
        const char *name = offer->names[i];
        alike = strcasecmp(name, written) == 0 ? name : alike;
        if (i < SHOWN)
            at += (size_t)sprintf(text + at, "%s%.64s",
                                  i ? ", " : "; there are: ", name);
    }
    if (i > SHOWN)
        sprintf(text + at, " and %zu more", i - SHOWN);
    if (alike)
        sprintf(text, "; there is %.64s", alike);
    return text;
}

void offer_free(struct offer *offer)
{
    for (size_t i = 0; i < offer->count; i++)
        free(offer->names[i]);
    free(offer->names);
    *offer = (struct offer){0};
}

const char *offer_end(struct offer *offer)
{
    const char *text = offer_text(offer, "");
    offer_free(offer);
    return text;
}
