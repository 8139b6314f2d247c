/*
 * address_list.c: reads the mail addresses from a file that another tool wrote
 *
 * Promises:  no row is skipped silently. Memory holds at most one row, whatever the input is. A quote that is
 *            never closed costs the lines up to ADDRESS_ROW_MOST bytes after it; each() gets their numbers,
 *            and the next line is read normally.
 * Fails by:  telling each() what is wrong with a row; an error if no row of the file can be understood.
 * Read next: suppressions_import.c
 */
#include "services/cartbus/people/address_list.h"
#include "bus/base/text.h"
#include <csv.h>
#include <errno.h>
#include <strings.h>

enum { CHUNK = 64 * 1024, FIELD_MAX = 512 };

struct row {
	uint64_t first; /* its first line; 0: no row has begun */
	size_t bytes;
	int fields;
	bool too_long, not_text;
	char found[FIELD_MAX]; /* the address; "": none yet */
};

struct list {
	struct csv_parser parser;
	const char *column;
	int column_at; /* -1: not known */
	bool past_first, skipping;
	bool in_line;             /* the last piece that was read did not end its line */
	uint64_t line, told_line; /* the current line; the last line of the last reported row */
	struct row row;
	address_row_fn *each;
	void *context;
};

static bool is_called_like_an_address(const char *name)
{
	static const char *const names[] = { "email", "e-mail", "mail", "email address", "e-mail address",
		"email_address", "emailaddress", "address" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strcasecmp(names[i], name) == 0)
			return true;
	return false;
}

static bool is_the_column(const struct list *list, const char *name)
{
	return list->column ? strcasecmp(list->column, name) == 0 : is_called_like_an_address(name);
}

static void on_field(void *field, size_t len, void *context)
{
	struct list *list = context;
	struct row *row = &list->row;
	const char *text = field ? field : "";
	int at = row->fields++;

	if (!row->first)
		row->first = list->line;
	if (strlen(text) != len)
		row->not_text = true;
	if (!list->past_first && list->column_at < 0 && is_the_column(list, text))
		list->column_at = at;
	if (list->past_first && list->column_at >= 0 ? at != list->column_at : row->found[0] || !strchr(text, '@'))
		return;
	if (!TEXT_COPY(row->found, text))
		row->too_long = true;
}

static void tell_row(struct list *list)
{
	const struct row *row = &list->row;
	bool header = !list->past_first && list->column_at >= 0;
	const char *why = row->not_text ? "it has a NUL in it"
		: row->too_long         ? "its address is too long"
		: row->found[0]         ? NULL
					: "there is no address on it";

	if (!header && row->fields > 0 && !(list->column && list->column_at < 0))
		list->each(list->context, row->first, list->line, why ? NULL : row->found, why);
	list->past_first = list->past_first || row->fields > 0;
	list->told_line = list->line;
	list->row = (struct row){ 0 };
}

/* A line can hold several rows: a lone CR ends a row as well. */
static void on_row(int end, void *context)
{
	(void)end;
	tell_row(context);
}

/* Reports the row as bad, and starts again after the next line end. */
static void give_up_row(struct list *list)
{
	unsigned char delimiter = csv_get_delim(&list->parser);

	list->each(list->context, list->row.first, list->line, NULL,
		"it does not end within 64 KiB: is a quote missing, or the file another one?");
	csv_free(&list->parser);
	csv_init(&list->parser, CSV_APPEND_NULL);
	csv_set_delim(&list->parser, delimiter);
	list->past_first = true;
	list->row = (struct row){ 0 };
}

/* Parses a piece of one line; the piece includes the line's end if that was read. */
static void take_piece(struct list *list, const char *at, size_t len)
{
	bool whole = at[len - 1] == '\n';
	struct row *row = &list->row;

	if (!list->skipping) {
		if (!row->first)
			row->first = list->line;
		row->bytes += len;
		csv_parse(&list->parser, at, len, on_field, on_row, list);
		if (row->bytes > ADDRESS_ROW_MOST)
			give_up_row(list), list->skipping = !whole;
		else if (row->bytes <= 2 && whole && row->fields == 0 && (at[0] == '\n' || at[0] == '\r'))
			*row = (struct row){ 0 }; /* an empty line */
	}
	list->in_line = !whole;
	if (whole) {
		list->skipping = false;
		list->line++;
	}
}

static void take_chunk(struct list *list, const char *at, size_t len)
{
	const char *end = at + len;

	while (at < end) {
		const char *line_end = memchr(at, '\n', (size_t)(end - at));
		size_t piece = line_end ? (size_t)(line_end + 1 - at) : (size_t)(end - at);

		take_piece(list, at, piece);
		at += piece;
	}
}

/* The character that separates the fields of the first line. */
static unsigned char delimiter_of(const char *text, size_t len)
{
	const char *end = memchr(text, '\n', len);
	size_t line = end ? (size_t)(end - text) : len;

	if (memchr(text, ',', line))
		return CSV_COMMA;
	if (memchr(text, ';', line))
		return ';';
	return memchr(text, '\t', line) ? CSV_TAB : CSV_COMMA;
}

static bool begins_like_text(const char *chunk, size_t len)
{
	size_t looked = len < 1024 ? len : 1024;

	return !memchr(chunk, '\0', looked) &&
		!(len >= 2 && (memcmp(chunk, "\xff\xfe", 2) == 0 || memcmp(chunk, "\xfe\xff", 2) == 0));
}

static int begin(struct list *list, const char **at, size_t *len)
{
	static const char mark[] = "\xef\xbb\xbf";

	if (*len >= 3 && memcmp(*at, mark, 3) == 0) {
		*at += 3;
		*len -= 3;
	}
	if (!begins_like_text(*at, *len))
		return -EILSEQ;
	csv_set_delim(&list->parser, delimiter_of(*at, *len));
	return 0;
}

static void finish(struct list *list, uint64_t *ret_lines)
{
	bool open = list->row.first && !list->skipping;

	if (!list->skipping)
		csv_fini(&list->parser, on_field, on_row, list);
	*ret_lines = list->line - (open || list->skipping || list->in_line ? 0 : 1);
	if (*ret_lines < list->told_line) /* a quote was left open behind a lone CR */
		*ret_lines = list->told_line;
}

/* If a column's name was given, the first row must have it. */
static bool column_is_missing(const struct list *list)
{
	return list->column && list->past_first && list->column_at < 0;
}

int address_list_read(FILE *from, const char *column, address_row_fn *each, void *context, uint64_t *ret_lines)
{
	static char chunk[CHUNK];
	struct list list = { .column = column, .column_at = -1, .line = 1, .each = each, .context = context };
	bool begun = false;
	int failed = 0;

	*ret_lines = 0;
	csv_init(&list.parser, CSV_APPEND_NULL);
	while (!failed && !column_is_missing(&list)) {
		size_t len = fread(chunk, 1, sizeof(chunk), from);
		const char *at = chunk;

		if (len == 0)
			break;
		if (!begun)
			failed = begin(&list, &at, &len);
		begun = true;
		if (!failed)
			take_chunk(&list, at, len);
	}
	if (!failed && ferror(from))
		failed = -EIO;
	if (!failed && column_is_missing(&list))
		failed = -ENOENT;
	if (!failed)
		finish(&list, ret_lines);
	csv_free(&list.parser);
	return failed;
}
