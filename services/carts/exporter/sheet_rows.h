/*
 * sheet_rows.h: the rows of a day as the Sheets API takes them, and whether they are there
 */
#ifndef CARTS_EXPORTER_SHEET_ROWS_H
#define CARTS_EXPORTER_SHEET_ROWS_H

#include "bus/base/bytes.h"

/*
 * The body of values:append: what stands in the CSV of a day, behind the shop and the day; amounts are numbers, all else text that
 * RAW keeps from being a formula. Returns how many rows without the header.
 */
unsigned sheet_rows(struct bytes csv, const char *shop, const char *day, bool with_header, struct buffer *ret_json);

enum sheet_look {
	SHEET_UNREADABLE, /* not what the API answers */
	SHEET_EMPTY,
	SHEET_WITHOUT, /* rows of others, none of this day */
	SHEET_WITH
};
/* The first two columns, as values.get answers with majorDimension=COLUMNS. */
enum sheet_look sheet_look(struct bytes answer, const char *shop, const char *day);

#endif
