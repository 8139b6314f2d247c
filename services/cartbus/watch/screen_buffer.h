/* screen_buffer.h: a buffer of the terminal's characters with their styles, filled before it is shown */
#ifndef CARTBUS_WATCH_SCREEN_BUFFER_H
#define CARTBUS_WATCH_SCREEN_BUFFER_H

#include <stdio.h>
#include <wchar.h>

enum style {
	STYLE_PLAIN,
	STYLE_FAINT,  /* labels, unimportant text */
	STYLE_STRONG, /* important text */
	STYLE_TITLE,  /* of a table */
	STYLE_BAR,    /* the first and last line */
	STYLE_GOOD,
	STYLE_DOUBTFUL,
	STYLE_BAD,
	STYLE_ALARM, /* a banner */
	STYLE_WELL,  /* the opposite */
	STYLE_CHOSEN,
	STYLES
};

struct screen_buffer {
	int width, height;
	struct screen_buffer_cell {
		wchar_t character; /* 0: covered by the wide character to its left */
		enum style style;
	} * cells; /* row by row */
};

/* blank; frees the previous content */
void screen_buffer_init(struct screen_buffer *screen_buffer, int width, int height);
void screen_buffer_free(struct screen_buffer *screen_buffer);

/*
 * Writes UTF-8 from this column on, as far as there is room (what is cut ends with a tilde); returns the
 * column after it. A control character or an incomplete character becomes a question mark. Nothing is written
 * outside the buffer.
 */
int screen_buffer_put(struct screen_buffer *screen_buffer, int row, int column, enum style style, const char *text);
/* The same in at most `most` columns. */
int screen_buffer_put_within(
	struct screen_buffer *screen_buffer, int row, int column, int most, enum style style, const char *text);
/* Writes text in several lines, broken at the right edge of the buffer; returns the row after them. */
int screen_buffer_wrap(struct screen_buffer *screen_buffer, int row, int column, enum style style, const char *text);
int screen_buffer_print(struct screen_buffer *screen_buffer, int row, int column, enum style style, const char *format,
	...) __attribute__((format(printf, 5, 6)));
/* Writes text that ends before this column; a longer text begins at `column - most`. */
void screen_buffer_put_right(
	struct screen_buffer *screen_buffer, int row, int column, int most, enum style style, const char *text);
void screen_buffer_fill(struct screen_buffer *screen_buffer, int row, enum style style); /* the whole row */
void screen_buffer_character(
	struct screen_buffer *screen_buffer, int row, int column, enum style style, wchar_t character);

/* Writes the buffer as lines without styles, in the locale's characters; others become question marks. */
void screen_buffer_write(const struct screen_buffer *screen_buffer, FILE *to);

#endif
