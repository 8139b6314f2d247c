/*
 * sim.h: a whole system in memory, in virtual time
 *
 * It runs the same broker core, runtime and services over stores and links in memory. Time stands still until
 * all work of the moment is done, and then jumps to the next deadline. The seed decides every choice that a
 * real system leaves to chance, so the same seed gives the same trace. Instances and the broker can be killed
 * and started again between any two steps.
 */
#ifndef ACTOR_SIM_SIM_H
#define ACTOR_SIM_SIM_H

#include "bus/actor/runtime/runtime.h"

struct sim;

/*
 * `services` (ends with NULL) lists the services that may run; the topology is made from their manifests.
 * start_us is wall time.
 */
struct sim *sim_new(const struct service *const *services, int64_t start_us, uint64_t seed);
void sim_free(struct sim *sim);

/*
 * Starts one instance; `drivers` is NULL-terminated and borrowed, or NULL. sim_kill, sim_runtime and the
 * others take the name `instance`.
 */
void sim_start(
	struct sim *sim, const char *instance, const struct service *service, struct effect_driver *const *drivers);
/* The same for a service with a context: sim_start_in(sim, "sender-1", sender_in(&sender), drivers). It is borrowed. */
void sim_start_in(
	struct sim *sim, const char *instance, struct service_context context, struct effect_driver *const *drivers);
/* listens to all instances that are started from now on (trace_log.c) */
void sim_listen(struct sim *sim, tell_fn *tell);
void sim_kill(struct sim *sim, const char *instance); /* its store is kept */
/* the instance does nothing more until it is killed and started again */
void sim_pause(struct sim *sim, const char *instance);
void sim_restart(struct sim *sim, const char *instance);
void sim_forget(struct sim *sim, const char *instance); /* deletes the store of a killed instance */
void sim_kill_broker(struct sim *sim);                  /* messages that were not synced are lost */
void sim_restart_broker(struct sim *sim);
/* Lets time pass while nobody works, as if all processes were stopped; for calls from inside a driver. */
void sim_freeze(struct sim *sim, int64_t us);
struct runtime *sim_runtime(struct sim *sim, const char *instance); /* NULL: not running */

/* Publishes a message from outside, as a gateway would, and waits in virtual time for the confirm. */
enum said_result sim_publish(struct sim *sim, const struct topic *topic, const struct publish_options *how,
	const void *message, uint64_t *ret_seq);
#define SIM_SAY(sim, topic, message, ...)                                                                              \
	sim_publish((sim), &topic_##topic, &(struct publish_options){ __VA_ARGS__ },                                   \
		(const topic_message_##topic *)(message), NULL)

void sim_run_until(struct sim *sim, int64_t wall_us);
void sim_run_until_idle(struct sim *sim); /* runs until no work is left for now; timers may be pending */
int64_t sim_now_us(const struct sim *sim);
const struct clock *sim_clock(const struct sim *sim);
uint64_t sim_random(struct sim *sim);

/* Reads the log from the start, for the checks of a test. each() gets the encoded payload. */
typedef void sim_log_fn(const struct message_meta *said, struct bytes payload, void *context);
void sim_log(struct sim *sim, sim_log_fn *each, void *context);
uint64_t sim_trace_hash(struct sim *sim); /* a hash of every message of the log, including times */

#endif
