/*
 * answer.h: the parts of a bounce's text that say why
 *
 * A mail server wraps what it was told into words of its own: apologies, advice, what might be the cause. Those are the same in each of
 * its bounces, and say nothing of this one.
 */
#ifndef PLATFORM_MAILIN_ANSWER_H
#define PLATFORM_MAILIN_ANSWER_H

#include "bus/base/bytes.h"

/* Appends the places where the text quotes another server, or tells its administrators what happened; nothing: there are none. */
void answer_quoted(const char *text, struct buffer *ret);
/* Appends the sentences that state something, without those that only suppose, advise, or tell where to read on. */
void answer_stated(const char *text, struct buffer *ret);

#endif
