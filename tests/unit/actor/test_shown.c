/*
 * test_shown.c: every message of proto/, filled to the brim, as a tap without the right to see payloads is shown it
 *
 * By the descriptors, so that a field that is added tomorrow is tried as well; and by the way that a program's declaration really
 * goes: from its manifest into the broker's topology.
 */
#include "bus/actor/service.h"
#include "bus/actor/state.h"
#include "bus/base/memory.h"
#include "bus/broker/topology.h"
#include "proto/cart_topics.h"
#include "proto/topics.h"
#include "tests/unit/cmocka_all.h"
#include <pb_common.h>
#include <pb_encode.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ENCODED_MAX = 1 << 20 };

static const char ADDRESS[] = "anna@mail.example", HARMLESS[] = "fine";

static bool is_listed(const struct topic *topic, const pb_msgdesc_t *message, pb_size_t tag)
{
	for (const struct topic_shown *shown = topic->shown; shown->message; shown++)
		if (shown->message == message && shown->tag == tag)
			return true;
	return false;
}

static void put_text(const pb_field_iter_t *field, char *to, const char *text)
{
	if (PB_ATYPE(field->type) == PB_ATYPE_CALLBACK) {
		*(struct bytes *)(void *)to = bytes_of(text);
	} else if (PB_LTYPE(field->type) == PB_LTYPE_BYTES) {
		pb_bytes_array_t *bytes = (pb_bytes_array_t *)(void *)to;

		bytes->size = (pb_size_t)strlen(text);
		memcpy(bytes->bytes, text, strlen(text));
	} else {
		snprintf(to, field->data_size, "%s", text);
	}
}

/* Every string and every list; numbers are of no interest. */
static void fill(const struct topic *topic, const pb_msgdesc_t *message, void *value)
{
	pb_field_iter_t field;

	for (bool more = pb_field_iter_begin(&field, message, value); more; more = pb_field_iter_next(&field)) {
		bool is_list = PB_HTYPE(field.type) == PB_HTYPE_REPEATED;

		if (is_list)
			*(pb_size_t *)field.pSize = field.array_size;
		else if (PB_HTYPE(field.type) == PB_HTYPE_OPTIONAL && field.pSize)
			*(bool *)field.pSize = true;
		for (pb_size_t i = 0; i < (is_list ? field.array_size : 1); i++) {
			char *at = (char *)field.pData + (size_t)i * field.data_size;

			if (PB_LTYPE_IS_SUBMSG(field.type))
				fill(topic, field.submsg_desc, at);
			else if (PB_LTYPE(field.type) > PB_LTYPE_LAST_PACKABLE)
				put_text(&field, at, is_listed(topic, message, field.tag) ? HARMLESS : ADDRESS);
		}
	}
}

static size_t encode_filled(const struct topic *topic, uint8_t *to)
{
	pb_ostream_t stream = pb_ostream_from_buffer(to, ENCODED_MAX);
	void *value = memory_new(topic->size);

	fill(topic, topic->message, value);
	assert_true(pb_encode(&stream, topic->message, value));
	free(value);
	return stream.bytes_written;
}

static struct topology *topology_of_all(void)
{
	struct topology *topology = memory_new(sizeof(*topology));
	struct buffer text = { 0 };
	struct config_error error;

	for (size_t i = 0; topic_nth(i); i++)
		topic_manifest(topic_nth(i), &text);
	if (topology_parse(buffer_text(&text), "topology.conf", topology, &error) < 0)
		fail_msg("%s", error.text);
	buffer_free(&text);
	return topology;
}

static int count_of(const uint8_t *in, size_t len, const char *what)
{
	const uint8_t *at = in, *found;
	int n = 0;

	for (; (found = memmem(at, len - (size_t)(at - in), what, strlen(what))); at = found + 1)
		n++;
	return n;
}

/* Every topic's message, masked; and how often it held what is harmless before. */
static void each_masked(void (*judge)(const struct topic *topic, const uint8_t *masked, size_t len, int harmless))
{
	struct topology *topology = topology_of_all();
	uint8_t *encoded = memory_new(ENCODED_MAX);

	for (size_t i = 0; topic_nth(i); i++) {
		const struct topic *topic = topic_nth(i);
		size_t len = encode_filled(topic, encoded);
		int harmless = count_of(encoded, len, HARMLESS), index = topology_topic(topology, topic->name);

		assert_int_equal(mask_payload(&topology->topics[index].mask, encoded, len), 0);
		judge(topic, encoded, len, harmless);
	}
	free(encoded);
	topology_free(topology);
	free(topology);
}

static void find_no_address(const struct topic *topic, const uint8_t *masked, size_t len, int harmless)
{
	if (count_of(masked, len, "anna") || count_of(masked, len, "mail.example"))
		fail_msg("%s shows an address", topic->name);
	assert_int_equal(count_of(masked, len, HARMLESS), harmless);
}

static void no_address_of_any_message_leaks(void **state)
{
	(void)state;
	each_masked(find_no_address);
}

