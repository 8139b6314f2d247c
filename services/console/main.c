/* main.c: the process cartbus-console: the service's table, and HTTP in its loop */
#include "bus/actor/process.h"
#include "services/console/console.h"
#include "services/console/http.h"
#include "services/kit/settings/settings.h"

static struct console *here;

static void start(struct loop *loop, struct runtime *runtime, const struct config *config, const struct clock *clock)
{
	here = http_start(loop, runtime, config, clock);
}

static void leave(void)
{
	http_leave(here);
}

static bool left(void)
{
	return http_left(here);
}

static void stop(void)
{
	http_stop(here);
}

int main(int argc, char **argv)
{
	return process_main(argc, argv,
		&(struct process){
			.service = &console_service,
			.help = "shows an owner and an admin in a browser what the command shows, and takes their actions",
			.keys = settings_keys,
			.check = http_check,
			.start = start,
			.leave = leave,
			.left = left,
			.stop = stop,
		});
}
