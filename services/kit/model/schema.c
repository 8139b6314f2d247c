/*
 * schema.c: checks the schemas of questions, and whether an answer fits its schema
 *
 * A schema is JSON Schema (json-schema.org, 2020-12) of this subset:
 *   type                  "object", "array", "string", "integer", "number", "boolean" or "null", or an array
 *                         of these; the schema itself has type "object", because Bedrock and Anthropic accept
 *                         no other. "integer" takes no fraction, not even 1.0.
 *   properties            of an object; names have 1 to 64 letters, digits, _ and -
 *   required              names of properties
 *   additionalProperties  true or false; true if it is missing, as in JSON Schema
 *   items                 of an array: the schema of each of its values
 *   enum                  at least one text, number, true, false or null; 1 is not 1.0
 *   title, description    texts for the model
 * Schemas are nested at most 16 deep.
 *
 * Promises:  a schema with any other word is refused, so that no caller relies on a check that is not made.
 *            The depth of a check is that of the schema, for every answer. The reason why an answer does not
 *            fit quotes the schema, never the answer.
 * Read next: wire.c
 */
#include "bus/base/log.h"
#include "bus/base/text.h"
#include "services/kit/model/model.h"
#include <errno.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>

enum { DEPTH_MAX = 16, PROPERTY_NAME_MAX = 64, PATH_ROOM = 96 };

static const struct {
	const char *name;
	unsigned types; /* bits of json_type */
} type_names[] = {
	{ "object", 1u << JSON_OBJECT },
	{ "array", 1u << JSON_ARRAY },
	{ "string", 1u << JSON_STRING },
	{ "integer", 1u << JSON_INTEGER },
	{ "number", 1u << JSON_INTEGER | 1u << JSON_REAL },
	{ "boolean", 1u << JSON_TRUE | 1u << JSON_FALSE },
	{ "null", 1u << JSON_NULL },
};

/* The types of a name, as bits; 0: it is not the name of a type. */
static unsigned types_of_name(const json_t *name)
{
	const char *text = json_string_value(name);

	for (size_t i = 0; text && i < sizeof(type_names) / sizeof(type_names[0]); i++)
		if (strcmp(text, type_names[i].name) == 0)
			return type_names[i].types;
	return 0;
}

/* The types of a name, or of an array of names. 0: it has anything else in it, or nothing. */
static unsigned types_of(const json_t *type)
{
	unsigned types = 0, more;
	size_t i;
	json_t *name;

	if (!json_is_array(type))
		return types_of_name(type);
	json_array_foreach(type, i, name)
	{
		more = types_of_name(name);
		if (!more)
			return 0;
		types |= more;
	}
	return types;
}

/* ---- is it a schema ---- */

static const char *schema_fault(const json_t *schema, int depth);

static bool is_property_name(const char *name)
{
	size_t len = strlen(name);

	return len >= 1 && len <= PROPERTY_NAME_MAX &&
		len == strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-");
}

static const char *properties_fault(const json_t *properties, int depth)
{
	const char *name, *fault = json_is_object(properties) ? NULL : "properties is no object";
	json_t *value;

	json_object_foreach((json_t *)properties, name, value)
	{
		if (!fault && !is_property_name(name))
			fault = "the name of a property has 1 to 64 letters, digits, _ and -";
		if (!fault)
			fault = schema_fault(value, depth + 1);
	}
	return fault;
}

static bool is_named_before(const json_t *names, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (json_equal(json_array_get(names, i), json_array_get(names, at)))
			return true;
	return false;
}

static const char *required_fault(const json_t *required, const json_t *properties)
{
	size_t i;
	json_t *name;

	if (!json_is_array(required))
		return "required is no array";
	json_array_foreach(required, i, name)
	{
		if (!json_is_string(name) || !json_object_get(properties, json_string_value(name)))
			return "required names something that is no property";
		if (is_named_before(required, i))
			return "required names a property twice";
	}
	return NULL;
}

static const char *enum_fault(const json_t *choices)
{
	size_t i;
	json_t *choice;

	if (!json_array_size(choices))
		return "enum is no array with a value in it";
	json_array_foreach(choices, i, choice)
	{
		if (json_is_object(choice) || json_is_array(choice))
			return "enum takes no objects and no arrays";
	}
	return NULL;
}

static const char *word_fault(const char *word, const json_t *value, const json_t *schema, int depth)
{
	if (strcmp(word, "type") == 0)
		return types_of(value) ? NULL : "type is not one of those that are known";
	if (strcmp(word, "properties") == 0)
		return properties_fault(value, depth);
	if (strcmp(word, "required") == 0)
		return required_fault(value, json_object_get(schema, "properties"));
	if (strcmp(word, "additionalProperties") == 0)
		return json_is_boolean(value) ? NULL : "additionalProperties is neither true nor false";
	if (strcmp(word, "items") == 0)
		return schema_fault(value, depth + 1);
	if (strcmp(word, "enum") == 0)
		return enum_fault(value);
	if (strcmp(word, "title") == 0 || strcmp(word, "description") == 0)
		return json_is_string(value) ? NULL : "title and description are texts";
	return "it has a word that is not checked";
}

