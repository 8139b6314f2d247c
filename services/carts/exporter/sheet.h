/*
 * sheet.h: the day's rows, appended to a spreadsheet once; parts of exporter.c
 */
#ifndef CARTS_EXPORTER_SHEET_H
#define CARTS_EXPORTER_SHEET_H

#include "bus/actor/service.h"
#include "bus/base/bytes.h"
#include "proto/cart_topics.h"
#include "services/carts/exporter/day_csv.h"

/* says sheet.due if the shop names a sheet */
void sheet_say_due(const struct shop *shop, const struct period *day, struct turn *turn);

enum verdict sheet_hear_due(const struct state *state, const SheetDue *due, struct turn *turn);
void sheet_remember_claim(struct state *state, const struct message_meta *said, const SheetClaim *claim);
void sheet_remember_done(struct state *state, const struct message_meta *said, const SheetDone *done);
void sheet_remember_alarm(struct state *state, const struct message_meta *said, const Alarm *alarm);

extern const struct effect_kind sheet_look_effect, sheet_append_effect;

/* ---- the rows of a day for the Sheets API, and whether the sheet has them ---- */

/*
 * Writes the body of values:append: the rows of a day's CSV, each after the shop and the day. Amounts are
 * numbers; all else is text, which RAW keeps from being a formula. Returns the number of rows without the
 * header.
 */
unsigned sheet_rows(struct bytes csv, const char *shop, const char *day, bool with_header, struct buffer *ret_json);

enum sheet_look {
	SHEET_UNREADABLE, /* no valid answer of the API */
	SHEET_EMPTY,
	SHEET_WITHOUT, /* other rows, but none of this day */
	SHEET_WITH
};
/* `answer` is the answer of values.get with majorDimension=COLUMNS for the first two columns. */
enum sheet_look sheet_look(struct bytes answer, const char *shop, const char *day);

#endif
