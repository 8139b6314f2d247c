/*
 * runtime_inside.h: a runtime's own memory, shared by runtime.c, delivery.c, requests.c, effects.c and the files that count, trace and note for them
 */
#ifndef ACTOR_RUNTIME_RUNTIME_INSIDE_H
#define ACTOR_RUNTIME_RUNTIME_INSIDE_H

#include "bus/actor/process/watchdog.h"
#include "bus/actor/runtime/session.h"
#include "bus/actor/runtime/state_layers.h"
#include "bus/actor/runtime/turns.h"
#include "bus/base/clock.h"
#include "bus/base/list.h"
#include "bus/base/memory.h"

struct delivery {
	struct list hook;
	Delivery head;
	struct bytes message; /* in `small`, or in memory of its own */
	int64_t renewed_us;   /* boot time */
	uint8_t small[];
};
enum { DELIVERY_SMALL = 1024 };

/* The kinds of requests that the broker answers with a Confirm. */
enum request_kind { REQUEST_TURN, REQUEST_SAY, REQUEST_CLAIM, REQUEST_OUTCOME };

struct publish_request {
	struct list hook;
	enum request_kind kind;
	uint64_t number;
	/* TURN, OUTCOME: the turn whose rows are in the overlay */
	uint64_t turn;
	uint32_t facts;
	uint32_t last_remembered; /* index of the last fact that comes back as a projection, from 1; 0: none does */
	Receipt receipt;          /* TURN */
	/* OUTCOME, CLAIM: the message, to be sent again; TURN: the facts of an outcome, else empty */
	struct buffer message;
	struct effect *effect; /* CLAIM */
	said_fn *answer;       /* SAY */
	void *context;
	struct buffer trace_log; /* what is logged when it is confirmed: struct told, ... */
};

struct question {
	struct list hook;
	uint64_t id;
	struct buffer text; /* the answer so far */
	answer_fn *answer;
	void *context;
};

enum { POISONED_REMEMBERED = 16 };

struct poisoned {
	uint64_t seq;
	char queue[32];
	char reason[TURN_REASON_MAX];
};

/* delivery.c: deliveries that wait for the projections, oldest first */
struct deliveries {
	struct list waiting;
	uint64_t count; /* how many wait */
	struct pool pool;
	struct poisoned poisoned[POISONED_REMEMBERED];
	uint32_t poisoned_next;
};

/* delivery.c: turns of a service that lives by the clock */
struct clock_turn {
	int64_t hold_us;       /* no clock turn is tried before this boot time */
	int64_t due_us;        /* when the service's next turn is due, wall time ... */
	uint64_t due_asked_at; /* ... asked after this many turns */
	bool due_is_known;     /* due_us is known in this round of work */
};

/*
 * requests.c: requests without an answer, in order of their numbers; and confirmed requests whose facts have
 * not come back
 */
struct requests {
	struct list unconfirmed, returning;
	uint64_t numbers;   /* given */
	size_t turns;       /* unconfirmed ones */
	size_t clock_turns; /* clock turns whose rows are in the overlay: not confirmed, or not come back */
	struct pool pool;
};

/* runtime.c: questions of a command to the broker */
struct questions {
	struct list open;
	uint64_t numbers; /* given */
};

/* runtime.c: how much the broker may send */
struct credit {
	UpCredit now;     /* granted now */
	UpCredit granted; /* as last sent to the broker */
	UpCredit window;  /* how much credit is granted beyond the work that is finished */
};

/* effects.c */
struct effects {
	struct effect_driver *const *drivers;
	struct claim_notes *notes; /* NULL: none are kept */
	struct list all;
	uint32_t running, most;
};

/* metrics.c: how the counts are reported */
struct counting {
	int64_t at_us; /* boot time of the next report */
	metrics_fn *beside;
	void *context;
	uint64_t (*memory_bytes)(void); /* NULL: not reported */
};

/* trace_log.c */
struct trace {
	tell_fn *tell; /* NULL: nobody listens */
	struct rate_limit of_said, of_failures;
};

struct runtime {
	const struct service *service;
	const struct clock *clock;
	struct monotonic_wall monotonic_wall; /* the time that decisions see */
	struct service_session *session;
	struct state *state;
	struct table *table;
	char instance[64], run[33];
	int64_t began_us; /* wall time */
	int64_t flush_every_us, gateway_promise_us;
	int64_t flush_at_us; /* boot time; 0: nothing to flush */
	/* boot time at which this round of work began; leases and deadlines are measured by it */
	int64_t heard_us;
	uint64_t must_pass; /* head when the session began: clock turns wait for it */
	uint64_t turns;     /* numbers given */
	uint64_t spooled;
	bool draining;
	struct runtime_metrics counts;
	struct rate_limit of_large_rows; /* limits the log lines about too large rows */
	struct activity *activity, unwatched;
	/* Each of these parts belongs to the file that its struct names. */
	struct credit credit;
	struct deliveries deliveries;
	struct clock_turn clock_turn;
	struct requests requests;
	struct questions questions;
	struct effects effects;
	struct counting counting;
	struct trace trace;
};

