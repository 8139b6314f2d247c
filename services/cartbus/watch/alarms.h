/* alarms.h: the standing alarms in the log, and the notices about them */
#ifndef CARTBUS_WATCH_ALARMS_H
#define CARTBUS_WATCH_ALARMS_H

#include "proto/platform_topics.h"
#include "services/cartbus/core/reading.h"

enum { ALARMS_MAX = 64, TOLD_MAX = 16 };

struct alarms {
	int count;
	struct standing {
		char shop[64]; /* "": the installation */
		Alarm alarm;   /* as it was said last */
		uint64_t seq;  /* of the message that raised it */
		int64_t since_us;
		int told_count;
		AlarmTold told[TOLD_MAX]; /* the channels on which it was reported */
	} each[ALARMS_MAX];
};

void alarms_fold(struct alarms *alarms, const struct entry *entry); /* of the log, in order; other topics say nothing */
json_t *alarms_json(const struct alarms *alarms);

#endif
