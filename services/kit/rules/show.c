/*
 * show.c: shows the place of an error: its line, and a caret below
 */
#include "bus/base/text.h"
#include "services/kit/rules/text.h"
#include <stdio.h>
#include <string.h>
#include <unicode/uchar.h>
#include <unicode/utf8.h>

enum { SHOWN_BEFORE = 50, SHOWN_BEHIND = 24, INDENT = 4 };

/* The number of columns that a character takes on the screen. */
static int width_of(UChar32 c)
{
	int width = u_getIntPropertyValue(c, UCHAR_EAST_ASIAN_WIDTH);
	int type = u_charType(c);

	if (type == U_NON_SPACING_MARK || type == U_ENCLOSING_MARK || type == U_FORMAT_CHAR)
		return 0;
	return width == U_EA_FULLWIDTH || width == U_EA_WIDE ? 2 : 1;
}

static const char *line_start(const char *text, int line)
{
	for (; line > 1 && strchr(text, '\n'); line--)
		text = strchr(text, '\n') + 1;
	return text;
}

void rules_show(const char *text, struct rules_error *error)
{
	const char *line = line_start(text, error->line);
	int32_t len = (int32_t)strcspn(line, "\r\n"), at = 0;
	struct buffer shown = { 0 };
	int column = 1, caret = 0;

	if (!text_is_utf8(bytes_of(text)) || error->line < 1)
		return;
	buffer_printf(&shown, "%*s", INDENT, "");
	while (at < len && column < error->column + SHOWN_BEHIND) {
		int32_t from = at;
		UChar32 c;
		U8_NEXT((const uint8_t *)line, at, len, c);
		bool seen = column >= error->column - SHOWN_BEFORE;
		bool plain = text_control(BYTES(line + from, (size_t)(at - from)), true) == 0;
		if (seen && plain)
			buffer_add(&shown, line + from, (size_t)(at - from));
		else if (seen)
			buffer_add_text(&shown, " ");
		if (seen && column < error->column)
			caret += plain ? width_of(c) : 1;
		column++;
	}
	buffer_printf(&shown, "\n%*s^", INDENT + caret, "");
	text_copy(error->shown, sizeof(error->shown), buffer_text(&shown));
	buffer_free(&shown);
}
