/*
 * shop_document.c: the kind "shop": shop.conf, which every system reads
 *
 * Read next: services/kit/shop/shop.h, kinds.h
 */
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "services/kit/documents/docs.h"
#include "services/kit/documents/kinds.h"
#include <stdio.h>
#include <stdlib.h>

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

/* "demo/shop.conf:3: expected ..." */
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
