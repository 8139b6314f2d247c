/* main.c: the process cartbus-gateway: the service's table, and HTTP in its loop */
#include "bus/actor/process.h"
#include "services/kit/endpoint/secrets.h"
#include "services/kit/keys/secrets.h"
#include "services/kit/settings/listen.h"
#include "services/kit/settings/settings.h"
#include "services/platform/gateway/dispatch.h"
#include "services/platform/gateway/gateway.h"
#include "services/platform/gateway/http.h"
#include <malloc.h>

enum { BODY_OF_ITS_OWN_BYTES = 32 * 1024 };

static void check(const struct config *config)
{
	dispatch_check();
	listen_check(config, "gateway");
	secrets_close(secrets_open(config_get(config, "paths", NULL, "shops"), secrets_folder(config)));
}

static struct http *http;

static void start(struct loop *loop, struct runtime *runtime, const struct config *config, const struct clock *clock)
{
	http = http_start(loop, runtime, config, clock);
}

static void leave(void)
{
	http_leave(http);
}

static bool left(void)
{
	return http_left(http);
}

static void stop(void)
{
	http_stop(http);
}

int main(int argc, char **argv)
{
	/* A large body gets a mapping of its own: it grows without a copy, and free() gives its memory back to the kernel. */
	mallopt(M_MMAP_THRESHOLD, BODY_OF_ITS_OWN_BYTES);
	return process_main(argc, argv,
		&(struct process){
			.service = &gateway,
			.help = "takes in storefronts' webhooks and unsubscribe links over HTTP and says them to the "
				"bus",
			.keys = settings_keys,
			.check = check,
			.start = start,
			.leave = leave,
			.left = left,
			.stop = stop,
		});
}
