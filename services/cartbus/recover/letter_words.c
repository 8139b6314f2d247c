/*
 * letter_words.c: a dead letter in words: what it is, why it died, and what then
 */
#include "services/cartbus/recover/letter_words.h"
#include "services/cartbus/core/json_file.h"

#include "bus/base/cleanup.h"
#include "bus/base/text.h"
#include "services/cartbus/core/describe.h"
#include "services/cartbus/core/print.h"
#include "services/cartbus/core/reading.h"

const char *letter_text(const json_t *letter, const char *name, char ret[LETTER_WORDS_ROOM])
{
	text_copy(ret, LETTER_WORDS_ROOM, member_text(letter, name));
	text_make_plain(ret);
	return ret;
}

static void write_payload(const json_t *letter, const char *zone, struct buffer *ret)
{
	_cleanup_(buffer_free) struct buffer bytes = { 0 }, words = { 0 };
	const char *base64 = member_text(letter, "payload");
	const struct topic *topic = topic_of(member_text(letter, "topic"));
	_cleanup_free_ void *message = NULL;

	payload_from_base64(base64, &bytes);
	message = topic ? payload_decode(topic, buffer_bytes(&bytes)) : NULL;
	if (message)
		describe(topic, message, zone, &words);
	buffer_printf(ret, "payload   %s\n", message ? buffer_text(&words) : base64);
}

void letter_words(const struct command *command, const json_t *letter, struct buffer *ret)
{
	const char *zone = zone_of_shop(command, member_text(letter, "shop"));
	const json_t *event;
	char at[40], key[LETTER_WORDS_ROOM], reason[LETTER_WORDS_ROOM], by[LETTER_WORDS_ROOM];
	size_t i;

	describe_time(zone, member_number(letter, "time_us"), at);
	buffer_printf(ret, "queue     %s\nmessage   %lld, %s of shop %s, key %s, said at %s%s\nreason    %s\n",
		member_text(letter, "queue"), member_number(letter, "seq"), member_text(letter, "topic"),
		member_text(letter, "shop"), letter_text(letter, "key", key), at,
		json_is_true(json_object_get(letter, "replayed")) ? ", replayed from the log" : "",
		letter_text(letter, "reason", reason));
	write_payload(letter, zone, ret);
	json_array_foreach(json_object_get(letter, "history"), i, event)
	{
		describe_time(zone, member_number(event, "at_us"), at);
		buffer_printf(ret, "history   %s  %s (%s)\n", at, letter_text(event, "reason", reason),
			letter_text(event, "by", by));
	}
	buffer_printf(ret, "\nPut it right, then: cartbus dlq redrive %s %lld\n", member_text(letter, "queue"),
		member_number(letter, "seq"));
}
