/*
 * pending.h: a message that was said, kept until it has been decided on
 */
#ifndef CARTS_REHEARSAL_PENDING_H
#define CARTS_REHEARSAL_PENDING_H

#include "bus/base/list.h"
#include "proto/cart_topics.h"
#include "services/carts/rehearsal/cast.h"

struct message {
	struct message_meta said; /* its strings are below */
	char topic[32], shop[64], key[200], said_by[32];
	struct buffer payload;
};

/* A copy with this number and time. */
struct message *message_new(const struct message_meta *said, struct bytes payload, uint64_t seq, int64_t time_us);
void message_free(struct message *message); /* takes NULL */

struct pending {
	struct list hook;   /* in another's `behind` */
	struct list behind; /* struct pending: what history decided on later than on this, and said nothing about */
	struct message *message;
	enum role role;             /* who decides on it */
	uint64_t past;              /* its number in history; 0: history does not know it */
	size_t turns_left;          /* that history made about it and that have not come yet */
	bool decided;               /* at least once */
	struct replay_turn running; /* an effect that has claimed: kind is set */
	uint32_t failures;
	SendClaim claim;         /* of that effect */
	uint64_t as_it_did_from; /* from there on what is said about it is history's; 0: nothing is */
};

struct pending *pending_new(struct message *message, enum role role, uint64_t past); /* takes the message */
void pending_free(struct pending *pending); /* and what is behind it; takes NULL */

#endif
