/*
 * files_csv.c: a table without the rows about a shopper
 *
 * Promises:  a row goes when its first cell is the id of one of his carts, or any cell holds one of his names; all others stay as they
 *            are, byte by byte, also where the owner's spreadsheet changed how they are written.
 * Fails by:  die() when there is no memory.
 * Read next: files.c, services/carts/exporter/day_csv.c (who writes them)
 */
#include "services/cartbus/people/files.h"

#include "bus/base/log.h"
#include <csv.h>

struct row {
	const struct person *person;
	bool is_his, has_cells, is_over;
};

static void on_cell(void *text, size_t len, void *context)
{
	struct row *row = context;
	const char *cell = text;

	if (!row->has_cells && len > 0 && *cell == '\'') /* what a spreadsheet is not to take for a formula */
		row->is_his |= person_has_cart(row->person, BYTES(cell + 1, len - 1));
	if (len > 0)
		row->is_his |= (!row->has_cells && person_has_cart(row->person, BYTES(cell, len))) ||
			person_holds(row->person, BYTES(cell, len));
	row->has_cells = true;
}

static void on_row(int end, void *context)
{
	struct row *row = context;

	(void)end;
	row->is_over = true;
}

/* A row ends with CR, LF or both. */
static size_t end_of_line(struct bytes csv, size_t at)
{
	const char *text = csv.data;

	return at < csv.len && at > 0 && text[at - 1] == '\r' && text[at] == '\n' ? at + 1 : at;
}

static int keep(struct row *row, struct bytes csv, size_t from, size_t to, struct buffer *ret)
{
	bool goes = row->is_his;

	if (!goes)
		buffer_add(ret, (const char *)csv.data + from, to - from);
	*row = (struct row){ .person = row->person };
	return goes;
}

int files_csv_without(const struct person *person, struct bytes csv, struct buffer *ret)
{
	struct row row = { .person = person };
	struct csv_parser parser;
	size_t from = 0, at = 0;
	int gone = 0;

	if (csv_init(&parser, 0) != 0)
		die("libcsv cannot begin");
	while (at < csv.len && csv_parse(&parser, (const char *)csv.data + at, 1, on_cell, on_row, &row) == 1) {
		at++;
		if (row.is_over) {
			at = end_of_line(csv, at);
			gone += keep(&row, csv, from, at, ret);
			from = at;
		}
	}
	csv_fini(&parser, on_cell, on_row, &row);
	csv_free(&parser);
	return gone + keep(&row, csv, from, csv.len, ret);
}
