/* counters.c: what came through the door, told to the broker for the monitor, and logged */
#include "services/kit/endpoint/counters.h"
#include "bus/base/cleanup.h"
#include "bus/base/log.h"
#include <assert.h>
#include <inttypes.h>

enum { OF_THE_SERVER = 2 }; /* which http.c tells beside these */
static_assert(sizeof(struct counters) / sizeof(uint64_t) + OF_THE_SERVER <= COUNTS_BESIDE,
	"the heartbeat has room for no more");

void counters_tell(struct counts_told *told, void *counters)
{
	const struct counters *from = counters;

#define TELL_COUNTER(name) counts_tell(told, #name, from->name);
	GATEWAY_COUNTERS(TELL_COUNTER)
#undef TELL_COUNTER
}

void counters_log(const struct counters *counters, struct counters *logged)
{
	_cleanup_(buffer_free) struct buffer line = { 0 };

	if (memcmp(counters, logged, sizeof(*counters)) == 0)
		return;
	*logged = *counters;
#define LOG_COUNTER(name) buffer_printf(&line, " " #name "=%" PRIu64, counters->name);
	GATEWAY_COUNTERS(LOG_COUNTER)
#undef LOG_COUNTER
	log_event(LOG_INFO, "since the start%s", buffer_text(&line));
}
