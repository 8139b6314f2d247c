/*
 * judge.c: checks the owner's texts before they are published
 *
 * Promises:  each text is judged by the row of its kind, with the parser that the services use. shop.conf
 *            comes first; the other kinds are judged with the last valid shop.conf, and wait until there is
 *            one.
 * Fails by:  DOC_BAD with file, line, column and what was expected.
 * Read next: services/kit/documents/kinds.h
 */
#include "bus/base/cleanup.h"
#include "bus/base/log.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "services/platform/mirror/mirror.h"
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>

bool doc_is_further(const struct doc *doc)
{
	return document_is_further(doc->row, doc->kind);
}

static void digest_of(struct bytes text, char ret[65])
{
	unsigned char digest[EVP_MAX_MD_SIZE];
	unsigned int len = 0;

	if (!EVP_Digest(text.len ? text.data : "", text.len, digest, &len, EVP_sha256(), NULL))
		die("OpenSSL cannot compute SHA-256; check the installation of libssl3");
	text_hex(digest, 32, ret);
}

static void bad(struct doc *doc, const char *what, const char *detail)
{
	doc->verdict = DOC_BAD;
	snprintf(doc->wrong, sizeof(doc->wrong), "%.80s: %s%s", doc->source, what, detail);
}

/* Is there a text at all, right or wrong? */
static bool is_text(struct doc *doc)
{
	char why[OWNER_TEXT_WHY];

	if (doc->unreadable[0])
		bad(doc, "cannot be read: ", doc->unreadable);
	else if (!doc->present)
		bad(doc, "is missing", "");
	else if (!owner_text_valid(buffer_bytes(&doc->text), doc->row->bytes_max, why))
		bad(doc, why, "");
	else
		return true;
	return false;
}

static struct document_text text_of(const struct shop_docs *docs, struct doc *doc)
{
	return (struct document_text){ .shop = docs->shop,
		.kind = doc->kind,
		.source = doc->source,
		.text = buffer_text(&doc->text),
		.conf = docs->conf,
		.conf_is_right = docs->conf_is_right };
}

static void judge_text(const struct shop_docs *docs, struct doc *doc)
{
	_cleanup_free_ struct document_opinion *opinion = memory_new(sizeof(*opinion));
	const struct document_text text = text_of(docs, doc);

	doc->row->judge(&text, opinion);
	if (!opinion->wrong[0]) {
		doc->verdict = DOC_GOOD;
		TEXT_COPY(doc->warnings, opinion->warnings);
		return;
	}
	bad(doc, opinion->wrong, "");
	if (opinion->names_source)
		TEXT_COPY(doc->wrong, opinion->wrong);
}

/* While shop.conf is wrong, the last valid one gives the currency and the names of Google documents. */
static void judge_conf(struct shop_docs *docs)
{
	struct doc *doc = &docs->docs[0];

	if (is_text(doc))
		judge_text(docs, doc);
	docs->conf_is_right = doc->verdict == DOC_GOOD;
	if (docs->conf_is_right) {
		const struct document_text text = text_of(docs, doc);
		shop_document.reading.free(docs->conf);
		docs->conf = shop_document.reading.parse(&text, "");
	}
}

static void judge_beside(const struct shop_docs *docs, struct doc *doc)
{
	char why[160];

	if (!doc->present && !doc->unreadable[0] && doc->row->is_optional)
		doc->verdict = DOC_MISSING;
	else if (doc_is_further(doc) && doc->row->may_be_called && !doc->row->may_be_called(doc->kind, why))
		bad(doc, why, "");
	else if (is_text(doc))
		judge_text(docs, doc);
}

void judge(struct shop_docs *docs)
{
	for (size_t i = 0; i < docs->count; i++) {
		struct doc *doc = &docs->docs[i];
		doc->verdict = DOC_WAITING;
		doc->wrong[0] = doc->warnings[0] = '\0';
		digest_of(buffer_bytes(&doc->text), doc->digest);
	}
	judge_conf(docs);
	if (!docs->conf)
		return;
	for (size_t i = 1; i < docs->count; i++) {
		struct doc *doc = &docs->docs[i];
		if (doc->is_remote && !doc->present && !doc->unreadable[0])
			continue; /* not fetched yet */
		judge_beside(docs, doc);
	}
}
