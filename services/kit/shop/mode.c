/* mode.c: the names of the modes, and which status follows another */
#include "services/kit/shop/mode.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

static const char *const names[] = { "observe", "mail-me", "live", "paused" };

enum { MODES = sizeof(names) / sizeof(*names) };

const char *mode_name(ShopMode mode)
{
	return (size_t)mode < MODES ? names[mode] : "?";
}

int mode_named(const char *name, ShopMode *ret)
{
	for (size_t i = 0; i < MODES; i++) {
		if (strcmp(names[i], name) == 0) {
			*ret = (ShopMode)i;
			return 0;
		}
	}
	return -EINVAL;
}

ShopMode mode_resumed(const ShopStatus *now)
{
	if (!now)
		return MODE_OBSERVE;
	return now->mode == MODE_PAUSED ? now->resumes_to : now->mode;
}

const char *mode_line(const ShopStatus *status, char ret[MODE_LINE_ROOM])
{
	if (!status)
		snprintf(ret, MODE_LINE_ROOM, "observe, as nothing was said");
	else if (status->mode == MODE_PAUSED)
		snprintf(ret, MODE_LINE_ROOM, "paused, priority %u, by %.40s", status->priority, status->who);
	else
		snprintf(ret, MODE_LINE_ROOM, "%s", mode_name(status->mode));
	return ret;
}

/* When a stop, or a pause for complaints, was ended last. */
static int64_t resumed_us(const ShopStatus *now, const ShopStatus *status)
{
	if (!now)
		return 0;
	if (now->mode == MODE_PAUSED && now->priority == STOP_PRIORITY && status->mode != MODE_PAUSED)
		return status->at_us;
	return now->resumed_us;
}

void mode_follow(const ShopStatus *now, ShopStatus *status)
{
	status->version = now ? now->version + 1 : 1;
	status->resumed_us = resumed_us(now, status);
}

const char *mode_key(const ShopStatus *status, char ret[MODE_KEY_ROOM])
{
	snprintf(ret, MODE_KEY_ROOM, "mode/%llu", (unsigned long long)status->version);
	return ret;
}
