/*
 * docs.h: the owner's texts as a service has folded them from `document`, parsed
 *
 * Parsing is pure; the last parse per (shop, kind, version) is kept, because a thousand decisions a second read the same text.
 */
#ifndef KIT_DOCUMENTS_DOCS_H
#define KIT_DOCUMENTS_DOCS_H

#include "bus/actor/turn.h"
#include "proto/topics.h"
#include "services/carts/letter/voice.h"
#include "services/kit/rules/rules.h"
#include "services/kit/shop/shop.h"

void docs_remember(struct state *state, const struct said *said, const Document *document); /* a fold */

/* Borrowed until the next call with the same kind. NULL: there is none yet (or, never, a bad one: mirror checks first). */
const struct shop *docs_shop(const struct state *state, const char *shop);
const struct rules *docs_rules(const struct state *state, const char *shop, uint32_t *ret_version);
/* The words for a shopper whose storefront said this locale ("": it did not); the built-in ones when the owner gave none. */
struct speech docs_speech(const struct state *state, const char *shop, const char *locale);

/* Which version is folded (0: none) and its digest; kind: "shop", "rules", "voice" or "voice.de". */
uint32_t docs_version(const struct state *state, const char *shop, const char *kind, char ret_digest[100]);

#endif
