/*
 * phrases.h: the phrases by which mail servers say why a mail came back
 */
#ifndef PLATFORM_MAILIN_PHRASES_H
#define PLATFORM_MAILIN_PHRASES_H

#include "services/platform/mailin/reason.h"

struct phrase {
	enum reason reason;
	bool sure; /* else it counts only where no code speaks against it */
	bool bare; /* it says that the recipient is refused and nothing of why: beside a code of policy it says less */
	const char *words;
};

/* The first of the sure or of the unsure phrases that these words, tidied, hold, and where; NULL: none. */
const struct phrase *phrase_find(const char *words, bool sure, const char **ret_at);

extern const unsigned char phrases_text[]; /* phrases.txt, as it was built in */

#endif
