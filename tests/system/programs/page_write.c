/*
 * page_write.c: the unsubscribe page, for somebody to look at
 *
 * `cartbus-test-page LANGUAGE ask|done|back SHOP`
 */
#include "bus/base/cleanup.h"
#include "bus/base/log.h"
#include "services/kit/endpoint/page.h"
#include <stdio.h>

static enum page page_of(const char *word)
{
	static const char *const words[] = { [PAGE_ASK] = "ask", [PAGE_DONE] = "done", [PAGE_BACK] = "back" };

	for (int page = PAGE_ASK; page <= PAGE_BACK; page++)
		if (strcmp(words[page], word) == 0)
			return (enum page)page;
	die("%s: expected ask, done or back", word);
}

int main(int argc, char **argv)
{
	_cleanup_(buffer_free) struct buffer out = { 0 };

	if (argc != 4)
		die("expected LANGUAGE ask|done|back SHOP");
	page_write(page_of(argv[2]),
		&(struct page_view){ .texts = page_texts_for(NULL, argv[1]), .shop = argv[3], .undo_us = 1 }, &out);
	fputs(buffer_text(&out), stdout);
	return 0;
}
