/*
 * channels.h: how the admin is told: the addresses and webhooks of [monitor], in order
 */
#ifndef PLATFORM_MONITOR_CHANNELS_H
#define PLATFORM_MONITOR_CHANNELS_H

#include "proto/platform_topics.h"
#include "services/kit/http/http.h"
#include "services/kit/http/standard_webhook.h"
#include "services/kit/mail/message.h"

enum { CHANNELS_MAX = 8, CHANNEL_NAME_MAX = 24, CHANNEL_ID_MAX = 160 };

struct channels {
	int mail_count, webhook_count;
	char mails[CHANNELS_MAX][ADDRESS_MAX + 1];
	char webhooks[CHANNELS_MAX][512];
	char from[320];
	char ca[256];
	struct standard_webhook_keys keys;
};

/* From [monitor] and the secrets alarm.webhook and alarm.webhook.previous. -EINVAL: ret_why says what to do. */
int channels_read(const struct config *config, struct channels *ret, char ret_why[300]);

/* "mail 1", "webhook 2"; -1 and false: none of these any more. */
int channels_count(const struct channels *channels);
void channels_name(const struct channels *channels, int nth, char ret[CHANNEL_NAME_MAX]);
bool channels_find(const struct channels *channels, const char *name, bool *ret_is_mail, int *ret_index);

/* What one alarm is known by wherever it arrives, however often it is delivered. */
void channels_id(const AlarmDue *due, char ret[CHANNEL_ID_MAX]);
/* -EINVAL: why. */
int channels_mail(const struct channels *channels, int index, const AlarmDue *due, int64_t now_us, struct mail **ret,
	char ret_why[160]);
/* Fills `request`. -EINVAL: the URL is none. */
int channels_request(
	const struct channels *channels, int index, const AlarmDue *due, int64_t now_us, struct http_request *request);

#endif
