/*
 * effect_run.c: one effect that a command waits for
 *
 * Read next: effect.h, effects.c
 */
#include "bus/actor/effect.h"
#include "bus/base/clock.h"
#include <poll.h>

struct running {
	void (*done)(const void *result, void *context);
	void *context;
	bool ended;
};

static void note_end(const void *result, void *context)
{
	struct running *running = context;

	running->ended = true;
	running->done(result, running->context);
}

static void wait_for_driver(const struct effect_driver *driver, int64_t longest_us)
{
	struct pollfd event = { .fd = driver->fd ? driver->fd(driver->self) : -1, .events = POLLIN };
	int64_t wait_us = driver->wait_us ? driver->wait_us(driver->self) : -1;

	if (wait_us < 0 || wait_us > longest_us)
		wait_us = longest_us;
	poll(&event, 1, (int)((wait_us + US_PER_MS - 1) / US_PER_MS));
}

bool effect_run(struct effect_driver *driver, const void *request, int64_t patience_us,
	void (*done)(const void *result, void *context), void *context)
{
	const struct clock clock = clock_system();
	struct running running = { .done = done, .context = context };
	int64_t until_us = clock_boot_us(&clock) + patience_us, left_us;
	struct effect *effect = effect_begin(driver, request, note_end, &running);

	while (!running.ended && (left_us = until_us - clock_boot_us(&clock)) > 0) {
		wait_for_driver(driver, left_us);
		driver->work(driver->self);
	}
	if (!running.ended)
		effect_drop(effect);
	return running.ended;
}
