/*
 * main.c: the process cartbus-mirror: the service, and a watcher and a fetcher beside it in the loop
 *
 * The watcher and the fetcher only fill struct mirror; turns decide which messages follow, after the
 * projections have caught up.
 */
#include "bus/actor/process.h"
#include "bus/base/log.h"
#include "services/kit/settings/settings.h"
#include "services/platform/mirror/fetcher.h"
#include "services/platform/mirror/watcher.h"

static struct mirror mirror_here;
static struct watcher *watcher;
static struct fetcher *fetcher;
static const struct clock *clock_of_loop;

static void woken(void *context)
{
	(void)context;
	watcher_wake(watcher, clock_boot_us(clock_of_loop));
}

static void answered(void *context)
{
	(void)context;
	fetcher_wake(fetcher);
}

static int64_t before_wait(void *context)
{
	(void)context;
	int64_t watch_us = watcher_look(watcher, clock_boot_us(clock_of_loop));
	int64_t fetch_us = fetcher_look(fetcher, clock_boot_us(clock_of_loop));
	return fetch_us >= 0 && fetch_us < watch_us ? fetch_us : watch_us;
}

static void start(struct loop *loop, struct runtime *runtime, const struct config *config, const struct clock *clock)
{
	const struct google_settings google = google_settings_of(config, clock);
	char why[200];

	(void)runtime;
	if (!document_kinds_valid(registered_documents, why))
		die("%s", why);
	clock_of_loop = clock;
	watcher = watcher_new(config_get(config, "paths", NULL, "shops"), &mirror_here);
	if (watcher_fd(watcher) >= 0)
		loop_watch(loop, watcher_fd(watcher), false, woken, NULL);
	fetcher = fetcher_new(&google, config_get(config, "google", NULL, "drive-url"), &mirror_here);
	loop_watch(loop, fetcher_fd(fetcher), false, answered, NULL);
	loop_before_wait(loop, before_wait, NULL);
}

static void stop(void)
{
	watcher_free(watcher);
	fetcher_free(fetcher);
	mirror_clear(&mirror_here);
}

int main(int argc, char **argv)
{
	mirror_init(&mirror_here);
	return process_main(argc, argv,
		&(struct process){ .service = &mirror,
			.context = mirror_in(&mirror_here),
			.help = "Checks the owner's shop.conf, rules.txt and voices, or the Google documents in "
				"their place, and says them as versioned documents.",
			.keys = settings_keys,
			.start = start,
			.stop = stop });
}
