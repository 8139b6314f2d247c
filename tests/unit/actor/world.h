/*
 * world.h: a system that the conformance suite runs in: simulated, or real runtimes and a real broker process over ipc
 *
 * The suite (conformance.c) sees nothing else, and so is the same for both.
 */
#ifndef TESTS_UNIT_ACTOR_WORLD_H
#define TESTS_UNIT_ACTOR_WORLD_H

#include "bus/actor/sim/sim.h"

struct world;

struct world *world_new(const struct service *const *services, uint64_t seed);
/* A real one, whose broker ends a session after five heartbeats of silence. */
struct world *world_new_real(const struct service *const *services, int heartbeat_ms);
void world_free(struct world *world);
const char *world_folder(const struct world *world); /* where all of it lies; of a real one only */
void world_start(
	struct world *world, const char *instance, const struct service *service, struct effect_driver *const *drivers);
void world_kill(struct world *world, const char *instance);
void world_pause(
	struct world *world, const char *instance); /* does nothing more until it is killed and started again */
void world_restart(struct world *world, const char *instance);
void world_forget(struct world *world, const char *instance);
void world_kill_broker(struct world *world);
void world_restart_broker(struct world *world);
struct runtime *world_runtime(struct world *world, const char *instance);
enum said_result world_say(struct world *world, const struct topic *topic, const struct publish_options *how,
	const void *message, uint64_t *ret_seq);
#define WORLD_SAY(world, topic, message, ...)                                                                          \
	world_say((world), &topic_##topic, &(struct publish_options){ __VA_ARGS__ },                                   \
		(const topic_message_##topic *)(message), NULL)

/* Lets things happen until the condition holds (true) or it has been far too long (false). */
typedef bool world_condition(struct world *world, void *context);
bool world_until(struct world *world, world_condition *holds, void *context);
/* Lets things happen for so long: only to show that something does not happen. */
void world_for(struct world *world, int64_t us);
void world_freeze_for(struct world *world, int64_t us); /* nobody but a real broker does anything for so long */
void world_freeze(struct world *world); /* nobody does anything for longer than a claim is good, as if stopped */
int64_t world_now_us(struct world *world);
int64_t world_lease_us(struct world *world); /* how long a lease lasts here */

void world_log(struct world *world, sim_log_fn *each, void *context);
/* How many messages of this topic the log holds; key NULL: any. */
size_t world_count(struct world *world, const struct topic *topic, const char *key);

#endif
