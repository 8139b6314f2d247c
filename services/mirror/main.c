/*
 * main.c: the process cartbus-mirror: the service, and a watcher beside it in the loop
 *
 * The watcher only fills what mirror.c has seen; what is said of it is decided in turns, after the projections have caught up.
 */
#include "bus/actor/process.h"
#include "services/kit/settings.h"
#include "services/mirror/watcher.h"

static struct watcher *watcher;
static const struct clock *clock_of_loop;

static void woken(void *context)
{
	(void)context;
	watcher_wake(watcher, clock_boot_us(clock_of_loop));
}

static int64_t before_wait(void *context)
{
	(void)context;
	return watcher_look(watcher, clock_boot_us(clock_of_loop));
}

static void start(struct loop *loop, struct runtime *runtime, const struct config *config, const struct clock *clock)
{
	(void)runtime;
	clock_of_loop = clock;
	watcher = watcher_new(config_get(config, "paths", NULL, "shops"));
	if (watcher_fd(watcher) >= 0)
		loop_watch(loop, watcher_fd(watcher), false, woken, NULL);
	loop_before_wait(loop, before_wait, NULL);
}

static void stop(void)
{
	watcher_free(watcher);
	mirror_forget();
}

int main(int argc, char **argv)
{
	return process_main(argc, argv,
		&(struct process){ .service = &mirror,
			.help = "Checks the owner's shop.conf, rules.txt and voices and says them as versioned "
				"documents.",
			.keys = settings_keys,
			.start = start,
			.stop = stop });
}
