/*
 * inside.h: the rehearsal's own memory, shared by rehearsal.c (what comes), step.c (decisions) and schedule.c (what is due)
 */
#ifndef CARTS_REHEARSAL_INSIDE_H
#define CARTS_REHEARSAL_INSIDE_H

#include "bus/actor/runtime/replay.h"
#include "bus/base/list.h"
#include "bus/base/map.h"
#include "bus/base/sorted_map.h"
#include "proto/cart_topics.h"
#include "services/carts/rehearsal/history.h"
#include "services/carts/rehearsal/rehearsal.h"
#include "services/carts/rehearsal/totals.h"

/* ---- the services that are rehearsed, each with its state ---- */

enum role { ROLE_INTAKE, ROLE_WAITER, ROLE_SENDER, ROLE_TIMER, ROLES, ROLE_NONE = ROLES };

struct services_under_test;

struct services_under_test *services_under_test_new(const char *folder, char ret_why[512]); /* as replay_new */
void services_under_test_free(struct services_under_test *under_test);                      /* takes NULL */
struct replay *services_under_test_replay(const struct services_under_test *under_test, enum role role);
enum role services_under_test_hears(
	const struct services_under_test *under_test, const char *topic); /* who decides on it; ROLE_NONE: nobody */
uint32_t services_under_test_failures_max(
	enum role role); /* so many failures make a dead letter of what it decides on */
bool services_under_test_says(const struct services_under_test *under_test, const char *topic); /* one of them does */
/* Folded by all but `has_it`, which may be ROLE_NONE. */
void services_under_test_fold(struct services_under_test *under_test, const struct message_meta *said,
	struct bytes payload, enum role has_it);

/* ---- a message that was said, kept until it has been decided on ---- */

struct message {
	struct message_meta said; /* its strings are below */
	char topic[32], shop[64], key[200], said_by[32];
	struct buffer payload;
};

/* A copy with this number and time. */
struct message *message_new(const struct message_meta *said, struct bytes payload, uint64_t seq, int64_t time_us);

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

void pending_free(struct pending *pending); /* and what is behind it; takes NULL */

enum { REPLACED_MOST = 64 };

struct rehearsal {
	const struct rehearsal_plan *plan;
	struct services_under_test *under_test;
	struct history *history;
	struct totals *totals;
	bool closed, opened;         /* the window has begun */
	uint64_t seq;                /* the message of history that is played */
	int64_t now_us;              /* virtual time */
	size_t next_turn;            /* of history's */
	struct map *pending;         /* number in history -> struct pending */
	struct sorted_map *unsaid;   /* place in history, counter -> struct unsaid */
	struct sorted_map *schedule; /* time, counter -> struct item */
	uint64_t counter;
	/* what the log said last: the wake-up that the next firing is of */
	uint64_t wake_seq;
	char wake_key[200];
	/* timers that were set anew while they may have been firing */
	TimerSet replaced[REPLACED_MOST];
	size_t replaced_count;
	struct rehearsal_counts counts;
};

/* Known to everybody from now on, but for `has_it`, who folded it before; `past`: its number in history or 0. Takes the message. */
void step_publish(struct rehearsal *rehearsal, struct message *message, enum role has_it, uint64_t past);
/* Kept for its turns of history. */
void step_keep(struct rehearsal *rehearsal, struct message *message, enum role role, uint64_t past);
/* Every decision that history made before it heard of message `before`. */
void step_turns(struct rehearsal *rehearsal, uint64_t before);
/* What history said by this place, is said now. */
void step_unsaid(struct rehearsal *rehearsal, uint64_t until);
void step_replay(struct rehearsal *rehearsal, struct pending *pending); /* decided now; takes it */
/* The facts of the last turn of `role`: of history's turn, or (NULL) of the rehearsal alone; `wake`: of a cart.wake. */
void step_facts(
	struct rehearsal *rehearsal, enum role role, uint32_t count, const struct past_turn *turn, uint64_t wake);

void schedule_timer(struct rehearsal *rehearsal, const TimerSet *set);
void schedule_replaces(struct rehearsal *rehearsal, const char *name); /* before a set or cancel is folded */
void schedule_again(struct rehearsal *rehearsal, struct pending *pending, int64_t at_us); /* takes it */
void schedule_run(struct rehearsal *rehearsal, int64_t before_us);
void schedule_fire_as_it_did(struct rehearsal *rehearsal, const TimerFired *fired);
void schedule_open(struct rehearsal *rehearsal); /* the timers that are set when the window begins */
void schedule_free(struct rehearsal *rehearsal);

bool rehearsal_read(struct bytes payload, const pb_msgdesc_t *fields, void *ret);

#endif
