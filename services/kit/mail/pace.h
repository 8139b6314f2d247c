/*
 * pace.h: how many mails may go in a minute and on a day, of a shop (shop.conf [send]) and of the installation (cartbus.conf [mail])
 *
 * What is counted are claims, which are facts: all senders see the same count. A claim that was released is not counted. Two senders
 * may still claim at once, with one mail left; then the one that comes later in the log does not proceed. So nothing goes over a limit.
 */
#ifndef KIT_MAIL_PACE_H
#define KIT_MAIL_PACE_H

#include "bus/actor/service.h"
#include "proto/cart_topics.h"

void pace_remember_claim(struct state *state, const struct message_meta *said, const SendClaim *claim);
void pace_remember_released(struct state *state, const struct message_meta *said, const ReminderOutcome *released);

struct pace {
	const char *shop;         /* SHOP_OF_ALL: all shops together */
	const char *zone;         /* whose days are counted */
	uint32_t a_minute, a_day; /* the limits; 0: none */
	uint32_t under_way;       /* mails of this process that have no claim yet */
};

enum pace_answer {
	PACE_GO,
	PACE_WAIT, /* a little: until_us */
	PACE_DAY   /* the day's are gone: until_us is the next one's first moment */
};

/* May one more mail be begun? */
enum pace_answer pace_ask(const struct state *state, const struct pace *pace, int64_t now_us, int64_t *ret_until_us);
/* Claimed: is this claim, in the order of the log, within the limits? */
struct pace_claim {
	const char *shop, *cart_id;
	uint32_t step, attempt;
};
bool pace_holds(const struct state *state, const struct pace *pace, const struct pace_claim *claim);

#endif
