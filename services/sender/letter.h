/*
 * letter.h: a reminder's mail as the request of an effect, with what its claim and its outcome need
 */
#ifndef SENDER_LETTER_H
#define SENDER_LETTER_H

#include "services/kit/mail.h"
#include "services/sender/may_send.h"
#include "services/sender/sender.h"

struct letter {
	struct mail mail; /* first: the driver takes the request for a struct mail */
	char shop[64];
	uint32_t attempt;
	bool to_owner;
};

/* -EINVAL: ret_why says what in the cart or the shop's texts cannot be mailed. */
int letter_new(const struct state *state, const char *shop, const struct finding *finding, const ReminderDue *due,
	int64_t now_us, struct letter **ret, char ret_why[160]);
void letter_free(struct letter *letter);
int64_t letter_boot_us(int64_t wall_us); /* a span of the wall clock in boot time, as delays are given */

#endif
