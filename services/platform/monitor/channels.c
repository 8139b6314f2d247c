/*
 * channels.c: which ways there are to the admin; an alarm as a mail, and as JSON for a webhook
 *
 * Promises:  the same alarm has the same id, so a receiver can tell a repeat. No address of a shopper is in
 *            an alarm's text, so none is here.
 * Fails by:  -EINVAL in words, at the start of the process already where the configuration is at fault.
 * Read next: monitor.c (when), services/kit/http/standard_webhook.h
 */
#include "services/platform/monitor/channels.h"
#include "bus/base/cleanup.h"
#include "bus/base/text.h"
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

/* ---- the configuration ---- */

static int read_mail(const char *value, void *context)
{
	struct channels *channels = context;

	return *value ? address_normalise(value, channels->mails[channels->mail_count++]) : 0;
}

static int read_webhook(const char *value, void *context)
{
	struct channels *channels = context;

	if (*value)
		TEXT_COPY(channels->webhooks[channels->webhook_count++], value);
	return 0;
}

int channels_read(const struct config *config, struct channels *ret, char ret_why[300])
{
	const char *from = config_get(config, "monitor", NULL, "from");
	const char *ca = config_get(config, "monitor", NULL, "webhook-ca");

	*ret = (struct channels){ 0 };
	int r = config_each_value(config, "monitor", NULL, "admin", read_mail, ret);
	if (r == 0)
		r = config_each_value(config, "monitor", NULL, "webhook", read_webhook, ret);
	if (r == 0 && ret->webhook_count)
		r = standard_webhook_keys_of(config, &ret->keys, ret_why);
	TEXT_COPY(ret->from, from && *from ? from : ret->mails[0]);
	TEXT_COPY(ret->ca, ca ? ca : "");
	return r;
}

/* ---- names ---- */

int channels_count(const struct channels *channels)
{
	return channels->mail_count + channels->webhook_count;
}

void channels_name(const struct channels *channels, int nth, char ret[CHANNEL_NAME_MAX])
{
	bool is_mail = nth < channels->mail_count;

	snprintf(ret, CHANNEL_NAME_MAX, "%s %d", is_mail ? "mail" : "webhook",
		is_mail ? nth + 1 : nth - channels->mail_count + 1);
}

bool channels_find(const struct channels *channels, const char *name, bool *ret_is_mail, int *ret_index)
{
	for (int i = 0; i < channels_count(channels); i++) {
		char way[CHANNEL_NAME_MAX];

		channels_name(channels, i, way);
		if (strcmp(way, name) != 0)
			continue;
		*ret_is_mail = i < channels->mail_count;
		*ret_index = *ret_is_mail ? i : i - channels->mail_count;
		return true;
	}
	return false;
}

void channels_id(const AlarmDue *due, char ret[CHANNEL_ID_MAX])
{
	snprintf(ret, CHANNEL_ID_MAX, "alarm.%.64s.%.48s.%" PRId64 ".%s", due->about, due->alarm.kind, due->alarm.at_us,
		due->alarm.raised ? "raised" : "over");
	for (char *at = ret; *at; at++)
		if (*at <= ' ' || *at >= 0x7f || strchr("<>\"@", *at))
			*at = '_';
}

/* ---- the mail ---- */

static bool is_about_all(const AlarmDue *due)
{
	return strcmp(due->about, SHOP_OF_ALL) == 0;
}

int channels_mail(const struct channels *channels, int index, const AlarmDue *due, int64_t now_us, struct mail **ret,
	char ret_why[160])
{
	const Alarm *alarm = &due->alarm;
	const char *domain = strrchr(channels->from, '@');
	char subject[200], body[1400], id[CHANNEL_ID_MAX], message_id[200];
	const char *shop = is_about_all(due) ? "" : due->about;

	snprintf(subject, sizeof(subject), "[cartbus] %s%s%s%s: %.100s", alarm->raised ? "" : "over: ", alarm->kind,
		*shop ? ", shop " : "", shop, alarm->text);
	snprintf(body, sizeof(body),
		"%s%s%s%s\n\n%s\n\n%s%s%s`cartbus status` shows everything at once, `cartbus alarm list` what "
		"stands.\n",
		alarm->kind, *shop ? ", shop " : "", shop, alarm->raised ? "" : ": it is over", alarm->text,
		alarm->raised && *alarm->remedy ? "What to do: " : "", alarm->raised ? alarm->remedy : "",
		alarm->raised && *alarm->remedy ? "\n\n" : "");
	channels_id(due, id);
	snprintf(message_id, sizeof(message_id), "%s@%.36s", id, domain ? domain + 1 : "localhost");
	message_id[strcspn(message_id, "> ")] = 0;
	return mail_note(channels->from, channels->mails[index], subject, body, message_id, now_us, ret, ret_why);
}

/* ---- the webhook ---- */

int channels_request(
	const struct channels *channels, int index, const AlarmDue *due, int64_t now_us, struct http_request *request)
{
	const Alarm *alarm = &due->alarm;
	char id[CHANNEL_ID_MAX];
	json_t *json = json_pack("{s:s,s:I,s:{s:s,s:s,s:b,s:s,s:s,s:I}}", "type",
		alarm->raised ? "alarm.raised" : "alarm.over", "timestamp_us", (json_int_t)alarm->at_us, "data", "kind",
		alarm->kind, "shop", is_about_all(due) ? "" : due->about, "raised", alarm->raised, "text", alarm->text,
		"remedy", alarm->raised ? alarm->remedy : "", "at_us", (json_int_t)alarm->at_us);
	_cleanup_free_ char *body = json ? json_dumps(json, JSON_COMPACT) : NULL;

	json_decref(json);
	if (!body)
		return -EINVAL; /* not UTF-8 */
	channels_id(due, id);
	int r = standard_webhook(request, &channels->keys, channels->webhooks[index], id, now_us, bytes_of(body));
	request->reach = HTTP_REACH_ADMIN;
	TEXT_COPY(request->ca, channels->ca);
	request->most_bytes = 64 * 1024;
	return r;
}
