/*
 * message_json.c: a decoded message as JSON
 *
 * Owns:     the walk over nanopb's field iterator.
 * Promises: no address and no first name of a shopper leaves it unmasked, unless that is what was asked for.
 */
#include "services/kit/words/message_json.h"

#include "bus/actor/state.h"
#include "bus/base/cleanup.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "proto/platform_topics.h"
#include "proto/topics.h"
#include "services/kit/words/names.h"
#include <openssl/evp.h>
#include <pb_common.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct topic *topic_of(const char *name)
{
	return topic_registered(name);
}

void *payload_decode(const struct topic *topic, struct bytes payload)
{
	void *message = memory_new(topic->size);

	if (topic_read(topic, payload, message))
		return message;
	free(message);
	return NULL;
}

void mask_address(const char *address, char ret[300])
{
	const char *at = strchr(address, '@');

	if (at && at != address)
		snprintf(ret, 300, "%.1s***%s", address, at);
	else
		snprintf(ret, 300, "%s", *address ? "***" : "");
}

/* How a message is shown: strings of persons masked, or not. */
struct showing {
	bool clear;
};

static json_t *message_json(const struct showing *showing, const pb_msgdesc_t *descriptor, const void *message);

static json_t *string_json(const struct showing *showing, const char *name, const char *text)
{
	char masked[300];
	json_t *value;

	if (!showing->clear && (strcmp(name, "email") == 0 || strcmp(name, "first_name") == 0)) {
		mask_address(text, masked);
		text = masked;
	}
	value = json_string(text);
	return value ? value : json_string("(not UTF-8)");
}

static int64_t whole_number(const pb_field_iter_t *field, const void *data)
{
	bool is_signed = PB_LTYPE(field->type) != PB_LTYPE_UVARINT;

	switch (field->data_size) {
	case 1:
		return is_signed ? *(const int8_t *)data : *(const uint8_t *)data;
	case 2:
		return is_signed ? *(const int16_t *)data : *(const uint16_t *)data;
	case 4:
		return is_signed ? *(const int32_t *)data : (int64_t) * (const uint32_t *)data;
	}
	return *(const int64_t *)data;
}

static json_t *number_json(const pb_field_iter_t *field, const void *data)
{
	int64_t number = whole_number(field, data);
	const char *word = enum_word(field->descriptor, field->tag, (int)number);

	return word ? json_string(word) : json_integer(number);
}

static json_t *bytes_json(const void *data)
{
	const pb_bytes_array_t *bytes = data;

	return json_integer(bytes->size); /* how many; a timer's payload is decoded by add_timer_payload */
}

static json_t *borrowed_json(const struct showing *showing, const char *name, const void *data)
{
	_cleanup_free_ char *text = memory_copy(*(const struct bytes *)data);

	return string_json(showing, name, text);
}

/* One value of a field, wherever it lies. */
static json_t *value_json(
	const struct showing *showing, const pb_field_iter_t *field, const char *name, const void *data)
{
	if (PB_ATYPE(field->type) == PB_ATYPE_CALLBACK)
		return borrowed_json(showing, name, data);
	switch (PB_LTYPE(field->type)) {
	case PB_LTYPE_BOOL:
		return json_boolean(*(const bool *)data);
	case PB_LTYPE_VARINT:
	case PB_LTYPE_UVARINT:
	case PB_LTYPE_SVARINT:
		return number_json(field, data);
	case PB_LTYPE_STRING:
		return string_json(showing, name, data);
	case PB_LTYPE_SUBMESSAGE:
		return message_json(showing, field->submsg_desc, data);
	case PB_LTYPE_BYTES:
		return bytes_json(data);
	}
	return json_null(); /* no message of ours has other kinds */
}

static json_t *list_json(const struct showing *showing, const pb_field_iter_t *field, const char *name)
{
	pb_size_t count = *(const pb_size_t *)field->pSize;
	json_t *list;

	if (count == 0)
		return NULL;
	list = json_array();
	for (pb_size_t i = 0; i < count; i++)
		json_array_append_new(list,
			value_json(showing, field, name, (const char *)field->pData + (size_t)i * field->data_size));
	return list;
}

static bool is_set(const pb_field_iter_t *field)
{
	const char *data = field->pData;

	if (PB_HTYPE(field->type) == PB_HTYPE_OPTIONAL && field->pSize)
		return *(const bool *)field->pSize;
	if (enum_word(field->descriptor, field->tag, 0))
		return true; /* "open" is a word, not nothing */
	if (PB_ATYPE(field->type) == PB_ATYPE_CALLBACK)
		return ((const struct bytes *)field->pData)->len > 0;
	if (PB_LTYPE(field->type) == PB_LTYPE_STRING)
		return data[0] != '\0';
	for (pb_size_t i = 0; i < field->data_size; i++) {
		if (data[i])
			return true;
	}
	return false;
}

static json_t *message_json(const struct showing *showing, const pb_msgdesc_t *descriptor, const void *message)
{
	json_t *object = json_object();
	pb_field_iter_t field;
	bool more = pb_field_iter_begin_const(&field, descriptor, message);

	for (; more; more = pb_field_iter_next(&field)) {
		const char *name = field_name(descriptor, field.tag);
		json_t *value = NULL;

		if (PB_HTYPE(field.type) == PB_HTYPE_REPEATED)
			value = list_json(showing, &field, name);
		else if (is_set(&field))
			value = value_json(showing, &field, name, field.pData);
		if (value)
			json_object_set_new(object, name, value);
	}
	return object;
}

/* What a timer will say is shown as the message that it is. */
static void add_timer_payload(json_t *object, const TimerSet *timer)
{
	const struct topic *topic = topic_of(timer->topic);

	if (topic)
		json_object_set_new(
			object, "payload", payload_json(topic, BYTES(timer->payload.bytes, timer->payload.size)));
}

static json_t *shown_json(const struct showing *showing, const struct topic *topic, const void *message)
{
	json_t *object = message_json(showing, topic->message, message);

	if (topic->message == &TimerSet_msg)
		add_timer_payload(object, message);
	return object;
}

json_t *message_to_json(const struct topic *topic, const void *message)
{
	return shown_json(&(struct showing){ .clear = false }, topic, message);
}

json_t *message_to_clear_json(const struct topic *topic, const void *message)
{
	return shown_json(&(struct showing){ .clear = true }, topic, message);
}

json_t *payload_json(const struct topic *topic, struct bytes payload)
{
	_cleanup_free_ void *message = payload_decode(topic, payload);

	return message ? message_to_json(topic, message) : json_null();
}

const char *payload_text(const struct topic *topic, const void *message, const char *name)
{
	pb_field_iter_t field;
	bool more = pb_field_iter_begin_const(&field, topic->message, message);

	for (; more; more = pb_field_iter_next(&field)) {
		if (PB_ATYPE(field.type) == PB_ATYPE_STATIC && PB_LTYPE(field.type) == PB_LTYPE_STRING &&
			PB_HTYPE(field.type) == PB_HTYPE_SINGULAR &&
			strcmp(field_name(topic->message, field.tag), name) == 0)
			return field.pData;
	}
	return "";
}

void payload_from_base64(const char *base64, struct buffer *ret)
{
	size_t len = strlen(base64), padding = 0;
	int decoded;

	buffer_clear(ret);
	while (padding < 2 && padding < len && base64[len - 1 - padding] == '=')
		padding++;
	decoded = EVP_DecodeBlock(buffer_grow(ret, len + 4), (const unsigned char *)base64, (int)len);
	if (decoded > 0)
		ret->len = (size_t)decoded - padding;
}