static inline int64_t boot_us(const struct runtime *runtime)
{
	return clock_boot_us(runtime->clock);
}

static inline void begin_task(struct runtime *runtime, enum task task, uint64_t seq)
{
	activity_begin(runtime->activity, task, seq);
}

static inline bool runtime_passed(const struct runtime *runtime, uint64_t seq)
{
	return !service_remembers(runtime->service, 0) || state_cursor(runtime->state) >= seq;
}

static inline bool runtime_leases_live(const struct runtime *runtime, uint64_t epoch)
{
	return session_epoch(runtime->session) == epoch && epoch != 0;
}

/* runtime.c: counts and logs, not too often, that a row would have become too large. */
void runtime_tell_large_row(struct runtime *runtime, const char *what, const char *why);

/* metrics.c */
void metrics_took(struct durations *durations, int64_t us);
void metrics_in_heartbeat(struct runtime *runtime, Heartbeat *heartbeat);

/* requests.c */
struct publish_request *request_new(struct runtime *runtime, enum request_kind kind);
void request_publish(struct runtime *runtime, struct publish_request *request, struct bytes message);
void requests_confirm(struct runtime *runtime, const Confirm *confirm);
void requests_passed(struct runtime *runtime); /* the projections have moved on */
void requests_lost(struct runtime *runtime);   /* the session ended */
void requests_again(struct runtime *runtime);  /* a new one began: sends again what must still be sent */
void requests_free(struct runtime *runtime);
/*
 * Publishes the outcomes that an earlier run left. Their facts are visible at once, and are said until they
 * are confirmed. Ends the turn.
 */
void turn_publish_outcomes(struct runtime *runtime, struct turn *turn);
/*
 * Is the turn too large, or would one of its facts fold to a row that is too large? Then the turn's facts are
 * cleared, and ret_why names the cause.
 */
bool turn_clear_too_large(struct runtime *runtime, struct turn *turn, char ret_why[TURN_REASON_MAX]);
/*
 * Commits the turn with its receipt and ends it. `delivery` NULL: a turn on the clock. An outcome is a fact
 * about the outside world. Without a live lease, or if nobody learns the fate of the turn, its facts are said
 * one by one until they are confirmed.
 */
void turn_commit(
	struct runtime *runtime, struct turn *turn, enum verdict verdict, const Delivery *delivery, bool outcome);

/* delivery.c */
void delivery_hear(struct runtime *runtime, const Delivery *head, struct bytes message);
void delivery_free(struct runtime *runtime, struct delivery *delivery); /* takes NULL */
void deliveries_decide(struct runtime *runtime);
void deliveries_renew(struct runtime *runtime);
void deliveries_drop(struct runtime *runtime);
void delivery_poisoned(struct runtime *runtime, const Receipt *receipt, const char *reason);
/* it is finished, so the broker may send another */
void delivery_credit(struct runtime *runtime, const struct delivery *delivery);
void delivery_renew(struct runtime *runtime, struct delivery *delivery);
int64_t delivery_renew_due_us(const struct runtime *runtime, const struct delivery *delivery); /* boot time */
int64_t deliveries_wait_us(const struct runtime *runtime);
void clock_decide(struct runtime *runtime);
int64_t clock_wait_us(const struct runtime *runtime);
struct turn runtime_open_turn(struct runtime *runtime, const struct message_meta *message);
/*
 * The message of a delivery as a decision sees it; borrows from `ret_envelope`. false: the delivery is
 * malformed.
 */
bool delivery_read(const struct delivery *delivery, Envelope *ret_envelope, struct message_meta *ret_said,
	struct bytes *ret_payload);

/* trace_log.c */
void trace_log_note(struct runtime *runtime, struct publish_request *request, struct bytes message, uint32_t index);
void trace_log_tell(struct runtime *runtime, const struct publish_request *request, const Confirm *confirm);
void trace_log_failed(struct runtime *runtime, const struct turn *turn, enum verdict verdict);

/* claim_notes.c */
void notes_publish_unused(struct runtime *runtime); /* the claims of earlier runs that certainly were not used */
int notes_add(struct runtime *runtime, uint64_t seq, struct bytes claim); /* a handle for claim_notes.h */

/* effects.c */
void effect_new(struct runtime *runtime, struct delivery **delivery, const struct effect_kind *kind, void **request);
void effects_work(struct runtime *runtime);
void effects_lost(struct runtime *runtime);
void effects_held(const struct runtime *runtime, Hello *hello);
void effects_free(struct runtime *runtime);
int64_t effects_wait_us(const struct runtime *runtime);
void effect_claim_answered(struct effect *effect, const Confirm *confirm);

#endif
