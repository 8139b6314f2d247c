/*
 * docs.c: the owner's texts, folded, and their last parse
 *
 * Owns:      two tables of the state: "document" (shop, kind) -> the message, and "document.digest" (shop, kind) -> version and
 *            digest, so that the common question does not decode 32 KB. And, beside the state, the last parse per shop and kind:
 *            a pure function of text (and currency), found again by its digest.
 * Promises:  an older version never replaces a newer one.
 * Fails by:  NULL; mirror checks a text before it says it, so a bad one here is a document that an older program accepted.
 * Read next: rules.h, shop.h, voice.h
 */
#include "services/kit/documents/docs.h"
#include "bus/base/cleanup.h"
#include "bus/base/map.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include <stdio.h>
#include <stdlib.h>

enum type { TYPE_SHOP, TYPE_RULES, TYPE_VOICE };

struct parsed {
	struct buffer source; /* what it was made from */
	uint32_t version;
	struct shop *shop;
	struct rules *rules;
	struct voice *voice; /* NULL also when the words are not the owner's own */
};

static void version_and_digest(const Document *document, char ret[100])
{
	snprintf(ret, 100, "%u %s", document->version, document->digest);
}

static uint32_t folded_version(const struct state *state, const char *shop, const char *kind, char ret_digest[100])
{
	_cleanup_(buffer_free) struct buffer row = { 0 };
	unsigned int version = 0;

	ret_digest[0] = '\0';
	if (state_get_bytes(state, "document.digest", shop, kind, &row))
		if (sscanf(buffer_text(&row), "%u %99s", &version, ret_digest) < 1)
			version = 0;
	return version;
}

void docs_remember(struct state *state, const struct said *said, const Document *document)
{
	char digest[100], row[100];

	if (said->tombstone || document->version <= folded_version(state, said->shop, document->kind, digest))
		return;
	version_and_digest(document, row);
	state_put(state, "document", said->shop, document->kind, Document_fields, document);
	state_put_bytes(state, "document.digest", said->shop, document->kind, bytes_of(row));
}

uint32_t docs_version(const struct state *state, const char *shop, const char *kind, char ret_digest[100])
{
	return folded_version(state, shop, kind, ret_digest);
}

/* The slot for this shop and kind; its content may be of another version. */
static struct parsed *slot_of(const char *shop, const char *kind)
{
	static struct map *slots;
	char name[120];

	if (!slots)
		slots = map_new();
	snprintf(name, sizeof(name), "%s/%s", shop, kind);
	struct parsed *slot = map_get(slots, bytes_of(name));
	if (!slot) {
		slot = memory_new(sizeof(*slot));
		map_put(slots, bytes_of(name), slot);
	}
	return slot;
}

static void slot_empty(struct parsed *slot)
{
	buffer_free(&slot->source);
	free(slot->shop);
	free(slot->rules);
	voice_free(slot->voice);
	*slot = (struct parsed){ 0 };
}

static void parse_shop(struct parsed *slot, const char *shop, const Document *document)
{
	struct config_error error;

	slot->shop = memory_new(sizeof(*slot->shop));
	if (shop_parse(document->text, shop, document->source, slot->shop, &error) < 0) {
		free(slot->shop);
		slot->shop = NULL;
	}
}

static void parse_rules(struct parsed *slot, const char *currency, const Document *document)
{
	struct rules_error error;

	slot->rules = memory_new(sizeof(*slot->rules));
	if (rules_parse(document->text, currency, slot->rules, &error) < 0) {
		free(slot->rules);
		slot->rules = NULL;
	}
}

static void parse_voice(struct parsed *slot, const Document *document)
{
	struct voice_error error;

	if (voice_is_own(document->text))
		if (voice_parse(document->text, &slot->voice, &error) < 0)
			slot->voice = NULL;
}

static void parse(struct parsed *slot, enum type type, const char *shop, const char *currency, const Document *document)
{
	switch (type) {
	case TYPE_SHOP:
		parse_shop(slot, shop, document);
		return;
	case TYPE_RULES:
		parse_rules(slot, currency, document);
		return;
	case TYPE_VOICE:
		parse_voice(slot, document);
		return;
	}
}

/* Version, digest and currency, as they are: the common question takes nothing apart. false: no document. */
static bool find_source(
	const struct state *state, const char *shop, const char *kind, const char *currency, struct buffer *ret)
{
	if (!state_get_bytes(state, "document.digest", shop, kind, ret))
		return false;
	buffer_add_text(ret, " ");
	buffer_add_text(ret, currency);
	return true;
}

/* Parsed anew when it was made from something else the last time. NULL: no document. */
static const struct parsed *parsed_of(
	const struct state *state, const char *shop, enum type type, const char *kind, const char *currency)
{
	_cleanup_(buffer_free) struct buffer source = { 0 };
	char digest[100];

	if (!find_source(state, shop, kind, currency, &source))
		return NULL;
	struct parsed *slot = slot_of(shop, kind);
	if (bytes_compare(buffer_bytes(&slot->source), buffer_bytes(&source)) == 0)
		return slot;

	_cleanup_free_ Document *document = memory_new(sizeof(*document));
	slot_empty(slot);
	if (!state_get(state, "document", shop, kind, Document_fields, document))
		return NULL;
	slot->source = source;
	source = (struct buffer){ 0 };
	slot->version = folded_version(state, shop, kind, digest);
	parse(slot, type, shop, currency, document);
	return slot;
}

const struct shop *docs_shop(const struct state *state, const char *shop)
{
	const struct parsed *parsed = parsed_of(state, shop, TYPE_SHOP, "shop", "");

	return parsed ? parsed->shop : NULL;
}

const struct rules *docs_rules(const struct state *state, const char *shop, uint32_t *ret_version)
{
	const struct shop *configured = docs_shop(state, shop);
	const struct parsed *parsed =
		parsed_of(state, shop, TYPE_RULES, "rules", configured ? configured->currency : "");

	if (ret_version)
		*ret_version = parsed ? parsed->version : 0;
	return parsed ? parsed->rules : NULL;
}

struct finding {
	const struct state *state;
	const char *shop;
};

static const struct voice *find_voice(void *context, const char *kind)
{
	const struct finding *finding = context;
	const struct parsed *parsed = parsed_of(finding->state, finding->shop, TYPE_VOICE, kind, "");

	return parsed ? parsed->voice : NULL;
}

struct speech docs_speech(const struct state *state, const char *shop, const char *locale)
{
	const struct shop *configured = docs_shop(state, shop);
	struct finding finding = { .state = state, .shop = shop };
	struct speech speech;

	voice_choose(locale, configured ? configured->locale : "en", find_voice, &finding, &speech);
	return speech;
}