static void decode(const struct topic *topic, const uint8_t *masked, size_t len, int harmless)
{
	void *value = memory_new(topic->size);

	(void)harmless;
	if (!topic_read(topic, BYTES(masked, len), value))
		fail_msg("%s does not read", topic->name);
	free(value);
}

static void what_is_masked_still_reads(void **state)
{
	(void)state;
	each_masked(decode);
}

/* Nobody lists these by mistake. */
static void what_names_a_person_is_never_listed(void **state)
{
	static const struct topic_shown never[] = { { &CartIds_msg, CartIds_email_tag },
		{ &CartIds_msg, CartIds_customer_id_tag }, { &CartIds_msg, CartIds_cart_token_tag },
		{ &CartIds_msg, CartIds_checkout_token_tag }, { &CartChanged_msg, CartChanged_first_name_tag },
		{ &CartState_msg, CartState_first_name_tag }, { &CartState_msg, CartState_recovery_url_tag },
		{ &CartChanged_msg, CartChanged_recovery_url_tag }, { &Attribute_msg, Attribute_value_tag },
		{ &TimerSet_msg, TimerSet_payload_tag }, { &Document_msg, Document_text_tag },
		{ &Document_msg, Document_long_text_tag } };

	const struct topic *topic;

	(void)state;
	for (size_t t = 0; (topic = topic_nth(t)); t++)
		for (size_t i = 0; i < sizeof(never) / sizeof(never[0]); i++)
			assert_false(is_listed(topic, never[i].message, never[i].tag));
}

/* What the journal is told of a message: masked it still holds it, and the broker finds the subject's id where the program says it stands. */
static void what_the_journal_is_told_names_nobody_and_is_found_by_the_broker(void **state)
{
	struct topology *topology = topology_of_all();
	uint8_t *encoded = memory_new(ENCODED_MAX);

	(void)state;
	for (const struct topic_log_row *row = topic_audit.log_rows; row->topic; row++) {
		const struct topology_topic *topic = &topology->topics[topology_topic(topology, row->topic->name)];
		pb_ostream_t stream = pb_ostream_from_buffer(encoded, ENCODED_MAX);
		char *value = memory_new(row->topic->size);
		struct bytes found;

		fill(row->topic, row->topic->message, value);
		if (row->subject != TOPIC_NOWHERE)
			strcpy(value + row->subject, "c-17");
		if (row->word != TOPIC_NOWHERE)
			strcpy(value + row->word, "w-17");
		assert_true(pb_encode(&stream, row->topic->message, value));
		free(value);
		assert_int_equal(mask_payload(&topic->mask, encoded, stream.bytes_written), 0);
		assert_int_equal(count_of(encoded, stream.bytes_written, "w-17"), row->word != TOPIC_NOWHERE);
		assert_int_equal(topic->subject != 0, row->subject != TOPIC_NOWHERE);
		if (row->subject == TOPIC_NOWHERE)
			continue;
		found = mask_find(BYTES(encoded, stream.bytes_written), topic->subject);
		assert_int_equal(found.len, 4);
		assert_memory_equal(found.data, "c-17", 4);
	}
	free(encoded);
	topology_free(topology);
	free(topology);
}

static void what_is_no_message_or_has_no_such_field_has_nothing_to_find(void **state)
{
	static const uint8_t cut[] = { 0x0a, 0x7f, 'c' }, other[] = { 0x12, 0x01, 'c' }, number[] = { 0x08, 0x01 };
	uint32_t path, nonsense;

	(void)state;
	assert_int_equal(mask_path("1", &path), 0);
	assert_int_equal(mask_find(BYTES(cut, sizeof(cut)), path).len, 0);
	assert_int_equal(mask_find(BYTES(other, sizeof(other)), path).len, 0);
	assert_int_equal(mask_find(BYTES(number, sizeof(number)), path).len, 0);
	assert_int_equal(mask_find(BYTES("", 0), path).len, 0);
	assert_true(mask_path("", &nonsense) < 0 && mask_path("1/", &nonsense) < 0 && mask_path("x", &nonsense) < 0);
}

/* What a class keeps and forgets is tests/unit/broker/test_retention.c's. */
static void the_record_and_whoever_said_no_or_bought_are_kept_for_ever(void **state)
{
	static const struct topic *const kept[] = { &topic_audit, &topic_suppression, &topic_optout_request,
		&topic_mail_feedback, &topic_admin_action, &topic_shop_status, &topic_document, &topic_cart_checkout,
		&topic_reminder_sent, &topic_reminder_ambiguous };

	(void)state;
	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
		assert_int_equal(kept[i]->retention, RETAIN_KEEP);
	assert_int_equal(topic_cart_changed.retention, RETAIN_RAW);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_address_of_any_message_leaks),
		cmocka_unit_test(what_is_masked_still_reads),
		cmocka_unit_test(what_names_a_person_is_never_listed),
		cmocka_unit_test(what_the_journal_is_told_names_nobody_and_is_found_by_the_broker),
		cmocka_unit_test(what_is_no_message_or_has_no_such_field_has_nothing_to_find),
		cmocka_unit_test(the_record_and_whoever_said_no_or_bought_are_kept_for_ever),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
