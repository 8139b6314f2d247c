/* world_sim.c: the conformance suite's world, simulated */
#include "bus/base/memory.h"
#include "tests/unit/actor/world.h"
#include <stdlib.h>

static const int64_t START_US = INT64_C(1767225600) * US_PER_S; /* 2026-01-01 */
static const int64_t PATIENCE_US = 5 * US_PER_MINUTE;

struct world {
	struct sim *sim;
};

struct world *world_new(const struct service *const *services, uint64_t seed)
{
	struct world *world = memory_new(sizeof(*world));

	world->sim = sim_new(services, START_US, seed);
	return world;
}

void world_free(struct world *world)
{
	sim_free(world->sim);
	free(world);
}

void world_start(
	struct world *world, const char *instance, const struct service *service, struct effect_driver *const *drivers)
{
	sim_start(world->sim, instance, service, drivers);
}

void world_kill(struct world *world, const char *instance)
{
	sim_kill(world->sim, instance);
}

void world_pause(struct world *world, const char *instance)
{
	sim_pause(world->sim, instance);
}

void world_restart(struct world *world, const char *instance)
{
	sim_restart(world->sim, instance);
}

void world_forget(struct world *world, const char *instance)
{
	sim_forget(world->sim, instance);
}

void world_kill_broker(struct world *world)
{
	sim_kill_broker(world->sim);
}

void world_restart_broker(struct world *world)
{
	sim_restart_broker(world->sim);
}

struct runtime *world_runtime(struct world *world, const char *instance)
{
	return sim_runtime(world->sim, instance);
}

enum said_result world_say(struct world *world, const struct topic *topic, const struct publish_options *how,
	const void *message, uint64_t *ret_seq)
{
	return sim_publish(world->sim, topic, how, message, ret_seq);
}

bool world_until(struct world *world, world_condition *holds, void *context)
{
	int64_t until_us = sim_now_us(world->sim) + PATIENCE_US;

	for (int64_t step_us = 1000; sim_now_us(world->sim) < until_us; step_us += step_us / 8) {
		sim_run_until_idle(world->sim);
		if (holds(world, context))
			return true;
		sim_run_until(world->sim, sim_now_us(world->sim) + step_us);
	}
	return holds(world, context);
}

void world_for(struct world *world, int64_t us)
{
	sim_run_until(world->sim, sim_now_us(world->sim) + us);
}

void world_freeze_for(struct world *world, int64_t us)
{
	sim_freeze(world->sim, us);
}

void world_freeze(struct world *world)
{
	world_freeze_for(world, 110 * US_PER_S);
}

int64_t world_now_us(struct world *world)
{
	return sim_now_us(world->sim);
}

int64_t world_lease_us(struct world *world)
{
	(void)world;
	return 30 * US_PER_S;
}

void world_log(struct world *world, sim_log_fn *each, void *context)
{
	sim_log(world->sim, each, context);
}
