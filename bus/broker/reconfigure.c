/*
 * reconfigure.c: cartbus.conf changed while the broker runs
 *
 * Promises:  nothing of it is taken but at a start, which would end every session; what waits for one is said, and so is that a start
 *            would fail. Who may come (peers.conf) is read anew by door.c, without a start.
 * Read next: bus/base/reload.c
 */
#include "bus/broker/reconfigure.h"
#include "bus/base/log.h"
#include "bus/base/text.h"
#include <stdio.h>
#include <string.h>

void reconfigure_begin(struct reconfigure *of, int64_t now_us)
{
	int r;

	if (of->judging.child)
		return;
	r = reload_begin(&of->judging,
		(char *const[]){ "cartbus-broker", "--check", "--config", (char *)of->path, NULL }, now_us);
	if (r < 0)
		log_event(LOG_ERROR, "the configuration cannot be judged: %s", strerror(-r));
}

static void refuse(struct reconfigure *of, const char *why)
{
	log_event(LOG_ERROR, "the configuration is not right, and with it the next start will fail: %s", why);
	snprintf(of->state, sizeof(of->state), "; cartbus.conf is not right: %s", why);
}

static void tell_what_waits(struct reconfigure *of)
{
	struct config *now = NULL;
	struct config_error error = { .text = "" };
	char which[300];

	if (config_load(of->path, of->keys, &now, &error) < 0) {
		refuse(of, error.text); /* it changed once more */
		return;
	}
	of->state[0] = '\0';
	if (config_differs(of->running, now, which, sizeof(which))) {
		log_event(LOG_NOTICE, "takes effect at the next start (systemctl restart cartbus-broker): %s", which);
		snprintf(of->state, sizeof(of->state), "; at the next start: %s", which);
	}
	config_free(now);
}

bool reconfigure_look(struct reconfigure *of, int64_t now_us)
{
	char why[RELOAD_WHY];

	if (!reload_judged(&of->judging, now_us, why))
		return false;
	if (why[0])
		refuse(of, why);
	else
		tell_what_waits(of);
	return true;
}
