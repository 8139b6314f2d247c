/*
 * docs.c: the owner's texts, folded, and their last parse
 *
 * Owns:      two tables of the state: "document" (shop, kind) -> the message, and "document.digest" (shop, kind) -> version and
 *            digest, so that the common question does not decode 32 KB. And, beside the state, the last parse per shop and kind:
 *            a pure function of text (and currency), found again by its digest.
 * Promises:  an older version never replaces a newer one.
 * Fails by:  NULL; mirror checks a text before it says it, so a bad one here is a document that an older program accepted.
 * Read next: rules/rules.h, shop/shop.h, carts/letter/speech.c (a sort of documents that belongs to a system)
 */
#include "services/kit/documents/docs.h"
#include "bus/base/cleanup.h"
#include "bus/base/map.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include <stdio.h>
#include <stdlib.h>

struct parsed {
	struct buffer source; /* what it was made from */
	uint32_t version;
	const struct docs_reading *reading; /* NULL: nothing was read yet */
	void *read;                         /* NULL also when the text says nothing that can be used */
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

void docs_remember(struct state *state, const struct message_meta *said, const Document *document)
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
	if (slot->reading)
		slot->reading->free(slot->read);
	*slot = (struct parsed){ 0 };
}

/* Version, digest and what else the reading depends on: the common question takes nothing apart. false: no document. */
static bool find_source(
	const struct state *state, const char *shop, const char *kind, const char *with, struct buffer *ret)
{
	if (!state_get_bytes(state, "document.digest", shop, kind, ret))
		return false;
	buffer_add_text(ret, " ");
	buffer_add_text(ret, with);
	return true;
}

/* Read anew when it was made from something else the last time. NULL: no document. */
static const struct parsed *parsed_of(const struct state *state, const char *shop, const char *kind,
	const struct docs_reading *reading, const char *with)
{
	_cleanup_(buffer_free) struct buffer source = { 0 };
	char digest[100];

	if (!find_source(state, shop, kind, with, &source))
		return NULL;
	struct parsed *slot = slot_of(shop, kind);
	if (slot->reading == reading && bytes_compare(buffer_bytes(&slot->source), buffer_bytes(&source)) == 0)
		return slot;

	_cleanup_free_ Document *document = memory_new(sizeof(*document));
	slot_empty(slot);
	if (!state_get(state, "document", shop, kind, Document_fields, document))
		return NULL;
	slot->source = source;
	source = (struct buffer){ 0 };
	slot->version = folded_version(state, shop, kind, digest);
	slot->reading = reading;
	slot->read = reading->parse(document, shop, with);
	return slot;
}

const void *docs_read(const struct state *state, const char *shop, const char *kind, const struct docs_reading *reading,
	const char *with, uint32_t *ret_version)
{
	const struct parsed *parsed = parsed_of(state, shop, kind, reading, with);

	if (ret_version)
		*ret_version = parsed ? parsed->version : 0;
	return parsed ? parsed->read : NULL;
}

/* --- the sorts that the kit knows itself --- */

static void *parse_shop(const Document *document, const char *name, const char *with)
{
	struct shop *shop = memory_new(sizeof(*shop));
	struct config_error error;

	(void)with;
	if (shop_parse(document->text, name, document->source, shop, &error) == 0)
		return shop;
	free(shop);
	return NULL;
}

static void *parse_rules(const Document *document, const char *shop, const char *currency)
{
	struct rules *rules = memory_new(sizeof(*rules));
	struct rules_error error;

	(void)shop;
	if (rules_parse(document->text, currency, rules, &error) == 0)
		return rules;
	free(rules);
	return NULL;
}

const struct shop *docs_shop(const struct state *state, const char *shop)
{
	static const struct docs_reading reading = { parse_shop, free };

	return docs_read(state, shop, "shop", &reading, "", NULL);
}

const struct rules *docs_rules(const struct state *state, const char *shop, uint32_t *ret_version)
{
	static const struct docs_reading reading = { parse_rules, free };
	const struct shop *configured = docs_shop(state, shop);

	return docs_read(state, shop, "rules", &reading, configured ? configured->currency : "", ret_version);
}
