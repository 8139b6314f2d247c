/*
 * docs.c: the owner's texts as a service has folded them, and their last parse
 *
 * Owns:      two tables of the state: "document" (shop, kind) -> the message, and "document.digest" (shop,
 *            kind) -> version and digest, so that most calls do not decode 256 KiB. Beside the state, the
 *            last parse per shop and kind: a pure function of the text (and currency), found by its digest.
 * Promises:  an older version never replaces a newer one.
 * Fails by:  NULL. mirror checks each text that it publishes, so only an older mirror lets an invalid one in.
 * Read next: kinds.h (all kinds), services/kit/shop/shop.h, carts/letter/voice_choose.c (reads a system's
 *            documents)
 */
#include "services/kit/documents/docs.h"
#include "bus/base/cleanup.h"
#include "bus/base/map.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "services/kit/documents/kinds.h"
#include <stdio.h>
#include <stdlib.h>

struct parsed {
	struct buffer source; /* version, digest and `with` of the parse (find_source()) */
	uint32_t version;
	const struct docs_reading *reading; /* NULL: nothing was read yet */
	void *read;                         /* the result; NULL also if the text is invalid */
};

struct bytes document_text(const Document *document)
{
	return document->long_text.len ? document->long_text : bytes_of(document->text);
}

void document_set_text(Document *document, struct bytes text)
{
	bool is_long = text.len >= sizeof(document->text);

	document->long_text = is_long ? text : BYTES(NULL, 0);
	text_copy_bytes(document->text, sizeof(document->text), is_long ? BYTES("", 0) : text);
}

static void version_and_digest(const Document *document, char ret[100])
{
	snprintf(ret, 100, "%u %s", document->version, document->digest);
}

static uint32_t folded_version(const struct state *state, const char *shop, const char *kind, char ret_digest[100])
{
	_cleanup_(buffer_free) struct buffer row = { 0 };
	unsigned int version = 0;

	ret_digest[0] = '\0';
	if (STATE_GET_STRING(state, document_digests, shop, kind, &row))
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
	STATE_PUT(state, documents, said->shop, document->kind, document);
	STATE_PUT_STRING(state, document_digests, said->shop, document->kind, bytes_of(row));
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

/* Version, digest and `with`: all that the parse depends on. false: there is no document. */
static bool find_source(
	const struct state *state, const char *shop, const char *kind, const char *with, struct buffer *ret)
{
	if (!STATE_GET_STRING(state, document_digests, shop, kind, ret))
		return false;
	buffer_add_text(ret, " ");
	buffer_add_text(ret, with);
	return true;
}

/* The parse of the document; parses again only if its source has changed. NULL: there is no document. */
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

	_cleanup_(buffer_free) struct buffer row = { 0 };
	_cleanup_free_ Document *document = memory_new(sizeof(*document));
	slot_empty(slot);
	if (!STATE_GET_BORROWED(state, documents, shop, kind, &row, document))
		return NULL;
	_cleanup_free_ char *text = memory_copy(document_text(document));
	slot->source = source;
	source = (struct buffer){ 0 };
	slot->version = folded_version(state, shop, kind, digest);
	slot->reading = reading;
	slot->read = reading->parse(
		&(struct document_text){ .shop = shop, .kind = kind, .source = document->source, .text = text }, with);
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

/* --- the kind "shop": shop.conf, which every system reads --- */

static void *parse_shop(const struct document_text *text, const char *with)
{
	struct shop *shop = memory_new(sizeof(*shop));
	struct config_error error;

	(void)with;
	if (shop_parse(text->text, text->shop, text->source, shop, &error) == 0)
		return shop;
	free(shop);
	return NULL;
}

/* Fills the opinion with an error such as "demo/shop.conf:3: expected ...", and its line. */
static void judge_shop(const struct document_text *text, struct document_opinion *ret)
{
	struct shop *shop = memory_new(sizeof(*shop)); /* large */
	struct config_error error = { "" };
	size_t source = strlen(text->source);

	if (shop_parse(text->text, text->shop, text->source, shop, &error) < 0) {
		const char *line = text_starts(error.text, text->source) && error.text[source] == ':'
			? error.text + source + 1
			: NULL;
		ret->line = line ? atoi(line) : 0;
		ret->names_source = true;
		TEXT_COPY(ret->wrong, error.text);
	}
	free(shop);
}

const struct document_kind shop_document = { .name = "shop",
	.ending = ".conf",
	.bytes_max = 32767,
	.without = "the shop is not started",
	.reading = { parse_shop, free },
	.judge = judge_shop };

const struct document_kind *const kit_documents[] = { &shop_document, NULL };

const struct shop *docs_shop(const struct state *state, const char *shop)
{
	return docs_read(state, shop, shop_document.name, &shop_document.reading, "", NULL);
}
