/*
 * recover_sends_publish.c: notes what forbids a mail in the note of a restore, and publishes it at the
 * release
 *
 * Promises:  publishing twice changes nothing, because each message has its own idempotency key. A mode is
 *            only ever made stricter than the log has it; a looser mode is reported, and the admin decides.
 * Read next: restore_release.c (when), recover_sends.h
 */
#include "services/cartbus/backup/recover_sends.h"
#include "services/cartbus/core/json_file.h"
#include "services/cartbus/core/print.h"
#include "services/cartbus/core/reading.h"
#include "services/cartbus/shops/mode.h"

#include "bus/base/cleanup.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "proto/platform_topics.h"
#include "services/carts/policy/change.h"
#include <openssl/evp.h>
#include <pb_encode.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAYLOAD_MOST = 256 << 10 };

/* ---- noting ---- */

static json_t *encoded(const struct topic *topic, const void *message)
{
	_cleanup_free_ uint8_t *payload = memory_new(PAYLOAD_MOST);
	_cleanup_free_ char *text = memory_new(2 * PAYLOAD_MOST);
	pb_ostream_t stream = pb_ostream_from_buffer(payload, PAYLOAD_MOST);

	if (!pb_encode(&stream, topic->message, message))
		return NULL;
	EVP_EncodeBlock((unsigned char *)text, payload, (int)stream.bytes_written);
	return json_string(text);
}

static const char *order_of(const CartIds *ids, char names[JOIN_NAMES_MAX][80])
{
	return *ids->order_id                ? ids->order_id
		: join_names(ids, names) > 0 ? names[0]
		: *ids->email_hash           ? ids->email_hash
					     : ids->customer_id;
}

/* The person or the order that a message is about: a message learnt from two places counts once. */
static const char *subject_of(const struct topic *topic, const void *message, char names[JOIN_NAMES_MAX][80])
{
	if (topic == &topic_optout_request)
		return ((const OptoutRequest *)message)->address_hash;
	if (topic == &topic_mail_feedback)
		return ((const MailFeedback *)message)->address_hash;
	if (topic == &topic_cart_checkout)
		return order_of(&((const CartCheckout *)message)->ids, names);
	if (topic == &topic_privacy_request)
		return ((const PrivacyRequest *)message)->request_id;
	if (topic == &topic_admin_action)
		return ((const AdminAction *)message)->cart_id;
	return "";
}

void recover_sends_note(
	struct recover_sends *recovery, const struct recalled *recalled, const struct topic *topic, const void *message)
{
	char names[JOIN_NAMES_MAX][80];
	const char *subject = subject_of(topic, message, names);
	json_t *payload;

	if (json_object_get(recovery->said, recalled->name) || !(payload = encoded(topic, message)))
		return;
	json_object_set_new(recovery->said, recalled->name,
		json_pack("{s:s,s:s,s:s,s:s,s:s,s:I,s:o}", "topic", topic->name, "shop", recalled->shop, "subject",
			*subject ? subject : recalled->name, "key", recalled->key, "idem", recalled->idem, "at_us",
			(json_int_t)recalled->at_us, "payload", payload));
}

/* The higher the number, the fewer mails the mode lets out. */
static int strictness(ShopMode mode)
{
	switch (mode) {
	case MODE_LIVE:
		return 0;
	case MODE_MAIL_ME:
		return 1;
	case MODE_OBSERVE:
		return 2;
	case MODE_PAUSED:
		return 3;
	}
	return 3;
}

static bool replaces(const json_t *mode, const json_t *known)
{
	bool is_later = member_number(mode, "at_us") >= member_number(known, "at_us");
	bool is_higher = member_number(mode, "version") >= member_number(known, "version");
	bool have_versions = member_number(mode, "version") > 0 && member_number(known, "version") > 0;

	if (is_later == is_higher || !have_versions)
		return is_later;
	return strictness((ShopMode)member_number(mode, "mode")) > strictness((ShopMode)member_number(known, "mode"));
}

static void add_mode(struct recover_sends *recovery, const char *shop, json_t *mode)
{
	const json_t *known = json_object_get(recovery->modes, shop);

	if (!known || replaces(mode, known))
		json_object_set(recovery->modes, shop, mode);
}

void recover_sends_note_mode(struct recover_sends *recovery, const char *shop, const void *message)
{
	const ShopStatus *status = message;
	json_t *mode = json_pack("{s:i,s:i,s:i,s:I,s:I,s:s,s:s}", "mode", (int)status->mode, "priority",
		(int)status->priority, "resumes_to", (int)status->resumes_to, "version", (json_int_t)status->version,
		"at_us", (json_int_t)status->at_us, "reason", status->reason, "who", status->who);

	add_mode(recovery, shop, mode);
	json_decref(mode);
}

void recover_sends_add_modes(struct recover_sends *recovery, const json_t *modes)
{
	const char *shop;
	json_t *mode;

	json_object_foreach((json_t *)modes, shop, mode) add_mode(recovery, shop, mode);
}