static const char *schema_fault(const json_t *schema, int depth)
{
	const char *word, *fault = NULL;
	json_t *value;

	if (!json_is_object(schema))
		return "a schema is an object";
	if (depth >= DEPTH_MAX)
		return "it is deeper than 16 schemas";
	if (!json_object_get(schema, "type") && !json_object_get(schema, "enum"))
		return "a schema needs type or enum";
	json_object_foreach((json_t *)schema, word, value)
	{
		if (!fault)
			fault = word_fault(word, value, schema, depth);
	}
	return fault;
}

int model_schema_read(const char *text, json_t **ret, char ret_why[MODEL_WORDS_MAX])
{
	const char *fault = "it is not JSON";
	json_t *schema = NULL;

	if (strlen(text) > MODEL_SCHEMA_MAX)
		fault = "it is longer than 32 KiB";
	else
		schema = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	if (schema)
		fault = schema_fault(schema, 0);
	if (!fault && types_of(json_object_get(schema, "type")) != 1u << JSON_OBJECT)
		fault = "its own type is not object";
	if (!fault) {
		*ret = schema;
		return 0;
	}
	json_decref(schema);
	snprintf(ret_why, MODEL_WORDS_MAX, "the schema cannot be used: %s", fault);
	return -EINVAL;
}

/* ---- does a value fit ---- */

struct fitting {
	char path[PATH_ROOM]; /* of the current value: "citations[2].quote"; cut if it is too long */
	char *why;
};

/* Returns false, so that callers can return it. */
static bool tell_misfit(struct fitting *fitting, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool tell_misfit(struct fitting *fitting, const char *format, ...)
{
	char what[96];
	va_list args;

	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	snprintf(fitting->why, MODEL_WORDS_MAX, "%s%s%s", fitting->path, fitting->path[0] ? ": " : "", what);
	return false;
}

static bool fits(const json_t *schema, const json_t *value, struct fitting *fitting);

static bool fits_at(const json_t *schema, const json_t *value, struct fitting *fitting, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
/* Extends the path during the check of this value. */
static bool fits_at(const json_t *schema, const json_t *value, struct fitting *fitting, const char *format, ...)
{
	size_t len = strlen(fitting->path);
	bool does;
	va_list args;

	va_start(args, format);
	vsnprintf(fitting->path + len, sizeof(fitting->path) - len, format, args);
	va_end(args);
	does = fits(schema, value, fitting);
	fitting->path[len] = '\0';
	return does;
}

static bool is_one_of(const json_t *choices, const json_t *value)
{
	size_t i;
	json_t *choice;

	json_array_foreach(choices, i, choice)
	{
		if (json_equal(choice, value))
			return true;
	}
	return false;
}

static bool object_fits(const json_t *schema, const json_t *value, struct fitting *fitting)
{
	const json_t *properties = json_object_get(schema, "properties");
	const char *name;
	size_t i;
	json_t *each;

	json_array_foreach(json_object_get(schema, "required"), i, each)
	{
		if (!json_object_get(value, json_string_value(each)))
			return tell_misfit(fitting, "%s is missing", json_string_value(each));
	}
	json_object_foreach((json_t *)value, name, each)
	{
		const json_t *property = json_object_get(properties, name);

		if (!property && json_is_false(json_object_get(schema, "additionalProperties")))
			return tell_misfit(fitting, "it has a property that it may not have");
		if (property && !fits_at(property, each, fitting, "%s%s", fitting->path[0] ? "." : "", name))
			return false;
	}
	return true;
}

static bool items_fit(const json_t *items, const json_t *value, struct fitting *fitting)
{
	size_t i;
	json_t *each;

	json_array_foreach(value, i, each)
	{
		if (!fits_at(items, each, fitting, "[%zu]", i))
			return false;
	}
	return true;
}

static bool is_of(const json_t *type, const json_t *value)
{
	return types_of(type) & 1u << json_typeof(value);
}

static bool fits(const json_t *schema, const json_t *value, struct fitting *fitting)
{
	const json_t *type = json_object_get(schema, "type"), *choices = json_object_get(schema, "enum"),
		     *items = json_object_get(schema, "items");

	if (json_is_array(type) && !is_of(type, value))
		return tell_misfit(fitting, "it is of none of the types that it may be of");
	if (type && !is_of(type, value))
		return tell_misfit(fitting, "it is not of type %s", json_string_value(type));
	if (choices && !is_one_of(choices, value))
		return tell_misfit(fitting, "it is none of the values that it may be");
	if (json_is_object(value))
		return object_fits(schema, value, fitting);
	return !items || !json_is_array(value) || items_fit(items, value, fitting);
}

bool model_schema_fits(const json_t *schema, const json_t *value, char ret_why[MODEL_WORDS_MAX])
{
	struct fitting fitting = { .why = ret_why };

	return fits(schema, value, &fitting);
}

/* ---- OpenAI's strict ---- */

static bool are_strict(const json_t *properties)
{
	const char *name;
	json_t *value;
	bool all = true;

	json_object_foreach((json_t *)properties, name, value)
	{
		all = all && model_schema_is_strict(value);
	}
	return all;
}

bool model_schema_is_strict(const json_t *schema)
{
	const json_t *properties = json_object_get(schema, "properties"), *items = json_object_get(schema, "items");
	bool may_be_object = types_of(json_object_get(schema, "type")) & 1u << JSON_OBJECT;

	if (may_be_object &&
		(!json_is_false(json_object_get(schema, "additionalProperties")) ||
			json_array_size(json_object_get(schema, "required")) != json_object_size(properties)))
		return false;
	return are_strict(properties) && (!items || model_schema_is_strict(items));
}
