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

/* The number of columns that the next character takes on the screen. A control character is shown as a blank. */
static int next_width(const char *line, int32_t len, int32_t *at)
{
	int32_t from = *at;
	UChar32 c;

	U8_NEXT((const uint8_t *)line, *at, len, c);
	if (text_control(BYTES(line + from, (size_t)(*at - from)), true))
		return 1;

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

/* How many columns the line takes before character `column`. */
static int width_before(const char *line, int32_t len, int column)
{
	int32_t at = 0;
	int width = 0;

	for (int i = 1; i < column && at < len; i++)
		width += next_width(line, len, &at);
	return width;
}

void rules_show(const char *text, struct rules_error *error)
{
	const char *line = line_start(text, error->line);
	int32_t len = (int32_t)strcspn(line, "\r\n"), at = 0;
	struct buffer shown = { 0 };
	int left, behind = 0, caret = 0; /* columns of the screen; left: to the error */

	if (!text_is_utf8(bytes_of(text)) || error->line < 1)
		return;
	left = width_before(line, len, error->column);
	buffer_printf(&shown, "%*s", INDENT, "");
	for (int column = 1; at < len && column < error->column + SHOWN_BEHIND && behind < SHOWN_BEHIND; column++) {
		int32_t from = at;
		int width = next_width(line, len, &at);
		bool is_before = column < error->column;
		bool is_seen = column >= error->column - SHOWN_BEFORE && left <= SHOWN_BEFORE;
		if (is_seen && text_control(BYTES(line + from, (size_t)(at - from)), true))
			buffer_add_text(&shown, " ");
		else if (is_seen)
			buffer_add(&shown, line + from, (size_t)(at - from));
		caret += is_seen && is_before ? width : 0;
		left -= is_before ? width : 0;
		behind += is_before ? 0 : width;
	}
	buffer_printf(&shown, "\n%*s^", INDENT + caret, "");
	TEXT_COPY(error->shown, buffer_text(&shown));
	buffer_free(&shown);
}
