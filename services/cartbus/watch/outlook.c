/*
 * outlook.c: when the next mail of a cart goes, and why then
 *
 * Owns:     a folder for what is folded meanwhile.
 * Promises: the waiter's own decision at the moments at which it will decide; quiet hours and windows in the shop's zone.
 * Read next: services/carts/rehearsal/forecast.c, services/carts/words/next_mail.c
 */
#include "services/cartbus/watch/outlook.h"

int outlook_begin(const struct command *command, const char *where, struct outlook *ret)
{
	char why[512];
	int ended;

	*ret = (struct outlook){ .command = command };
	ended = scratch_make(command, where, &ret->scratch);
	if (ended)
		return ended;
	ret->forecast = forecast_new(ret->scratch.folder, why);
	if (ret->forecast)
		return EXIT_FINE;
	complain(command, "%s: %s; --scratch names another folder", ret->scratch.folder, why);
	outlook_end(ret);
	return EXIT_NO;
}

void outlook_end(struct outlook *outlook)
{
	forecast_free(outlook->forecast);
	outlook->forecast = NULL;
	if (outlook->scratch.folder[0])
		scratch_remove(&outlook->scratch);
	outlook->scratch.folder[0] = '\0';
}

void outlook_hear(struct outlook *outlook, const struct entry *entry)
{
	const struct message_meta said = entry_said(entry);

	forecast_hear(outlook->forecast, &said, entry->payload);
}

static bool ask(const struct outlook *outlook, const char *shop, const TimerSet *timer, struct foreseen *ret)
{
	return forecast_ask(outlook->forecast, shop, timer, clock_wall_us(&outlook->command->clock), ret);
}

bool outlook_line(const struct outlook *outlook, const char *shop, const char *zone, const TimerSet *timer,
	struct next_mail_line *ret)
{
	struct foreseen foreseen;

	if (!ask(outlook, shop, timer, &foreseen))
		return false;
	next_mail_line(&foreseen, zone, ret);
	return true;
}

json_t *outlook_json(const struct outlook *outlook, const char *shop, const char *zone, const TimerSet *timer)
{
	struct foreseen foreseen;

	return ask(outlook, shop, timer, &foreseen) ? next_mail_json(&foreseen, zone) : NULL;
}
