/*
 * sheet.h: the day's rows, appended to a spreadsheet once; parts of exporter.c
 */
#ifndef CARTS_EXPORTER_SHEET_H
#define CARTS_EXPORTER_SHEET_H

#include "bus/actor/service.h"
#include "bus/base/bytes.h"
#include "proto/cart_topics.h"
#include "services/carts/exporter/day_csv.h"

void sheet_say_due(
	const struct shop *shop, const struct period *day, struct turn *turn); /* if the shop names a sheet */

enum verdict sheet_hear_due(const struct state *state, const SheetDue *due, struct turn *turn);
void sheet_remember_claim(struct state *state, const struct message_meta *said, const SheetClaim *claim);
void sheet_remember_done(struct state *state, const struct message_meta *said, const SheetDone *done);
void sheet_remember_alarm(struct state *state, const struct message_meta *said, const Alarm *alarm);

extern const struct effect_kind sheet_look_effect, sheet_append_effect;

/* ---- the rows of a day as the Sheets API takes them, and whether they are there ---- */

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
