/*
 * voice.h: how the shop speaks: voice.txt, a small template language, per step
 *
 *     First reminder
 *     Subject: You left something at {shop}
 *     Opening: Hello {first name or "there"}, your basket is still here.
 *     Body:
 *     any lines, with {items}, {total}, {return link} ...
 *
 * The whole language is described in voice.md beside this file. HTML and text parts are made from the same source; values are
 * escaped for the part they go into.
 */
#ifndef KIT_VOICE_H
#define KIT_VOICE_H

#include "bus/base/bytes.h"

struct voice;

struct voice_error {
	int line, column;
	char text[240];
};

int voice_parse(const char *text, struct voice **ret, struct voice_error *ret_error);
void voice_free(struct voice *voice);
const struct voice *voice_builtin(void);
const char *voice_builtin_text(void); /* what `cartbus shop add` writes as a start */

/* For the renderer: the templates of one mail. */
struct template;
struct voice_mail {
	struct template *subject, *opening, *body, *footer; /* opening may be NULL */
};
const struct voice_mail *voice_mail(const struct voice *voice, int step); /* 1 or 2 */

#endif
