/*
 * mirror.h: the owner's files, as the service and the watcher share them
 */
#ifndef PLATFORM_MIRROR_MIRROR_H
#define PLATFORM_MIRROR_MIRROR_H

#include "bus/actor/service.h"
#include "services/platform/mirror/judge.h"

extern const struct service mirror;

/* A file of a shop's folder. text.data NULL and unreadable NULL: there is no such file. */
struct seen {
	const char *kind; /* "shop", "voice.de" */
	struct bytes text;
	const char *unreadable; /* why it cannot be read; NULL: it can */
};

/*
 * Judges and keeps what lies in one shop's folder; what is not among the seen is not there. Returns what became of it, `changed`
 * where it is not as it was. Borrowed until the next call.
 */
const struct shop_docs *mirror_see(const char *shop, const struct seen *seen, size_t count);
/*
 * What came of fetching the Google document of this shop and kind: its text, or why there is none. true: it is not as it was.
 * Neither when the shop does not name it (any more).
 */
bool mirror_fetched(const char *shop, const char *kind, const char *id, struct bytes text);
bool mirror_not_fetched(const char *shop, const char *kind, const char *id, const char *why);
void mirror_forget(void); /* everything seen */
void mirror_each(void (*each)(const struct shop_docs *docs, void *context), void *context);

#endif
