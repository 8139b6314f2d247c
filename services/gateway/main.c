/* main.c: the gateway's process: the table, and HTTP in its loop */
#include "bus/actor/process.h"
#include "services/gateway/gateway.h"
#include "services/gateway/http.h"
#include "services/gateway/listen.h"
#include "services/kit/settings.h"

int main(int argc, char **argv)
{
	return process_main(argc, argv,
		&(struct process){
			.service = &gateway,
			.help = "takes in storefronts' webhooks and unsubscribe links over HTTP and says them to the "
				"bus",
			.keys = settings_keys,
			.check = listen_check,
			.start = http_start,
			.leave = http_leave,
			.left = http_left,
			.stop = http_stop,
		});
}