static const char *kind_of(const char *topic)
{
	return strcmp(topic, topic_cart_checkout.name) == 0 ? "orders"
		: strcmp(topic, topic_optout_request.name) == 0 || strcmp(topic, topic_mail_feedback.name) == 0
		? "opt_outs"
		: strcmp(topic, topic_privacy_request.name) == 0 ? "privacy_requests"
								 : "actions";
}

json_t *recover_sends_count(const json_t *said, const json_t *modes)
{
	json_t *count = json_pack("{s:i,s:i,s:i,s:i,s:I}", "opt_outs", 0, "orders", 0, "actions", 0, "privacy_requests",
		0, "modes", (json_int_t)json_object_size(modes));
	json_t *counted = json_object();
	const json_t *one;
	const char *name;

	json_object_foreach((json_t *)said, name, one)
	{
		const char *kind = kind_of(member_text(one, "topic"));
		char what[400];

		/* In a note of an older release a message has no subject: the name counts. */
		snprintf(what, sizeof(what), "%s/%.80s/%.250s", kind, member_text(one, "shop"),
			json_object_get(one, "subject") ? member_text(one, "subject") : name);
		if (json_object_get(counted, what))
			continue;
		json_object_set_new(counted, what, json_true());
		json_object_set_new(count, kind, json_integer(json_integer_value(json_object_get(count, kind)) + 1));
	}
	json_decref(counted);
	return count;
}

/* ---- saying ---- */

static int say_one(struct client *client, const json_t *one, char why[256])
{
	_cleanup_(buffer_free) struct buffer payload = { 0 };
	const struct topic *topic = topic_of(member_text(one, "topic"));
	_cleanup_free_ void *message = NULL;
	struct client_said said;

	payload_from_base64(member_text(one, "payload"), &payload);
	message = topic ? payload_decode(topic, buffer_bytes(&payload)) : NULL;
	if (!message) {
		snprintf(why, 256, "the note of the restore is damaged");
		return -1;
	}
	return client_publish(client, topic,
		&(struct publish_options){ .shop = member_text(one, "shop"),
			.key = member_text(one, "key"),
			.idem = member_text(one, "idem") },
		message, &said, why);
}

static int say_mode(const struct command *command, struct client *client, const char *shop, const json_t *learnt,
	const ShopStatus *now)
{
	ShopStatus status = { .mode = (ShopMode)json_integer_value(json_object_get(learnt, "mode")),
		.priority = (uint32_t)json_integer_value(json_object_get(learnt, "priority")),
		.resumes_to = (ShopMode)json_integer_value(json_object_get(learnt, "resumes_to")),
		.at_us = clock_wall_us(&command->clock) };
	bool is_of_all = strcmp(shop, SHOP_OF_ALL) == 0;
	int is = strictness(now ? now->mode : is_of_all ? MODE_LIVE : MODE_OBSERVE), was = strictness(status.mode);
	uint64_t seq;

	if (was < is && !is_of_all)
		complain(command, "note: before the log was lost %s was in %s; it is left in %s", shop,
			mode_name(status.mode), mode_name(now ? now->mode : MODE_OBSERVE));
	if (was < is || (was == is && (!now || status.priority <= now->priority)))
		return EXIT_FINE;
	if (now && now->mode == MODE_PAUSED && now->priority > status.priority)
		return EXIT_FINE;
	snprintf(status.reason, sizeof(status.reason), "restored: %.100s", member_text(learnt, "reason"));
	TEXT_COPY(status.who, *member_text(learnt, "who") ? member_text(learnt, "who") : "system");
	return mode_say(command, client, shop, now, &status, &seq);
}

struct learnt {
	const json_t *one;
	int64_t at_us;
	size_t nth; /* its place in the order of learning */
};

static int by_time(const void *left, const void *right)
{
	const struct learnt *a = left, *b = right;

	if (a->at_us != b->at_us)
		return a->at_us < b->at_us ? -1 : 1;
	return a->nth < b->nth ? -1 : 1;
}

/* Sorts the messages by time, because they were learnt from several places. The caller frees the array. */
static struct learnt *in_order_of_time(const json_t *said)
{
	struct learnt *all = memory_new((json_object_size(said) + 1) * sizeof(*all));
	const json_t *one;
	const char *name;
	size_t count = 0;

	json_object_foreach((json_t *)said, name, one)
	{
		all[count] = (struct learnt){
			.one = one, .at_us = json_integer_value(json_object_get(one, "at_us")), .nth = count
		};
		count++;
	}
	qsort(all, count, sizeof(*all), by_time);
	return all;
}

int recover_sends_publish_stops(const struct command *command, const json_t *said, const json_t *modes)
{
	_cleanup_free_ struct learnt *all = in_order_of_time(said);
	static struct modes now;
	struct client *client = command_connect(command);
	int ended = modes_load_from(command, client, &now);
	const json_t *one;
	const char *name;
	char why[256];

	json_object_foreach((json_t *)modes, name, one) ended =
		ended ? ended : say_mode(command, client, name, one, modes_find(&now, name));
	for (size_t i = 0; i < json_object_size(said) && !ended; i++) {
		if (say_one(client, all[i].one, why) < 0) {
			complain(command, "what forbids a mail could not be said: %s; run it again", why);
			ended = EXIT_NO;
		}
	}
	client_free(client);
	return ended;
}
