/*
 * sheet.h: the day's rows, appended to a spreadsheet once; parts of exporter.c
 */
#ifndef CARTS_EXPORTER_SHEET_H
#define CARTS_EXPORTER_SHEET_H

#include "bus/actor/service.h"
#include "proto/cart_topics.h"
#include "services/carts/exporter/day_csv.h"

void sheet_say_due(
	const struct shop *shop, const struct period *day, struct turn *turn); /* if the shop names a sheet */

enum verdict sheet_hear_due(const struct state *state, const SheetDue *due, struct turn *turn);
void sheet_remember_claim(struct state *state, const struct message_meta *said, const SheetClaim *claim);
void sheet_remember_done(struct state *state, const struct message_meta *said, const SheetDone *done);
void sheet_remember_alarm(struct state *state, const struct message_meta *said, const Alarm *alarm);

extern const struct effect_kind sheet_look_effect, sheet_append_effect;

#endif
