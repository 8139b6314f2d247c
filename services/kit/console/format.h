/*
 * format.h: writes numbers, times and money for one reader
 *
 * The results are plain text, not yet safe for HTML. They are always terminated.
 */
#ifndef KIT_CONSOLE_FORMAT_H
#define KIT_CONSOLE_FORMAT_H

#include "services/kit/locale/locale.h"
#include <stdint.h>

enum { FORMAT_ROOM = 160 };

/* Who reads. All texts are borrowed, none is NULL. */
struct format_reader {
	const char *locale; /* "de-AT": how numbers and days are written */
	const char *zone;   /* of the shop; an unknown one means UTC */
	int64_t now_us;
};

/* "24 Nov, 10:32", with the year unless it is this one; with the zone in the hour that comes twice in autumn. */
void format_time(const struct format_reader *reader, int64_t us, char ret[FORMAT_ROOM]);
void format_clock(const struct format_reader *reader, int64_t us, char ret[FORMAT_ROOM]); /* "10:32" */
void format_day(const struct format_reader *reader, int64_t us, char ret[FORMAT_ROOM]);   /* "Tue, 24 Nov" */
/* A day of the shop as data has it, "2026-11-24", in one of the forms of days; any other text stays as it is. */
void format_date(const struct format_reader *reader, const char *date, enum locale_day form, char ret[FORMAT_ROOM]);
void format_ago(const struct format_reader *reader, int64_t us, char ret[FORMAT_ROOM]); /* "8 min. ago" */
/* The attribute datetime: "2026-11-24T09:32:00Z"; "" if the year has not four digits. */
void format_iso(int64_t us, char ret[FORMAT_ROOM]);

#endif
