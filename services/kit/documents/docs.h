/*
 * docs.h: the owner's texts as a service has folded them from `document`, parsed
 *
 * Parsing is pure; the last parse per (shop, kind, version) is kept, because a thousand decisions a second read the same text.
 */
#ifndef KIT_DOCUMENTS_DOCS_H
#define KIT_DOCUMENTS_DOCS_H

#include "bus/actor/turn.h"
#include "proto/platform_topics.h"
#include "services/kit/documents/kinds.h"
#include "services/kit/shop/shop.h"

/* As they were said; and of each its version and digest, which a walk over all documents reads faster. */
STATE_BORROWING(documents, "document", Document);
STATE_STRINGS(document_digests, "document.digest");
/*
 * The text of a message, at most DOCUMENT_BYTES_MAX bytes: in one of two fields, by its length. Releases up to 0.2.0 skip the longer one, and see an
 * empty text: a kind of document that they know keeps to 32767 bytes, and a service of 0.2.0 that begins to read longer ones raises its
 * layout (bus/actor/service.h). Borrowed, without a NUL at its end.
 */
struct bytes document_text(const Document *document);
/* Short texts are copied, longer ones borrowed until the message is said. */
void document_set_text(Document *document, struct bytes text);

void docs_remember(struct state *state, const struct message_meta *said, const Document *document); /* a fold */

/* Borrowed until the next call with the same kind. NULL: there is none yet (or, never, a bad one: mirror checks first). */
const struct shop *docs_shop(const struct state *state, const char *shop);

/*
 * What `reading` makes of the document; `reading` is that of its kind (kinds.h), `with` what else the result depends on ("" if nothing).
 * Borrowed until the next call with the same shop and kind; NULL: there is no such document, or it says nothing that can be used.
 * `ret_version` (may be NULL): which one was read, 0: none.
 */
const void *docs_read(const struct state *state, const char *shop, const char *kind, const struct docs_reading *reading,
	const char *with, uint32_t *ret_version);

/* Which version is folded (0: none) and its digest; kind: "shop", "rules", "voice" or "voice.de". */
uint32_t docs_version(const struct state *state, const char *shop, const char *kind, char ret_digest[100]);

#endif
