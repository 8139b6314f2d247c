/* message_of_json.c: the reverse of services/cartbus/core/print.c */
#include "tests/service/cartbus/message_of_json.h"

#include "bus/base/cleanup.h"
#include "bus/base/log.h"
#include "bus/base/memory.h"
#include "services/cartbus/core/reading.h"
#include "services/kit/words/names.h"
#include <pb_common.h>
#include <stdio.h>
#include <string.h>

static void fill(const pb_msgdesc_t *descriptor, void *message, const json_t *json);

static int64_t number_of(const pb_field_iter_t *field, const json_t *value)
{
	const char *word = json_string_value(value);

	for (int i = 0; word && enum_word(field->descriptor, field->tag, i); i++) {
		if (strcmp(enum_word(field->descriptor, field->tag, i), word) == 0)
			return i;
	}
	if (word)
		die("\"%s\" is no value of %s", word, field_name(field->descriptor, field->tag));
	return json_integer_value(value);
}

static void set_number(const pb_field_iter_t *field, void *to, int64_t number)
{
	if (field->data_size == sizeof(uint32_t))
		*(uint32_t *)to = (uint32_t)number;
	else if (field->data_size == sizeof(uint8_t))
		*(uint8_t *)to = (uint8_t)number;
	else
		*(int64_t *)to = number;
}

static void set_bytes(const pb_field_iter_t *field, pb_bytes_array_t *to, const char *base64)
{
	_cleanup_(buffer_free) struct buffer bytes = { 0 };

	payload_from_base64(base64, &bytes);
	if (bytes.len > field->data_size - offsetof(pb_bytes_array_t, bytes))
		die("%s is too long", base64);
	memcpy(to->bytes, bytes.data, bytes.len);
	to->size = (pb_size_t)bytes.len;
}

static void set_one(const pb_field_iter_t *field, void *to, const json_t *value)
{
	if (PB_ATYPE(field->type) == PB_ATYPE_CALLBACK) {
		*(struct bytes *)to = bytes_of(json_string_value(value)); /* of `json`, which outlives it */
		return;
	}
	switch (PB_LTYPE(field->type)) {
	case PB_LTYPE_BOOL:
		*(bool *)to = json_is_true(value);
		return;
	case PB_LTYPE_STRING:
		if (snprintf(to, field->data_size, "%s", json_string_value(value)) >= (int)field->data_size)
			die("%s is too long", json_string_value(value));
		return;
	case PB_LTYPE_SUBMESSAGE:
		fill(field->submsg_desc, to, value);
		return;
	case PB_LTYPE_BYTES:
		set_bytes(field, to, json_string_value(value));
		return;
	}
	set_number(field, to, number_of(field, value));
}

static void set_list(const pb_field_iter_t *field, const json_t *values)
{
	const json_t *value;
	size_t i;

	if (json_array_size(values) > field->array_size)
		die("too many of %s", field_name(field->descriptor, field->tag));
	json_array_foreach(values, i, value) set_one(field, (char *)field->pData + i * field->data_size, value);
	*(pb_size_t *)field->pSize = (pb_size_t)json_array_size(values);
}

static bool find_field(const pb_msgdesc_t *descriptor, void *message, const char *name, pb_field_iter_t *ret)
{
	for (bool more = pb_field_iter_begin(ret, descriptor, message); more; more = pb_field_iter_next(ret)) {
		if (strcmp(field_name(descriptor, ret->tag), name) == 0)
			return true;
	}
	return false;
}

static void fill(const pb_msgdesc_t *descriptor, void *message, const json_t *json)
{
	const json_t *value;
	const char *name;

	json_object_foreach((json_t *)json, name, value)
	{
		pb_field_iter_t field;

		if (!find_field(descriptor, message, name, &field))
			die("there is no field \"%s\"", name);
		if (PB_HTYPE(field.type) == PB_HTYPE_REPEATED) {
			set_list(&field, value);
			continue;
		}
		if (PB_HTYPE(field.type) == PB_HTYPE_OPTIONAL && field.pSize)
			*(bool *)field.pSize = true;
		set_one(&field, field.pData, value);
	}
}

void *message_of_json(const struct topic *topic, const json_t *json)
{
	void *message = memory_new(topic->size);

	fill(topic->message, message, json);
	return message;
}
