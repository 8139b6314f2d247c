/* channels.h: the channels to the admin: the addresses and webhooks of [monitor], in order */
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

/*
 * From [monitor] and the secrets alarm.webhook and alarm.webhook.previous. -EINVAL: ret_why gives the remedy.
 */
int channels_read(const struct config *config, struct channels *ret, char ret_why[300]);

/*
 * Channels have names such as "mail 1" and "webhook 2". channels_find returns false if the channel does not
 * exist any more.
 */
int channels_count(const struct channels *channels);
void channels_name(const struct channels *channels, int nth, char ret[CHANNEL_NAME_MAX]);
bool channels_find(const struct channels *channels, const char *name, bool *ret_is_mail, int *ret_index);

/* The id of an alarm, the same on every channel and for every delivery. */
void channels_id(const AlarmDue *due, char ret[CHANNEL_ID_MAX]);
/* Makes the mail of an alarm. -EINVAL: ret_why gives the reason. */
int channels_mail(const struct channels *channels, int index, const AlarmDue *due, int64_t now_us, struct mail **ret,
	char ret_why[160]);
/* Fills `request` for a webhook. -EINVAL: the URL is invalid. */
int channels_request(
	const struct channels *channels, int index, const AlarmDue *due, int64_t now_us, struct http_request *request);

#endif
