/*
 * screen_buffer.c: characters in rows and columns
 *
 * Promises:  what is drawn is what a terminal shows: no control character gets through, also of a dead letter's reason, and a
 *            wide character takes two columns.
 * Read next: screen.c (shows it), top_draw.c (draws it)
 */
#include "services/cartbus/watch/screen_buffer.h"
#include "bus/base/memory.h"
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { PRINT_ROOM = 1024 };

void screen_buffer_init(struct screen_buffer *screen_buffer, int width, int height)
{
	free(screen_buffer->cells);
	*screen_buffer = (struct screen_buffer){ .width = width, .height = height };
	screen_buffer->cells = memory_new((size_t)width * (size_t)height * sizeof(*screen_buffer->cells));
	for (int i = 0; i < width * height; i++)
		screen_buffer->cells[i].character = L' ';
}

void screen_buffer_free(struct screen_buffer *screen_buffer)
{
	free(screen_buffer->cells);
	screen_buffer->cells = NULL;
}

static struct screen_buffer_cell *cell(struct screen_buffer *screen_buffer, int row, int column)
{
	if (row < 0 || row >= screen_buffer->height || column < 0 || column >= screen_buffer->width)
		return NULL;
	return &screen_buffer->cells[row * screen_buffer->width + column];
}

void screen_buffer_character(
	struct screen_buffer *screen_buffer, int row, int column, enum style style, wchar_t character)
{
	struct screen_buffer_cell *at = cell(screen_buffer, row, column);

	if (at)
		*at = (struct screen_buffer_cell){ .character = character, .style = style };
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

static int put(struct screen_buffer *screen_buffer, int row, int column, int end, enum style style, const char *text)
{
	while (*text) {
		int width;
		wchar_t wide = next_shown(&text, &width);

		if (column + width > end) {
			screen_buffer_character(screen_buffer, row, end - 1, style, L'~');
			return end;
		}
		screen_buffer_character(screen_buffer, row, column, style, wide);
		for (int i = 1; i < width; i++)
			screen_buffer_character(screen_buffer, row, column + i, style, L'\0');
		column += width;
	}
	return column;
}

int screen_buffer_put(struct screen_buffer *screen_buffer, int row, int column, enum style style, const char *text)
{
	return column < screen_buffer->width ? put(screen_buffer, row, column, screen_buffer->width, style, text)
					     : column;
}

int screen_buffer_put_within(
	struct screen_buffer *screen_buffer, int row, int column, int most, enum style style, const char *text)
{
	int end = column + most < screen_buffer->width ? column + most : screen_buffer->width;

	return column < end ? put(screen_buffer, row, column, end, style, text) : column;
}

int screen_buffer_wrap(struct screen_buffer *screen_buffer, int row, int column, enum style style, const char *text)
{
	int to = column;

	while (*text && row < screen_buffer->height) {
		const char *from = text;
		char one[MB_LEN_MAX + 1];
		int width;

		next_shown(&text, &width);
		if (*from == '\n' || to + width > screen_buffer->width) {
			row++;
			to = column;
		}
		snprintf(one, sizeof(one), "%.*s", (int)(text - from), from);
		if (*from != '\n')
			to = screen_buffer_put(screen_buffer, row, to, style, one);
	}
	return to > column ? row + 1 : row;
}

int screen_buffer_print(
	struct screen_buffer *screen_buffer, int row, int column, enum style style, const char *format, ...)
{
	char text[PRINT_ROOM];
	va_list values;

	va_start(values, format);
	vsnprintf(text, sizeof(text), format, values);
	va_end(values);
	return screen_buffer_put(screen_buffer, row, column, style, text);
}

void screen_buffer_put_right(
	struct screen_buffer *screen_buffer, int row, int column, int most, enum style style, const char *text)
{
	int len = (int)strlen(text); /* numbers and titles of ours: each byte is a column */

	if (len > most)
		len = most;
	screen_buffer_print(screen_buffer, row, column - len, style, "%.*s", len, text);
}

void screen_buffer_fill(struct screen_buffer *screen_buffer, int row, enum style style)
{
	for (int column = 0; column < screen_buffer->width; column++)
		screen_buffer_character(screen_buffer, row, column, style, L' ');
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

void screen_buffer_write(const struct screen_buffer *screen_buffer, FILE *to)
{
	for (int row = 0; row < screen_buffer->height; row++) {
		const struct screen_buffer_cell *cells = &screen_buffer->cells[row * screen_buffer->width];
		int end = screen_buffer->width;

		while (end > 0 && cells[end - 1].character == L' ')
			end--;
		for (int column = 0; column < end; column++) {
			if (cells[column].character)
				write_character(cells[column].character, to);
		}
		fputc('\n', to);
	}
}
