/*
 * mirror.h: the owner's files, as the service and the watcher share them
 */
#ifndef PLATFORM_MIRROR_MIRROR_H
#define PLATFORM_MIRROR_MIRROR_H

#include "bus/actor/service.h"
#include "bus/base/bytes.h"
#include "bus/base/list.h"
#include "services/kit/documents/kinds.h"
#include "services/kit/shop/shop.h"

/* ---- whether these texts of a shop may be said as documents ---- */

enum doc_verdict {
	DOC_MISSING, /* an optional text that the owner does not give */
	DOC_GOOD,
	DOC_BAD,    /* `wrong` says why */
	DOC_WAITING /* cannot be judged until shop.conf can be read */
};

struct doc {
	const struct document_kind *row;
	char kind[DOCUMENT_KIND_ROOM]; /* "shop", "rules", "voice", "voice.de" */
	char source[160];              /* "demo/rules.txt", "Google document 1AbC" */
	char google[GOOGLE_ID_MAX +
		1];           /* id of the document, if it is one; "" of such a one: it is not wanted any more */
	bool is_remote;       /* it is one: beside the file of the same kind */
	uint64_t changed_nth; /* counts changes in this run; 0: it has not since it was first seen */
	struct buffer text;
	bool present;
	char unreadable[128]; /* why it could not be read; "": it could */

	enum doc_verdict verdict;
	char digest[65]; /* SHA-256 of the text, hex */
	char wrong[400]; /* file, line, column, what was expected */
	char warnings[300];
	bool changed; /* by the last look */
};

struct shop_docs {
	struct list hook;
	char shop[64];
	struct shop *conf;  /* the last shop.conf that was right; NULL: none yet */
	bool conf_is_right; /* the one of now is */
	struct doc
		*docs; /* the first is shop.conf; then one of each other kind, then further ones and Google documents */
	size_t count;
};

/* "voice.de": it can be taken away. Of other texts there is one, and when it is gone that is a slip. */
bool doc_is_further(const struct doc *doc);

void judge(struct shop_docs *docs); /* fills verdict, digest, wrong and warnings of each, and conf */

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
