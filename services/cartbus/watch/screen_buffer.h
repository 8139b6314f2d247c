/*
 * screen_buffer.h: a sheet of characters of a terminal, each with its style, drawn before anybody shows it
 */
#ifndef CARTBUS_WATCH_SCREEN_BUFFER_H
#define CARTBUS_WATCH_SCREEN_BUFFER_H

#include <stdio.h>
#include <wchar.h>

enum style {
	STYLE_PLAIN,
	STYLE_FAINT,  /* labels, what is quiet */
	STYLE_STRONG, /* what is to be read */
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
		wchar_t character; /* 0: the one to its left is wide, and covers it */
		enum style style;
	} * cells; /* row by row */
};

void screen_buffer_init(struct screen_buffer *screen_buffer, int width, int height); /* blank; what it held is freed */
void screen_buffer_free(struct screen_buffer *screen_buffer);

/*
 * Writes UTF-8 from this column on, as far as there is room (what is cut ends with a tilde); returns the column after it. What is no
 * character that can be shown (a control, half a character) becomes a question mark. Outside of the picture nothing is written.
 */
int screen_buffer_put(struct screen_buffer *screen_buffer, int row, int column, enum style style, const char *text);
/* The same, in so many columns at most. */
int screen_buffer_put_within(
	struct screen_buffer *screen_buffer, int row, int column, int most, enum style style, const char *text);
/* Several lines of text, broken where the picture ends; returns the row after them. */
int screen_buffer_wrap(struct screen_buffer *screen_buffer, int row, int column, enum style style, const char *text);
int screen_buffer_print(struct screen_buffer *screen_buffer, int row, int column, enum style style, const char *format,
	...) __attribute__((format(printf, 5, 6)));
/* So that it ends before this column; from `column - most` on, if it is longer. */
void screen_buffer_put_right(
	struct screen_buffer *screen_buffer, int row, int column, int most, enum style style, const char *text);
void screen_buffer_fill(struct screen_buffer *screen_buffer, int row, enum style style); /* the whole row */
void screen_buffer_character(
	struct screen_buffer *screen_buffer, int row, int column, enum style style, wchar_t character);

/* As lines without styles, in the locale's characters; what it cannot say becomes a question mark. */
void screen_buffer_write(const struct screen_buffer *screen_buffer, FILE *to);

#endif
