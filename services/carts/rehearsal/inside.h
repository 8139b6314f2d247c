/*
 * inside.h: the rehearsal's own memory, shared by rehearsal.c (messages), step.c (decisions) and schedule.c
 * (timers)
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
/* the service that hears the topic; ROLE_NONE: none */
enum role services_under_test_hears(const struct services_under_test *under_test, const char *topic);
uint32_t services_under_test_failures_max(
	enum role role); /* after this many failures a message becomes a dead letter */
/* one of them says the topic */
bool services_under_test_says(const struct services_under_test *under_test, const char *topic);
/* Folds the message in all services except `has_it`, which may be ROLE_NONE. */
void services_under_test_fold(struct services_under_test *under_test, const struct message_meta *said,
	struct bytes payload, enum role has_it);

/* ---- a message, kept until it has been decided on ---- */

struct message {
	struct message_meta said; /* its strings are below */
	char topic[32], shop[64], key[200], said_by[32];
	struct buffer payload;
};

/* A copy with this number and time. */
struct message *message_new(const struct message_meta *said, struct bytes payload, uint64_t seq, int64_t time_us);

struct pending {
	struct list hook; /* in the list `behind` of another */
	/* struct pending: messages that history decided on after this one, without saying anything */
	struct list behind;
	struct message *message;
	enum role role;             /* the service that decides on it */
	uint64_t past;              /* its number in history; 0: history does not know it */
	size_t turns_left;          /* turns of history about it that are still to come */
	bool decided;               /* at least once */
	struct replay_turn running; /* an effect that has claimed: kind is set */
	uint32_t failures;
	SendClaim claim;         /* of that effect */
	uint64_t as_it_did_from; /* from this number on its facts are taken from history; 0: none are */
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
	/* the last wake-up in the log, to which the next firing belongs */
	uint64_t wake_seq;
	char wake_key[200];
	/* timers that were set anew while they may have been firing */
	TimerSet replaced[REPLACED_MOST];
	size_t replaced_count;
	struct rehearsal_counts counts;
};

/*
 * Makes the message known to all services except `has_it`, which has folded it already. `past`: its number in
 * history, or 0. Takes ownership of the message.
 */
void step_publish(struct rehearsal *rehearsal, struct message *message, enum role has_it, uint64_t past);
/* Keeps the message for its turns in history. */
void step_keep(struct rehearsal *rehearsal, struct message *message, enum role role, uint64_t past);
/* Replays every decision that history made before it heard message `before`. */
void step_turns(struct rehearsal *rehearsal, uint64_t before);
/* Publishes the facts that history had said up to this place. */
void step_unsaid(struct rehearsal *rehearsal, uint64_t until);
/* frees those that are left, and their map */
void step_free_unsaid(struct rehearsal *rehearsal);
/* decides on it now; takes ownership of it */
void step_replay(struct rehearsal *rehearsal, struct pending *pending);
/*
 * Publishes the facts of the last turn of `role`. `turn`: the same turn in history; NULL: it is only in the
 * rehearsal. `wake`: the number of a cart.wake.
 */
void step_facts(
	struct rehearsal *rehearsal, enum role role, uint32_t count, const struct past_turn *turn, uint64_t wake);

void schedule_timer(struct rehearsal *rehearsal, const TimerSet *set);
/* to be called before a set or cancel is folded */
void schedule_replaces(struct rehearsal *rehearsal, const char *name);
/* takes ownership of it */
void schedule_again(struct rehearsal *rehearsal, struct pending *pending, int64_t at_us);
void schedule_run(struct rehearsal *rehearsal, int64_t before_us);
void schedule_fire_as_it_did(struct rehearsal *rehearsal, const TimerFired *fired);
/* schedules the timers that are set at the beginning of the window */
void schedule_open(struct rehearsal *rehearsal);
void schedule_free(struct rehearsal *rehearsal);

bool rehearsal_read(struct bytes payload, const pb_msgdesc_t *fields, void *ret);

#endif
