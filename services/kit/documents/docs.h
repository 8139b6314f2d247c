/*
 * docs.h: the owner's texts as a service has folded them from `document`, parsed
 *
 * Parsing is pure; the last parse per (shop, kind, version) is kept, because a thousand decisions a second read the same text.
 */
#ifndef KIT_DOCUMENTS_DOCS_H
#define KIT_DOCUMENTS_DOCS_H

#include "bus/actor/turn.h"
#include "proto/topics.h"
#include "services/kit/rules/rules.h"
#include "services/kit/shop/shop.h"

void docs_remember(struct state *state, const struct message_meta *said, const Document *document); /* a fold */

/* Borrowed until the next call with the same kind. NULL: there is none yet (or, never, a bad one: mirror checks first). */
const struct shop *docs_shop(const struct state *state, const char *shop);
const struct rules *docs_rules(const struct state *state, const char *shop, uint32_t *ret_version);

/* How documents of one sort are read. */
struct docs_reading {
	/* `with`: what else the reading depends on, "" if nothing. NULL: the text says nothing that can be used. */
	void *(*parse)(const Document *document, const char *shop, const char *with);
	void (*free)(void *parsed); /* takes NULL */
};
/*
 * Borrowed until the next call with the same shop and kind; NULL: there is no such document, or it says nothing that can be used.
 * `ret_version` (may be NULL): which one was read, 0: none.
 */
const void *docs_read(const struct state *state, const char *shop, const char *kind, const struct docs_reading *reading,
	const char *with, uint32_t *ret_version);

/* Which version is folded (0: none) and its digest; kind: "shop", "rules", "voice" or "voice.de". */
uint32_t docs_version(const struct state *state, const char *shop, const char *kind, char ret_digest[100]);

#endif
