/*
 * sheet_rows.c: turns CSV into the Sheets API's JSON, and reads from an answer if a day's rows are there
 *
 * Promises:  the sheet holds what the file holds, but in a cell that is no UTF-8 question marks stand for all
 *            bytes beyond ASCII. Each row begins with its shop and day, which are searched for before any row
 *            is appended.
 * Read next: sheet.c. Source: developers.google.com, Sheets API v4, spreadsheets.values append and get.
 */
#include "bus/base/cleanup.h"
#include "bus/base/log.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "services/carts/exporter/sheet.h"
#include <csv.h>
#include <jansson.h>

enum { AMOUNT_DIGITS = 15 }; /* which a double holds exactly, so that 20.10 does not become 20.100000000000001 */

struct rows {
	const char *shop, *day;
	json_t *all, *row, *header;
};

static json_t *begin_row(const struct rows *rows)
{
	return rows->header ? json_pack("[s,s]", rows->shop, rows->day) : json_pack("[s,s]", "shop", "day");
}

/* total and kept are numbers, because a sheet does not add up texts */
static bool is_amount(const struct rows *rows)
{
	const char *name =
		rows->header ? json_string_value(json_array_get(rows->header, json_array_size(rows->row))) : NULL;

	return name && (strcmp(name, "total") == 0 || strcmp(name, "kept") == 0);
}

/* Never NULL: JSON takes nothing but UTF-8, and a missing cell would move all later ones to the left. */
static json_t *text_cell(struct bytes text)
{
	json_t *cell = json_stringn(text.len ? text.data : "", text.len);
	_cleanup_free_ char *plain = NULL;

	if (cell)
		return cell;
	plain = memory_new(text.len + 1);
	memcpy(plain, text.data, text.len);
	text_make_plain(plain);
	return json_string(plain);
}

static void on_cell(void *text, size_t len, void *context)
{
	struct rows *rows = context;
	json_t *cell = NULL;

	if (!rows->row)
		rows->row = begin_row(rows);
	if (len > 0 && is_amount(rows))
		cell = json_loadb(text, len, JSON_DECODE_ANY | JSON_DECODE_INT_AS_REAL, NULL);
	json_array_append_new(rows->row, cell ? cell : text_cell(BYTES(text, len)));
}

static void on_row(int end, void *context)
{
	struct rows *rows = context;

	(void)end;
	if (!rows->header)
		rows->header = json_incref(rows->row);
	json_array_append_new(rows->all, TAKE(rows->row));
}

unsigned sheet_rows(struct bytes csv, const char *shop, const char *day, bool with_header, struct buffer *ret_json)
{
	struct rows rows = { .shop = shop, .day = day, .all = json_array() };
	struct csv_parser parser;

	if (csv_init(&parser, CSV_STRICT) != 0)
		die("libcsv cannot begin");
	if (csv_parse(&parser, csv.data, csv.len, on_cell, on_row, &rows) != csv.len)
		die("the day's own CSV cannot be read: %s", csv_strerror(csv_error(&parser)));
	csv_fini(&parser, on_cell, on_row, &rows);
	csv_free(&parser);
	size_t count = json_array_size(rows.all);
	if (!with_header)
		json_array_remove(rows.all, 0);
	_cleanup_(json_decrefp) json_t *body = json_pack("{s:o}", "values", rows.all);
	_cleanup_free_ char *text = json_dumps(body, JSON_COMPACT | JSON_REAL_PRECISION(AMOUNT_DIGITS));
	json_decref(rows.header);
	buffer_add_text(ret_json, text ? text : "");
	return count > 0 ? (unsigned)(count - 1) : 0;
}

static bool holds(const json_t *columns, size_t column, size_t row, const char *text)
{
	const char *cell = json_string_value(json_array_get(json_array_get(columns, column), row));

	return cell && strcmp(cell, text) == 0;
}

enum sheet_look sheet_look(struct bytes answer, const char *shop, const char *day)
{
	_cleanup_(json_decrefp) json_t *body = json_loadb(answer.len ? answer.data : "", answer.len, 0, NULL);
	const json_t *columns = json_object_get(body, "values");
	bool is_empty = true;

	if (!json_is_object(body) || !json_is_string(json_object_get(body, "range")) ||
		(columns && !json_is_array(columns)))
		return SHEET_UNREADABLE;
	for (size_t row = 0; row < json_array_size(json_array_get(columns, 1)); row++)
		if (holds(columns, 0, row, shop) && holds(columns, 1, row, day))
			return SHEET_WITH;
	for (size_t i = 0; i < json_array_size(columns); i++)
		is_empty = is_empty && json_array_size(json_array_get(columns, i)) == 0;
	return is_empty ? SHEET_EMPTY : SHEET_WITHOUT;
}
