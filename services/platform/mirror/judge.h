/*
 * judge.h: may these texts of a shop be said as documents?
 */
#ifndef PLATFORM_MIRROR_JUDGE_H
#define PLATFORM_MIRROR_JUDGE_H

#include "bus/base/bytes.h"
#include "bus/base/list.h"
#include "services/carts/letter/voice.h"
#include "services/kit/documents/owner_text.h"
#include "services/kit/shop/shop.h"

/* What kind of text it is. A shop has one of each, and further voices, one per language. */
enum doc_type { DOC_SHOP, DOC_RULES, DOC_VOICE, DOC_TYPES };

enum doc_verdict {
	DOC_MISSING, /* a voice that the owner does not give: the built-in one is used */
	DOC_GOOD,
	DOC_BAD,    /* `wrong` says why */
	DOC_WAITING /* cannot be judged until shop.conf can be read */
};

enum { DOC_TEXT_MAX = OWNER_TEXT_MAX, DOC_FILE_ROOM = VOICE_KIND_ROOM + 8 };

struct doc {
	enum doc_type type;
	char kind[VOICE_KIND_ROOM]; /* "shop", "rules", "voice", "voice.de" */
	char source[160];           /* "demo/rules.txt", "Google document 1AbC" */
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
	char currency[4]; /* of the last shop.conf that was right; "": none yet */
	struct doc *docs; /* the first DOC_TYPES are shop, rules and voice; the rest are voices of languages */
	size_t count;
	struct shop_google google; /* of the last shop.conf that was right */
};

/* A further voice can be taken away; of the others there is one, and when it is gone that is a slip. */
bool doc_is_language(const struct doc *doc);
const char *doc_kind_name(enum doc_type type);                 /* "shop", "rules", "voice" */
void doc_file_name(const char *kind, char ret[DOC_FILE_ROOM]); /* "shop.conf", "rules.txt", "voice.de.txt" */

void judge(struct shop_docs *docs); /* fills verdict, digest, wrong and warnings of each */

#endif
