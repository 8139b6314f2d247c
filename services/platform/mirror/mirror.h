/*
 * mirror.h: the owner's files, as the service and the watcher share them
 */
#ifndef PLATFORM_MIRROR_MIRROR_H
#define PLATFORM_MIRROR_MIRROR_H

#include "bus/actor/service.h"
#include "services/platform/mirror/judge.h"

extern const struct service mirror;

/* What was last seen of each shop's files and documents. */
struct mirror {
	struct list shops; /* struct shop_docs */
	uint64_t changes;  /* so far */
};
SERVICE_CONTEXT(mirror, struct mirror);

void mirror_init(struct mirror *ret);
void mirror_clear(struct mirror *seen); /* all of it; then it is as after mirror_init */

/* A file of a shop's folder. text.data NULL and unreadable NULL: there is no such file. */
struct seen {
	const struct document_kind *row;
	const char *kind; /* "shop", "voice.de": of that row */
	struct bytes text;
	const char *unreadable; /* why it cannot be read; NULL: it can */
};

/*
 * Judges and keeps what lies in one shop's folder; what is not among the seen is not there. Returns what became of it, `changed`
 * where it is not as it was. Borrowed until the next call.
 */
const struct shop_docs *mirror_see(struct mirror *into, const char *shop, const struct seen *seen, size_t count);
/*
 * What came of fetching the Google document of this shop and kind: its text, or why there is none. true: it is not as it was.
 * Neither when the shop does not name it (any more).
 */
bool mirror_fetched(struct mirror *into, const char *shop, const char *kind, const char *id, struct bytes text);
bool mirror_not_fetched(struct mirror *into, const char *shop, const char *kind, const char *id, const char *why);
void mirror_each(const struct mirror *seen, void (*each)(const struct shop_docs *docs, void *context), void *context);

#endif
