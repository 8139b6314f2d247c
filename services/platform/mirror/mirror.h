/* mirror.h: the owner's files, shared by the service and the watcher */
#ifndef PLATFORM_MIRROR_MIRROR_H
#define PLATFORM_MIRROR_MIRROR_H

#include "bus/actor/service.h"
#include "bus/base/bytes.h"
#include "bus/base/list.h"
#include "services/kit/documents/kinds.h"
#include "services/kit/shop/shop.h"

/* ---- may these texts of a shop be published as documents? ---- */

enum doc_verdict {
	DOC_MISSING, /* an optional text that does not exist */
	DOC_GOOD,
	DOC_BAD,    /* `wrong` tells why */
	DOC_WAITING /* cannot be checked until shop.conf can be read */
};

struct doc {
	const struct document_kind *row;
	char kind[DOCUMENT_KIND_ROOM]; /* "shop", "rules", "voice", "voice.de" */
	char source[160];              /* "demo/rules.txt", "Google document 1AbC" */
	/* id of the Google document, if it is one; "" for such a document that is not wanted any more */
	char google[GOOGLE_ID_MAX + 1];
	bool is_remote; /* it is a Google document, besides the file of the same kind */
	/* the number of its last change in this run; 0: unchanged since it was first seen */
	uint64_t changed_nth;
	struct buffer text;
	bool present;
	char unreadable[128]; /* why it could not be read; "": it could */

	enum doc_verdict verdict;
	char digest[65]; /* SHA-256 of the text, hex */
	char wrong[400]; /* file, line, column, and what was expected */
	char warnings[300];
	bool changed; /* changed by the last look */
};

struct shop_docs {
	struct list hook;
	char shop[64];
	struct shop *conf;  /* the last valid shop.conf; NULL: none yet */
	bool conf_is_right; /* the present shop.conf is valid */
	struct doc
		*docs; /* the first is shop.conf; then one of each other kind, then further ones and Google documents */
	size_t count;
};

/*
 * Is it a further text such as "voice.de", which may be removed? Every other text must exist once; if it is
 * missing, that is an error.
 */
bool doc_is_further(const struct doc *doc);

void judge(struct shop_docs *docs); /* fills verdict, digest, wrong and warnings of each, and conf */

extern const struct service mirror;

/* The last seen files and documents of each shop. */
struct mirror {
	struct list shops; /* struct shop_docs */
	uint64_t changes;  /* so far */
};
SERVICE_CONTEXT(mirror, struct mirror);

void mirror_init(struct mirror *ret);
void mirror_clear(struct mirror *seen); /* frees all; it is then as after mirror_init */

/* A file of a shop's folder. text.data NULL and unreadable NULL: there is no such file. */
struct seen {
	const struct document_kind *row;
	const char *kind; /* "shop", "voice.de": of that row */
	struct bytes text;
	const char *unreadable; /* why it cannot be read; NULL: it can */
};

/*
 * Checks and keeps the texts of one shop's folder; a text that is not in `seen` is missing. Returns the
 * result, with `changed` for changed texts; borrowed until the next call.
 */
const struct shop_docs *mirror_see(struct mirror *into, const char *shop, const struct seen *seen, size_t count);
/*
 * The result of fetching the Google document of this shop and kind: its text, or the reason of a failure.
 * true: it has changed. They do nothing and return false if the shop does not name the document any more.
 */
bool mirror_fetched(struct mirror *into, const char *shop, const char *kind, const char *id, struct bytes text);
bool mirror_not_fetched(struct mirror *into, const char *shop, const char *kind, const char *id, const char *why);
void mirror_each(const struct mirror *seen, void (*each)(const struct shop_docs *docs, void *context), void *context);

#endif
