/*
 * runtime.h: runs one service over one link: hears, folds, decides, says
 *
 * Transport and time come from outside, so the real process (process.h) and the simulator (sim.h) run this same code.
 * Owns the session (hello, heartbeats, frames, credit), the state, the running effects.
 * Promises: a decision is made only when the projections have passed the number its delivery names; a refused turn ends the
 * session and drops what was not committed; outcomes and unprompted messages are said again until they are confirmed.
 */
#ifndef ACTOR_RUNTIME_RUNTIME_H
#define ACTOR_RUNTIME_RUNTIME_H

#include "bus/actor/service.h"
#include "bus/base/clock.h"
#include "bus/base/log.h"
#include "bus/store/store.h"
#include "bus/wire/link.h"

struct runtime;

struct activity; /* watchdog.h */

/* What was said and is committed, and what failed, for the journal (trace_log.c); log_event_about with the words done. */
typedef void tell_fn(enum log_level level, const struct log_about *about, const char *words);

struct runtime_settings {
	const char *instance;  /* stable name, "intake" or "gateway-1" */
	uint32_t effects_most; /* at once */
	int64_t connect_backoff_us;
	/* 0 and NULL: the usual. What the simulator sets otherwise. */
	int64_t flush_us;               /* folded state reaches the store after this: 1 s */
	int64_t gateway_promise_us;     /* as the broker's (broker.h): 1.5 s */
	const char *run;                /* name of this run: random */
	uint64_t (*memory_bytes)(void); /* that the process takes: not told */
	struct activity *activity;      /* where it notes what it is at: nowhere */
	struct claim_notes *notes;      /* of the claims of a service that has `unused`, borrowed: none are kept */
	tell_fn *tell;                  /* NULL: nobody listens */
	struct service_context context; /* of the same service (service.h); zero: none */
};

extern const struct store_options runtime_store_options;

/* Takes the store (folded state; may be empty) and the link. `drivers` is NULL-terminated, borrowed. */
int runtime_new(const struct service *service, const struct runtime_settings *settings, struct link *link,
	struct store **store, const struct clock *clock, struct effect_driver *const *drivers, struct runtime **ret);
void runtime_free(struct runtime *runtime); /* no goodbye: as if killed */
void runtime_goodbye(struct runtime *runtime);
/* Before a goodbye: decides on nothing more, lets what has gone into the world come to its end. */
void runtime_drain(struct runtime *runtime);
bool runtime_drained(const struct runtime *runtime);

/* Everything that can be done now; returns in how many boot microseconds it wants to be called again at the latest. */
int64_t runtime_work(struct runtime *runtime);

enum runtime_phase { RUNTIME_AWAY, RUNTIME_STANDBY, RUNTIME_CATCHING_UP, RUNTIME_READY, RUNTIME_REFUSED };
enum runtime_phase runtime_phase(const struct runtime *runtime);
const char *runtime_why(const struct runtime *runtime); /* of AWAY and REFUSED, in words for the admin */
const struct state *runtime_state(const struct runtime *runtime);
const char *runtime_instance(const struct runtime *runtime); /* its name, as in the settings */

/* --- saying without having heard: the gateway and the operator's command --- */

enum said_result {
	SAID_FRESH,     /* committed as `seq` */
	SAID_DUPLICATE, /* of `seq` */
	SAID_REFUSED,   /* for good; `reason` */
	SAID_UNKNOWN    /* the session broke: it may or may not be there; say it again with the same key */
};
typedef void said_fn(void *context, enum said_result result, uint64_t seq, const char *reason);

/* -ENOTCONN when AWAY; -EMSGSIZE. Otherwise answered exactly once. trace may be NULL. */
int runtime_publish(struct runtime *runtime, const struct topic *topic, const struct publish_options *how,
	const char *trace, const void *message, said_fn *answer, void *context);
/* The same for a message that is encoded already (a spool). */
int runtime_publish_encoded(struct runtime *runtime, struct bytes message, said_fn *answer, void *context);
int message_encode(const struct topic *topic, const struct publish_options *how, const char *trace, int64_t said_us,
	const void *message, struct buffer *ret);

/* A gateway's spool: how much lies in it; and may it be used yet (the promise to the broker has run out)? */
void runtime_spooled(struct runtime *runtime, uint64_t messages);
bool runtime_may_spool(const struct runtime *runtime);

/* Asks the broker on the control socket; the answer comes once, whole, as JSON text (or an error in words); `more` is false. */
typedef void answer_fn(void *context, bool ok, const char *text, bool more);
int runtime_ask(struct runtime *runtime, const char *verb, const char *argument, answer_fn *answer, void *context);

/* For metrics and `status`. */
enum { DURATION_BOUNDS = 5 };
struct durations { /* a histogram; how many took at most 1 ms, 10 ms, 100 ms, 1 s, 10 s */
	uint64_t within[DURATION_BOUNDS], count, sum_us;
};
struct runtime_metrics {
	uint64_t turns, failures, folded, rows_refused, effects, effect_timeouts, claims_fresh, claims_duplicate,
		sessions;
	uint64_t config_read_us; /* real time at which the configuration that it runs with was last found on the disk */
	uint64_t config_kept;    /* 1: another one lies there, which was refused */
	struct durations deciding; /* one decision */
	struct durations waiting;  /* a message, from being said until it is decided on */
	struct durations working;  /* one effect, from its start to its end */
};
void runtime_tell_config(struct runtime *runtime, int64_t read_us /* 0: as it was */, bool kept);
struct runtime_metrics runtime_metrics(const struct runtime *runtime);

/*
 * Somebody out there asked to be left alone for a while: HTTP 429, SMTP 4.7.x and the like. Counted for the process by the kind of who
 * it was, [a-z]: "mail", "storefront"; told with the others as throttled_KIND.
 */
enum { THROTTLERS_MAX = 8 };
void metrics_throttled_by(const char *kind); /* a constant */

/*
 * The broker is told them with a heartbeat every two seconds, and tells them to who asks for "status", until the session ends. A
 * process that counts something beside adds it in `tell`: names of [a-z_], at most METRICS_BESIDE of them; what is 0 is not told.
 */
enum { METRICS_BESIDE = 36 };
struct metrics_sink;
void metrics_add(struct metrics_sink *told, const char *name, uint64_t value);
typedef void metrics_fn(struct metrics_sink *told, void *context);
void runtime_metrics_beside(struct runtime *runtime, metrics_fn *tell, void *context);

#endif
