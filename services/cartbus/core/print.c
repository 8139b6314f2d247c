/* print.c: prints JSON on stdout */
#include "services/cartbus/core/print.h"

#include "bus/base/cleanup.h"
#include "bus/base/text.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* `json` is NULL if jansson refused a text for it. */
static void print_json(const json_t *json, size_t flags)
{
	_cleanup_free_ char *text = json_dumps(json, flags);

	puts(text ? text : "{\"error\": \"the answer cannot be printed as JSON: a text in it is not UTF-8\"}");
}

void json_print(const json_t *json)
{
	print_json(json, JSON_INDENT(1));
}

void json_print_line(const json_t *json)
{
	print_json(json, JSON_COMPACT);
}

void json_print_list(const char *name, json_t *list)
{
	json_t *whole = json_pack("{s:o}", name, list);

	json_print(whole);
	json_decref(whole);
}

const char *json_expected(const char *text, int line, int column)
{
	static const char expected[] = "expected ";
	char place[64];

	snprintf(place, sizeof(place), "line %d, column %d: ", line, column);
	text += text_starts(text, place) ? strlen(place) : 0;
	return text + (text_starts(text, expected) ? strlen(expected) : 0);
}
