/* members.h: members of JSON objects, such as the broker's answers, where a missing member is no error */
#ifndef KIT_WORDS_MEMBERS_H
#define KIT_WORDS_MEMBERS_H

#include <jansson.h>

/* Borrowed from `object`; "": there is no such member, or it is no text. */
static inline const char *member_text(const json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));

	return text ? text : "";
}

/* 0: there is no such member, or it is no whole number. */
static inline json_int_t member_number(const json_t *object, const char *name)
{
	return json_integer_value(json_object_get(object, name));
}

#endif
