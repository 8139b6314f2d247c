/*
 * gate_driver.c: work in the world that takes as long as a test wants
 *
 * Owns: the effects that wait, at most WAITING_MOST.
 */
#include "tests/system/programs/gate_driver.h"
#include "bus/base/clock.h"
#include <assert.h>
#include <stdlib.h>
#include <unistd.h>

enum { WAITING_MOST = 64 };
static const int64_t LOOK_EVERY_US = 20 * US_PER_MS;
static struct effect *waiting[WAITING_MOST];
static int waiting_count;

static void start(void *self, struct effect *effect, const void *request)
{
	(void)self, (void)request;
	assert(waiting_count < WAITING_MOST);
	waiting[waiting_count++] = effect;
}

static void proceed(void *self, struct effect *effect, bool go)
{
	(void)self, (void)effect, (void)go;
}

static void stop(void *self, struct effect *effect)
{
	(void)self;
	for (int i = 0; i < waiting_count; i++)
		if (waiting[i] == effect)
			waiting[i--] = waiting[--waiting_count];
}

static int64_t wait_us(void *self)
{
	(void)self;
	return waiting_count > 0 ? LOOK_EVERY_US : -1;
}

static void work(void *self)
{
	const char *gate = getenv("CARTBUS_TEST_GATE");

	(void)self;
	while (waiting_count > 0 && gate && access(gate, F_OK) == 0)
		effect_done(waiting[--waiting_count], "");
}

struct effect_driver *gate_driver_new(void)
{
	static struct effect_driver driver = {
		.name = "gate", .start = start, .proceed = proceed, .stop = stop, .wait_us = wait_us, .work = work
	};

	return &driver;
}
