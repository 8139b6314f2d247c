/*
 * answer.h: finds the parts of a bounce's text that give the reason
 *
 * A mail server adds its own words to the reason: apologies, advice, possible causes. These are the same in
 * all its bounces and tell nothing about this one.
 */
#ifndef PLATFORM_MAILIN_ANSWER_H
#define PLATFORM_MAILIN_ANSWER_H

#include "bus/base/bytes.h"

/*
 * Appends the parts that quote another server or are meant for its administrators; appends nothing if there
 * are none.
 */
void answer_quoted(const char *text, struct buffer *ret);
/* Appends the sentences that state something, without those that only suppose, advise, or tell where to read on. */
void answer_stated(const char *text, struct buffer *ret);

#endif
