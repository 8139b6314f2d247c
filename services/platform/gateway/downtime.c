/*
 * downtime.c: measures how long this gateway could not be reached, and says so when it is back
 *
 * Promises:  gateway.away goes into the spool before the broker hears of this gateway: the broker answers no
 *            claim between the gateway's return and that message.
 * Fails by:  making mails wait too long when the wall clock jumped ahead while the gateway was away; never
 *            longer than HOLD_MOST_US.
 * Read next: downtime.h, services/carts/sender/outage.h (how the sender waits)
 */
#include "services/platform/gateway/downtime.h"
#include "bus/actor/runtime/runtime.h"
#include "bus/base/log.h"
#include "bus/base/text.h"
#include "proto/platform_topics.h"
#include "services/kit/endpoint/traceparent.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/*
 * Platforms repeat a webhook after growing pauses: the next try comes at most about as much later as the
 * webhook has failed for. Shopify gives up after four hours (its documentation of webhooks, "Retry
 * frequency"): later no repetition comes.
 */
#define UNNOTICED_US US_PER_MINUTE
#define HOLD_MOST_US (4 * US_PER_HOUR)
#define TOUCH_US (10 * US_PER_S)

static int64_t real_now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec * US_PER_S + now.tv_nsec / 1000;
}

static void touch(struct downtime *downtime)
{
	int fd = open(downtime->path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

	if (fd < 0 || futimens(fd, NULL) < 0)
		log_event(LOG_WARNING, "%s: %s; an absence of this gateway would go unnoticed", downtime->path,
			strerror(errno));
	if (fd >= 0)
		close(fd);
	downtime->touch_at_us = clock_boot_us(downtime->clock) + TOUCH_US;
}

int64_t downtime_hold_us(int64_t away_us)
{
	if (away_us < UNNOTICED_US)
		return 0;
	return away_us < HOLD_MOST_US ? away_us : HOLD_MOST_US;
}

static int64_t wall_span_us(const struct clock *clock, int64_t real_us)
{
	return (int64_t)((double)real_us * clock->rate);
}

static void encode(const struct downtime *downtime, const char *gateway, int64_t away_us, struct buffer *ret_message)
{
	int64_t now_us = clock_wall_us(downtime->clock);
	GatewayAway away = { .from_us = now_us - wall_span_us(downtime->clock, away_us),
		.back_us = now_us,
		.hold_until_us = now_us + wall_span_us(downtime->clock, downtime_hold_us(away_us)) };
	char idem[120], trace[TRACEPARENT_ROOM];
	struct publish_options how = {
		.shop = SHOP_OF_ALL, .key = gateway, .idem = idem, .version = (uint64_t)away.back_us
	};

	TEXT_COPY(away.gateway, gateway);
	snprintf(idem, sizeof(idem), "away:%s:%" PRId64, gateway, now_us);
	traceparent_new(trace);
	message_encode(&topic_gateway_away, &how, trace, now_us, &away, ret_message);
	log_event(LOG_NOTICE,
		"nobody could reach this gateway for seconds=%" PRId64 ": mails wait for seconds=%" PRId64,
		away_us / US_PER_S, downtime_hold_us(away_us) / US_PER_S);
}

bool downtime_begin(struct downtime *downtime, const char *folder, const char *gateway, const struct clock *clock,
	struct buffer *ret_message)
{
	struct stat seen;
	int64_t away_us = 0;

	*downtime = (struct downtime){ .clock = clock };
	snprintf(downtime->path, sizeof(downtime->path), "%s/alive", folder);
	if (stat(downtime->path, &seen) == 0)
		away_us = real_now_us() - (seen.st_mtim.tv_sec * US_PER_S + seen.st_mtim.tv_nsec / 1000);
	if (away_us < UNNOTICED_US) {
		touch(downtime);
		return false;
	}
	encode(downtime, gateway, away_us, ret_message);
	return true; /* not touched: a crash before it is spooled must not hide the absence */
}

int64_t downtime_keep(struct downtime *downtime)
{
	int64_t now_us = clock_boot_us(downtime->clock);

	if (now_us >= downtime->touch_at_us)
		touch(downtime);
	return downtime->touch_at_us - now_us;
}
