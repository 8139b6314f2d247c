/*
 * judge.h: may these texts of a shop be said as documents?
 */
#ifndef PLATFORM_MIRROR_JUDGE_H
#define PLATFORM_MIRROR_JUDGE_H

#include "bus/base/bytes.h"
#include "bus/base/list.h"
#include "services/kit/documents/kinds.h"
#include "services/kit/shop/shop.h"

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

#endif
