/*
 * judge.h: may these texts of a shop be said as documents?
 */
#ifndef MIRROR_JUDGE_H
#define MIRROR_JUDGE_H

#include "bus/base/bytes.h"
#include "bus/base/list.h"

enum doc_kind { DOC_SHOP, DOC_RULES, DOC_VOICE, DOC_KINDS };

enum doc_verdict {
	DOC_MISSING, /* a voice that the owner does not give: the built-in one is used */
	DOC_GOOD,
	DOC_BAD,    /* `wrong` says why */
	DOC_WAITING /* cannot be judged until shop.conf can be read */
};

enum { DOC_TEXT_MAX = 32767 }; /* what a Document carries */

struct doc {
	char source[128]; /* "demo/rules.txt" */
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
	struct doc docs[DOC_KINDS];
};

const char *doc_kind_name(enum doc_kind kind); /* "shop", "rules", "voice" */
const char *doc_file_name(enum doc_kind kind); /* "shop.conf", "rules.txt", "voice.txt" */

void judge(struct shop_docs *docs); /* fills verdict, digest, wrong and warnings of each */

#endif
