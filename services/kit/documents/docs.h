/*
 * docs.h: the owner's texts, parsed, as a service has folded them from `document`
 *
 * Parsing is pure; the last parse per (shop, kind, version) is kept, because a thousand decisions a second read the same text.
 */
#ifndef KIT_DOCUMENTS_DOCS_H
#define KIT_DOCUMENTS_DOCS_H

#include "bus/actor/turn.h"
#include "proto/platform_topics.h"
#include "services/kit/documents/kinds.h"
#include "services/kit/shop/shop.h"

/*
 * The documents as they were said. For each document also its version and digest, which a walk over all
 * documents reads faster.
 */
STATE_BORROWING(documents, "document", Document);
STATE_STRINGS(document_digests, "document.digest");
/*
 * The text of a message, at most DOCUMENT_BYTES_MAX bytes. Its length decides which of two fields has it.
 * Releases up to 0.2.0 ignore the longer field and see an empty text. So a kind that they know keeps to 32767
 * bytes, and a service of 0.2.0 that begins to read longer texts must raise its layout (bus/actor/service.h).
 * Borrowed, without a NUL at its end.
 */
struct bytes document_text(const Document *document);
/* Short texts are copied, longer ones borrowed until the message is said. */
void document_set_text(Document *document, struct bytes text);

void docs_remember(struct state *state, const struct message_meta *said, const Document *document); /* a fold */

/*
 * Borrowed until the next call with the same kind. NULL: there is no shop.conf yet. (A bad one is never said,
 * because the mirror checks it first.)
 */
const struct shop *docs_shop(const struct state *state, const char *shop);

/*
 * The result of `reading` for the document. `reading` belongs to its kind (kinds.h). `with` names what else
 * the result depends on; "": nothing. Borrowed until the next call with the same shop and kind. NULL: there
 * is no such document, or it has nothing usable. `ret_version` (may be NULL): the version that was read; 0:
 * none.
 */
const void *docs_read(const struct state *state, const char *shop, const char *kind, const struct docs_reading *reading,
	const char *with, uint32_t *ret_version);

/* The folded version (0: none) and its digest; kind: "shop", "rules", "voice" or "voice.de". */
uint32_t docs_version(const struct state *state, const char *shop, const char *kind, char ret_digest[100]);

#endif
