/*
 * json_member.h: members of the broker's answers and of the command's own files, where one that is missing says nothing
 */
#ifndef CARTBUS_CORE_JSON_MEMBER_H
#define CARTBUS_CORE_JSON_MEMBER_H

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
