/*
 * names.c: looks up what fields and enum values are called, in the tables that the systems register
 */
#include "services/cartbus/core/names.h"

static const struct field_names *fields_of(const pb_msgdesc_t *message)
{
	for (size_t i = 0; registered_names[i]; i++)
		for (const struct message_names *row = registered_names[i]->messages; row->message; row++)
			if (row->message == message)
				return row->fields;
	return NULL;
}

const char *field_name(const pb_msgdesc_t *message, uint32_t tag)
{
	for (const struct field_names *field = fields_of(message); field && field->name; field++)
		if (field->tag == tag)
			return field->name;
	return NULL;
}

static const char *const *words_of(const pb_msgdesc_t *message, uint32_t tag)
{
	for (size_t i = 0; registered_names[i]; i++)
		for (const struct enum_names *row = registered_names[i]->enums; row->message; row++)
			if (row->message == message && row->tag == tag)
				return row->words;
	return NULL;
}

const char *enum_word(const pb_msgdesc_t *message, uint32_t tag, int value)
{
	const char *const *words = words_of(message, tag);

	for (int at = 0; words && words[at]; at++)
		if (at == value)
			return words[at];
	return NULL;
}
