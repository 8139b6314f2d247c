/*
 * picture.c: characters in rows and columns
 *
 * Promises:  what is drawn is what a terminal shows: no control character gets through, also of a dead letter's reason, and a
 *            wide character takes two columns.
 * Read next: screen.c (shows it), top_draw.c (draws it)
 */
#include "services/cartbus/watch/picture.h"
#include "bus/base/memory.h"
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { PRINT_ROOM = 1024 };

void picture_init(struct picture *picture, int width, int height)
{
	free(picture->cells);
	*picture = (struct picture){ .width = width, .height = height };
	picture->cells = memory_new((size_t)width * (size_t)height * sizeof(*picture->cells));
	for (int i = 0; i < width * height; i++)
		picture->cells[i].character = L' ';
}

void picture_free(struct picture *picture)
{
	free(picture->cells);
	picture->cells = NULL;
}

static struct picture_cell *cell(struct picture *picture, int row, int column)
{
	if (row < 0 || row >= picture->height || column < 0 || column >= picture->width)
		return NULL;
	return &picture->cells[row * picture->width + column];
}

void picture_character(struct picture *picture, int row, int column, enum style style, wchar_t character)
{
	struct picture_cell *at = cell(picture, row, column);

	if (at)
		*at = (struct picture_cell){ .character = character, .style = style };
}

/*
 * The next character of a text, in the locale's bytes, and how many columns it takes. What the locale does not know has no width;
 * combining ones would need a cell's room for more than one.
 */
static wchar_t next_shown(const char **text, int *ret_width)
{
	mbstate_t state = { 0 };
	wchar_t character;
	size_t len = mbrtowc(&character, *text, MB_LEN_MAX, &state);
	bool is_whole = len > 0 && len <= MB_LEN_MAX;

	*text += is_whole ? len : 1;
	*ret_width = is_whole ? wcwidth(character) : -1;
	if (*ret_width > 0)
		return character;
	*ret_width = 1;
	return L'?';
}

static int put(struct picture *picture, int row, int column, int end, enum style style, const char *text)
{
	while (*text) {
		int width;
		wchar_t wide = next_shown(&text, &width);

		if (column + width > end) {
			picture_character(picture, row, end - 1, style, L'~');
			return end;
		}
		picture_character(picture, row, column, style, wide);
		for (int i = 1; i < width; i++)
			picture_character(picture, row, column + i, style, L'\0');
		column += width;
	}
	return column;
}

int picture_put(struct picture *picture, int row, int column, enum style style, const char *text)
{
	return column < picture->width ? put(picture, row, column, picture->width, style, text) : column;
}

int picture_put_within(struct picture *picture, int row, int column, int most, enum style style, const char *text)
{
	int end = column + most < picture->width ? column + most : picture->width;

	return column < end ? put(picture, row, column, end, style, text) : column;
}

int picture_wrap(struct picture *picture, int row, int column, enum style style, const char *text)
{
	int to = column;

	while (*text && row < picture->height) {
		const char *from = text;
		char one[MB_LEN_MAX + 1];
		int width;

		next_shown(&text, &width);
		if (*from == '\n' || to + width > picture->width) {
			row++;
			to = column;
		}
		snprintf(one, sizeof(one), "%.*s", (int)(text - from), from);
		if (*from != '\n')
			to = picture_put(picture, row, to, style, one);
	}
	return to > column ? row + 1 : row;
}

int picture_print(struct picture *picture, int row, int column, enum style style, const char *format, ...)
{
	char text[PRINT_ROOM];
	va_list values;

	va_start(values, format);
	vsnprintf(text, sizeof(text), format, values);
	va_end(values);
	return picture_put(picture, row, column, style, text);
}

void picture_put_right(struct picture *picture, int row, int column, int most, enum style style, const char *text)
{
	int len = (int)strlen(text); /* numbers and titles of ours: each byte is a column */

	if (len > most)
		len = most;
	picture_print(picture, row, column - len, style, "%.*s", len, text);
}

void picture_fill(struct picture *picture, int row, enum style style)
{
	for (int column = 0; column < picture->width; column++)
		picture_character(picture, row, column, style, L' ');
}

static void write_character(wchar_t character, FILE *to)
{
	char bytes[MB_LEN_MAX];
	mbstate_t state = { 0 };
	size_t len = wcrtomb(bytes, character, &state);

	if (len == (size_t)-1)
		fputc('?', to);
	else
		fwrite(bytes, 1, len, to);
}

void picture_write(const struct picture *picture, FILE *to)
{
	for (int row = 0; row < picture->height; row++) {
		const struct picture_cell *cells = &picture->cells[row * picture->width];
		int end = picture->width;

		while (end > 0 && cells[end - 1].character == L' ')
			end--;
		for (int column = 0; column < end; column++) {
			if (cells[column].character)
				write_character(cells[column].character, to);
		}
		fputc('\n', to);
	}
}
