/*
 * ways.h: how the admin is told: the addresses and webhooks of [monitor], in order
 */
#ifndef PLATFORM_MONITOR_WAYS_H
#define PLATFORM_MONITOR_WAYS_H

#include "proto/platform_topics.h"
#include "services/kit/http/http.h"
#include "services/kit/http/standard_webhook.h"
#include "services/kit/mail/message.h"

enum { WAYS_MAX = 8, WAY_NAME_MAX = 24, WAY_ID_MAX = 160 };

struct ways {
	int mail_count, webhook_count;
	char mails[WAYS_MAX][ADDRESS_MAX + 1];
	char webhooks[WAYS_MAX][512];
	char from[320];
	char ca[256];
	struct standard_webhook_keys keys;
};

/* From [monitor] and the secrets alarm.webhook and alarm.webhook.previous. -EINVAL: ret_why says what to do. */
int ways_read(const struct config *config, struct ways *ret, char ret_why[300]);

/* "mail 1", "webhook 2"; -1 and false: none of these any more. */
int ways_count(const struct ways *ways);
void ways_name(const struct ways *ways, int nth, char ret[WAY_NAME_MAX]);
bool ways_find(const struct ways *ways, const char *name, bool *ret_is_mail, int *ret_index);

/* What one alarm is known by wherever it arrives, however often it is delivered. */
void ways_id(const AlarmDue *due, char ret[WAY_ID_MAX]);
/* -EINVAL: why. */
int ways_mail(
	const struct ways *ways, int index, const AlarmDue *due, int64_t now_us, struct mail **ret, char ret_why[160]);
/* Fills `request`. -EINVAL: the URL is none. */
int ways_request(const struct ways *ways, int index, const AlarmDue *due, int64_t now_us, struct http_request *request);

#endif
