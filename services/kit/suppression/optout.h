/*
 * optout.h: the ways onto the list of people who must not be mailed, in words
 */
#ifndef KIT_SUPPRESSION_OPTOUT_H
#define KIT_SUPPRESSION_OPTOUT_H

#include "proto/platform_topics.h"

enum { OPTOUT_LINE_MAX = 120 };

const char *optout_name(OptoutSource source);          /* "one-click": for lists and options; never NULL */
int optout_named(const char *name, OptoutSource *ret); /* -EINVAL */
const char *optout_words(OptoutSource source);         /* "the shopper reported a mail as spam" */
const char *optout_who(OptoutSource source);           /* whose word it is, when nobody else is named */
/* "listed: page, since 2026-11-21 10:00 UTC"; `row` NULL: "not listed". */
const char *optout_line(const Suppression *row, char ret[OPTOUT_LINE_MAX]);

#endif
