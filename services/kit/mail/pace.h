/*
 * pace.h: limits the mails per minute and per day, of a shop (shop.conf [send]) and of the installation
 * (cartbus.conf [mail])
 *
 * It counts claims, which are facts, so all senders see the same count. Released claims do not count. Two
 * senders may still claim at the same moment with one mail left; then the claim that is later in the log does
 * not proceed. So no limit is exceeded.
 */
#ifndef KIT_MAIL_PACE_H
#define KIT_MAIL_PACE_H

#include "bus/actor/service.h"
#include "proto/cart_topics.h"

void pace_remember_claim(struct state *state, const struct message_meta *said, const SendClaim *claim);
void pace_remember_released(struct state *state, const struct message_meta *said, const ReminderOutcome *released);

struct pace {
	const char *shop;         /* SHOP_OF_ALL: all shops together */
	const char *zone;         /* the time zone whose days are counted */
	uint32_t a_minute, a_day; /* the limits; 0: none */
	uint32_t under_way;       /* mails of this process that have no claim yet */
};

enum pace_answer {
	PACE_GO,
	PACE_WAIT, /* wait until until_us */
	PACE_DAY   /* the day's limit is used up: until_us is the beginning of the next day */
};

/* May one more mail be begun? Times are wall time. */
enum pace_answer pace_ask(const struct state *state, const struct pace *pace, int64_t now_us, int64_t *ret_until_us);
/* A claim that was said. pace_holds: is it within the limits, in the order of the log? */
struct pace_claim {
	const char *shop, *cart_id;
	uint32_t step, attempt;
};
bool pace_holds(const struct state *state, const struct pace *pace, const struct pace_claim *claim);

#endif
