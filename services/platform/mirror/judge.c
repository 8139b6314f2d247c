/*
 * judge.c: the owner's texts, checked before anybody hears of them
 *
 * Promises:  what is judged good parses everywhere: the services use the same parsers on the same bytes.
 * Fails by:  DOC_BAD with file, line, column and what was expected.
 * Read next: services/kit/rules/rules.h, shop.h, voice.h
 */
#include "services/platform/mirror/judge.h"
#include "bus/base/log.h"
#include "bus/base/text.h"
#include "services/kit/rules/rules.h"
#include "services/kit/shop/shop.h"
#include <openssl/evp.h>
#include <stdio.h>

bool doc_is_language(const struct doc *doc)
{
	return doc->type == DOC_VOICE && strcmp(doc->kind, "voice") != 0;
}

const char *doc_kind_name(enum doc_type type)
{
	static const char *const names[DOC_TYPES] = { "shop", "rules", "voice" };

	return names[type];
}

void doc_file_name(const char *kind, char ret[DOC_FILE_ROOM])
{
	snprintf(ret, DOC_FILE_ROOM, "%s.%s", kind, strcmp(kind, "shop") == 0 ? "conf" : "txt");
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

/* Right or wrong: is there a text at all? */
static bool is_text(struct doc *doc)
{
	const char *wrong = owner_text_wrong(buffer_bytes(&doc->text));

	if (doc->unreadable[0])
		bad(doc, "cannot be read: ", doc->unreadable);
	else if (!doc->present)
		bad(doc, "is missing", "");
	else if (wrong)
		bad(doc, wrong, "");
	else
		return true;
	return false;
}

/* false: it is not right, and `ret` is not to be used. */
static bool judge_shop(struct shop_docs *docs, struct shop *ret)
{
	struct doc *doc = &docs->docs[DOC_SHOP];
	struct config_error error;

	if (!is_text(doc))
		return false;
	if (shop_parse(buffer_text(&doc->text), docs->shop, doc->source, ret, &error) < 0) {
		doc->verdict = DOC_BAD;
		TEXT_COPY(doc->wrong, error.text); /* names the file already */
		return false;
	}
	doc->verdict = DOC_GOOD;
	TEXT_COPY(docs->currency, ret->currency);
	docs->google = ret->google;
	return true;
}

static void gather_warnings(struct doc *doc, const struct rules *rules)
{
	for (int i = 0; i < rules->warning_count; i++) {
		size_t len = strlen(doc->warnings);
		snprintf(doc->warnings + len, sizeof(doc->warnings) - len, "%s%s", i ? "; " : "", rules->warnings[i]);
	}
}

static void judge_rules(const struct shop_docs *docs, struct doc *doc)
{
	struct rules_error error;
	struct rules rules;

	if (!is_text(doc))
		return;
	if (rules_parse(buffer_text(&doc->text), docs->currency, &rules, &error) < 0) {
		bad(doc, error.text, "");
		return;
	}
	doc->verdict = DOC_GOOD;
	rules_warn_of_currency(&rules, docs->currency);
	gather_warnings(doc, &rules);
}

/* `shop` NULL: its own configuration is wrong, so where links may lead is judged when that is mended. */
static void judge_voice(struct doc *doc, const struct shop *shop)
{
	struct text_error error;
	struct voice *voice = NULL;
	char why[160];

	if (!doc->present && !doc->unreadable[0]) {
		doc->verdict = DOC_MISSING;
		return;
	}
	if (!voice_kind_valid(doc->kind, why)) {
		bad(doc, why, "");
		return;
	}
	if (!is_text(doc))
		return;
	const char *text = buffer_text(&doc->text);
	bool blank = text[strspn(text, " \t\r\n")] == '\0'; /* means the built-in voice */
	if (!blank && (voice_parse(text, &voice, &error) < 0 || (shop && voice_check_links(voice, shop, &error) < 0)))
		bad(doc, error.text, "");
	else
		doc->verdict = DOC_GOOD;
	voice_free(voice);
}

void judge(struct shop_docs *docs)
{
	static struct shop shop; /* large */

	for (size_t i = 0; i < docs->count; i++) {
		struct doc *doc = &docs->docs[i];
		doc->verdict = DOC_WAITING;
		doc->wrong[0] = doc->warnings[0] = '\0';
		digest_of(buffer_bytes(&doc->text), doc->digest);
	}
	bool is_known = judge_shop(docs, &shop);
	if (!docs->currency[0])
		return;
	for (size_t i = DOC_RULES; i < docs->count; i++) {
		struct doc *doc = &docs->docs[i];
		if (doc->is_remote && !doc->present && !doc->unreadable[0])
			continue; /* not fetched yet */
		if (doc->type == DOC_RULES)
			judge_rules(docs, doc);
		else
			judge_voice(doc, is_known ? &shop : NULL);
	}
}
