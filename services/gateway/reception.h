/*
 * reception.h: from a request to what it means: an answer at once, or a message that has to be let in first
 */
#ifndef GATEWAY_RECEPTION_H
#define GATEWAY_RECEPTION_H

#include "bus/base/clock.h"
#include "services/gateway/counters.h"
#include "services/gateway/door.h"
#include "services/gateway/request.h"
#include "services/gateway/secrets.h"

struct reception {
	struct secrets *secrets;
	const struct clock *clock;
	struct counters *counters;
	const char *shops_folder, *rejected_folder;
	struct event *event; /* room for one: it is large */
	struct warnings {
		int64_t last_us; /* boot time */
		uint64_t swallowed;
	} of_strangers, of_shops;
};

struct wish {
	struct buffer message; /* encoded */
	bool stop;             /* as of door_knock */
	bool page;             /* answered to a person */
	const char *location; /* who asked goes on to there, whatever comes of the message; borrowed from the request */
	char shop[64];
};

/* true: `wish` is to be let in, and reception_finish makes the answer; false: `answer` is complete. */
bool reception_receive(
	struct reception *reception, const struct request *request, struct answer *answer, struct wish *wish);
void reception_finish(struct reception *reception, const struct wish *wish, enum door_end end, uint64_t seq,
	const char *why, struct answer *answer);

#endif
