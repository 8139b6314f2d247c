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

/*
 * Reports committed messages and failures to the journal (trace_log.c); a log_event_about with finished
 * words.
 */
typedef void tell_fn(enum log_level level, const struct log_about *about, const char *words);

struct runtime_settings {
	const char *instance;  /* the stable name of the instance, "intake" or "gateway-1" */
	uint32_t effects_most; /* how many effects may run at once */
	int64_t connect_backoff_us;
	/* 0 and NULL select the default. The simulator sets other values. */
	/* folded state is written to the store after this time; default 1 s */
	int64_t flush_us;
	int64_t gateway_promise_us;     /* the same as the broker's (broker.h); default 1.5 s */
	const char *run;                /* the name of this run; default: random */
	uint64_t (*memory_bytes)(void); /* memory of the process in bytes; default: not reported */
	struct activity *activity;      /* where it notes its current task; default: nowhere */
	/* claim notes for a service that has `unused`, borrowed; default: none are kept */
	struct claim_notes *notes;
	tell_fn *tell;                  /* NULL: reports go nowhere */
	struct service_context context; /* of the same service (service.h); zero: none */
};

extern const struct store_options runtime_store_options;

/*
 * Takes ownership of the store (folded state; it may be empty) and of the link. `drivers` ends with NULL and
 * is borrowed.
 */
int runtime_new(const struct service *service, const struct runtime_settings *settings, struct link *link,
	struct store **store, const struct clock *clock, struct effect_driver *const *drivers, struct runtime **ret);
void runtime_free(struct runtime *runtime); /* says no goodbye, as if the process was killed */
void runtime_goodbye(struct runtime *runtime);
/* To be called before a goodbye: decides on nothing more and lets running effects come to their end. */
void runtime_drain(struct runtime *runtime);
bool runtime_drained(const struct runtime *runtime);

/*
 * Does all work that is possible now. Returns after how many microseconds of boot time to call again at the
 * latest.
 */
int64_t runtime_work(struct runtime *runtime);

enum runtime_phase { RUNTIME_AWAY, RUNTIME_STANDBY, RUNTIME_CATCHING_UP, RUNTIME_READY, RUNTIME_REFUSED };
enum runtime_phase runtime_phase(const struct runtime *runtime);
/* the reason of AWAY and REFUSED, in words for the admin */
const char *runtime_why(const struct runtime *runtime);
const struct state *runtime_state(const struct runtime *runtime);
const char *runtime_instance(const struct runtime *runtime); /* the instance's name, as in the settings */

/* --- publishing outside a decision: for the gateway and the operator's command --- */

enum said_result {
	SAID_FRESH,     /* it is committed as `seq` */
	SAID_DUPLICATE, /* it repeats the message `seq` */
	SAID_REFUSED,   /* the broker refused it for good; `reason` tells why */
	/* the session broke, so it may or may not be committed; publish it again with the same key */
	SAID_UNKNOWN
};
typedef void said_fn(void *context, enum said_result result, uint64_t seq, const char *reason);

/*
 * -ENOTCONN: the phase is AWAY. -EMSGSIZE: the message is too large. In all other cases `answer` is called
 * exactly once. `trace` may be NULL.
 */
int runtime_publish(struct runtime *runtime, const struct topic *topic, const struct publish_options *how,
	const char *trace, const void *message, said_fn *answer, void *context);
/* The same for a message that is encoded already (from a spool). */
int runtime_publish_encoded(struct runtime *runtime, struct bytes message, said_fn *answer, void *context);
int message_encode(const struct topic *topic, const struct publish_options *how, const char *trace, int64_t said_us,
	const void *message, struct buffer *ret);

/*
 * runtime_spooled tells how many messages the gateway's spool holds. runtime_may_spool: may the gateway use
 * the spool, because its promise to the broker has run out?
 */
void runtime_spooled(struct runtime *runtime, uint64_t messages);
bool runtime_may_spool(const struct runtime *runtime);

/*
 * Asks the broker on the control socket. The answer comes once and whole, as JSON text or as an error in
 * words; `more` is always false.
 */
typedef void answer_fn(void *context, bool ok, const char *text, bool more);
int runtime_ask(struct runtime *runtime, const char *verb, const char *argument, answer_fn *answer, void *context);

/* The counts for metrics and `status`. */
enum { DURATION_BOUNDS = 5 };
struct durations { /* a histogram: how many took at most 1 ms, 10 ms, 100 ms, 1 s, 10 s */
	uint64_t within[DURATION_BOUNDS], count, sum_us;
};
struct runtime_metrics {
	uint64_t turns, failures, folded, rows_refused, effects, effect_timeouts, claims_fresh, claims_duplicate,
		sessions;
	uint64_t config_read_us; /* real time at which the configuration that it runs with was last found on the disk */
	uint64_t config_kept;    /* 1: the file on disk holds another configuration, which was refused */
	struct durations deciding; /* duration of a decision */
	struct durations waiting;  /* time from saying a message to the decision on it */
	struct durations working;  /* time from the start of an effect to its end */
};
void runtime_tell_config(struct runtime *runtime, int64_t read_us /* 0: unchanged */, bool kept);
struct runtime_metrics runtime_metrics(const struct runtime *runtime);

/*
 * Counts that an outside system asked us to slow down: HTTP 429, SMTP 4.7.x and the like. `kind` names the
 * kind of system in [a-z], such as "mail" or "storefront". The count is reported with the other metrics as
 * throttled_KIND.
 */
enum { THROTTLERS_MAX = 8 };
void metrics_throttled_by(const char *kind); /* `kind` must be a string constant */

/*
 * The runtime sends the metrics to the broker in a heartbeat every two seconds. The broker shows them in its
 * answer to "status" until the session ends. A process that counts something more adds it in `tell`: names of
 * [a-z_], at most METRICS_BESIDE of them. A count of 0 is not sent.
 */
enum { METRICS_BESIDE = 36 };
struct metrics_sink;
void metrics_add(struct metrics_sink *told, const char *name, uint64_t value);
typedef void metrics_fn(struct metrics_sink *told, void *context);
void runtime_metrics_beside(struct runtime *runtime, metrics_fn *tell, void *context);

#endif
