/* reader.h: a reader of pages, and a page rendered for one */
#ifndef UNIT_KIT_CONSOLE_READER_H
#define UNIT_KIT_CONSOLE_READER_H

#include "bus/base/bytes.h"
#include "services/kit/console/markup.h"
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static const int64_t now_us = INT64_C(1795512600000000); /* 24 November 2026, 09:30 UTC */

static inline const char *asset_of_test(const char *name, void *context)
{
	(void)context;
	return strcmp(name, "console.js") == 0 ? "/assets/console.1a2b.js" : NULL;
}

static inline struct markup_reader reader_in(const char *locale, const char *language)
{
	return (struct markup_reader){ .locale = locale,
		.language = language,
		.zone = "Europe/Berlin",
		.now_us = now_us,
		.prefix = "/console",
		.token = "to\"ken",
		.once = "0123",
		.asset = asset_of_test };
}

/* Takes the data. The text is the caller's to free. */
static inline char *html_of(const struct markup *page, json_t *data, const struct markup_reader *reader)
{
	struct buffer html = { 0 };

	markup_html(NULL, NULL, page, data, reader, &html);
	json_decref(data);
	return (char *)(buffer_text(&html), html.data);
}

#endif
