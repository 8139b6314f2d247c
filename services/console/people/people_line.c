/*
 * people_line.c: writes and reads a person as JSON
 *
 *   {"name": "ann", "roles": {"owner": ["demo"], "viewer": "*"}, "version": 7, "made_us": 1764000000000000, "locale": "de",
 *    "password": "$argon2id$...", "totp": "3132...", "totp_counter": 58800000, "recovery": ["ab12...", ...]}
 *
 * Members without a value are left out. A member of a later release is an error, and not lost by the next change.
 */
#include "services/console/people/people_line.h"

#include "bus/base/text.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- writing ---- */

static json_t *shops_json(const struct person_role *role)
{
	json_t *list;

	if (role->for_all_shops)
		return json_string("*");
	list = json_array();
	for (size_t i = 0; i < role->shop_count; i++)
		json_array_append_new(list, json_string(role->shops[i]));
	return list;
}

static json_t *roles_json(const struct person *person)
{
	json_t *object = json_object();

	for (int role = 0; role < ROLES; role++)
		if (person->roles[role].is_held)
			json_object_set_new(object, role_name((enum role)role), shops_json(&person->roles[role]));
	return object;
}

static json_t *hex_json(const void *data, size_t len)
{
	char hex[2 * PERSON_RECOVERY_LEN + 1];

	text_hex(data, len, hex);
	return json_string(hex);
}

static json_t *recovery_json(const struct person *person)
{
	json_t *list = json_array();

	for (int i = 0; i < person->recovery_count; i++)
		json_array_append_new(list, hex_json(person->recovery[i], PERSON_RECOVERY_LEN));
	return list;
}

json_t *person_to_json(const struct person *person)
{
	json_t *line = json_pack("{s:s,s:o,s:I,s:I}", "name", person->name, "roles", roles_json(person), "version",
		(json_int_t)person->version, "made_us", (json_int_t)person->made_us);

	if (person->locale[0])
		json_object_set_new(line, "locale", json_string(person->locale));
	if (person->password[0])
		json_object_set_new(line, "password", json_string(person->password));
	if (person->has_totp) {
		json_object_set_new(line, "totp", hex_json(person->totp, sizeof(person->totp)));
		json_object_set_new(line, "totp_counter", json_integer((json_int_t)person->totp_counter));
	}
	if (person->recovery_count)
		json_object_set_new(line, "recovery", recovery_json(person));
	return line;
}

/* ---- reading ---- */

static int wrong(char why[200], const char *format, ...) __attribute__((format(printf, 2, 3)));
static int wrong(char why[200], const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(why, 200, format, arguments);
	va_end(arguments);
	return -EBADMSG;
}

static int read_name(const json_t *value, struct person *person, char why[200])
{
	const char *name = json_string_value(value);
	char normalised[PERSON_NAME_ROOM];

	if (!name || person_name_read(name, normalised) < 0 || strcmp(name, normalised) != 0)
		return wrong(why, "\"name\": expected a person's name in small letters");
	TEXT_COPY(person->name, name);
	return 0;
}

static int read_shops(struct person *person, const char *role, const json_t *shops, char why[200])
{
	char text[16 + PERSON_SHOP_ROOM];
	int r = json_array_size(shops) > 0 ? 0 : -EINVAL;
	const json_t *shop;
	size_t i;

	json_array_foreach(shops, i, shop)
	{
		const char *name = json_string_value(shop);

		if (r == 0 && name && shop_name_valid(name)) {
			snprintf(text, sizeof(text), "%.10s:%s", role, name);
			r = person_role_add(person, text);
		} else {
			r = -EINVAL;
		}
	}
	return r < 0 ? wrong(why, "\"roles\": \"%.40s\": expected \"*\" or a list of shops", role) : 0;
}

static int read_roles(const json_t *value, struct person *person, char why[200])
{
	const char *name;
	json_t *shops;
	enum role role;
	int r = json_is_object(value) ? 0 : wrong(why, "\"roles\": expected an object");

	if (r < 0)
		return r;
	json_object_foreach((json_t *)value, name, shops)
	{
		const char *all = json_string_value(shops);

		if (role_named(name, &role) < 0)
			return wrong(why, "\"roles\": there is no role \"%.40s\"", name);
		if (all && strcmp(all, "*") == 0)
			r = person_role_add(person, name);
		else
			r = read_shops(person, name, role_is_for_shops(role) ? shops : NULL, why);
		if (r < 0)
			return r;
	}
	return 0;
}

static int read_number(const json_t *value, const char *name, int64_t *ret, char why[200])
{
	*ret = json_integer_value(value);
	return json_is_integer(value) && *ret >= 0 ? 0 : wrong(why, "\"%s\": expected a number of 0 or more", name);
}

static int read_version(const json_t *value, struct person *person, char why[200])
{
	return read_number(value, "version", &person->version, why);
}

static int read_made(const json_t *value, struct person *person, char why[200])
{
	return read_number(value, "made_us", &person->made_us, why);
}

static int read_counter(const json_t *value, struct person *person, char why[200])
{
	int64_t counter = 0;
	int r = read_number(value, "totp_counter", &counter, why);

	person->totp_counter = (uint64_t)counter;
	return r;
}

static int read_locale(const json_t *value, struct person *person, char why[200])
{
	const char *text = json_string_value(value);

	return text && TEXT_COPY(person->locale, text) ? 0 : wrong(why, "\"locale\": expected a locale");
}

static int read_password(const json_t *value, struct person *person, char why[200])
{
	const char *text = json_string_value(value);

	return text && text_starts(text, "$argon2id$") && TEXT_COPY(person->password, text)
		? 0
		: wrong(why, "\"password\": expected a hash of argon2id");
}

static int read_totp(const json_t *value, struct person *person, char why[200])
{
	const char *hex = json_string_value(value);

	if (!hex || !text_unhex(hex, person->totp, sizeof(person->totp)))
		return wrong(why, "\"totp\": expected %d bytes in hex", PERSON_TOTP_LEN);
	person->has_totp = true;
	return 0;
}

static int read_recovery(const json_t *value, struct person *person, char why[200])
{
	const json_t *one;
	size_t i;

	if (!json_is_array(value) || json_array_size(value) > PERSON_RECOVERY_CODES)
		return wrong(why, "\"recovery\": expected a list of at most %d", PERSON_RECOVERY_CODES);
	json_array_foreach(value, i, one)
	{
		const char *hex = json_string_value(one);

		if (!hex || !text_unhex(hex, person->recovery[i], PERSON_RECOVERY_LEN))
			return wrong(why, "\"recovery\": expected %d bytes in hex", PERSON_RECOVERY_LEN);
	}
	person->recovery_count = (int)json_array_size(value);
	return 0;
}

static const struct member {
	const char *name;
	bool is_required;
	int (*read)(const json_t *value, struct person *person, char why[200]);
} members[] = {
	{ "name", true, read_name },
	{ "roles", true, read_roles },
	{ "version", true, read_version },
	{ "made_us", true, read_made },
	{ "locale", false, read_locale },
	{ "password", false, read_password },
	{ "totp", false, read_totp },
	{ "totp_counter", false, read_counter },
	{ "recovery", false, read_recovery },
};
enum { MEMBERS = sizeof(members) / sizeof(*members) };

static bool is_known(const char *name)
{
	for (int i = 0; i < MEMBERS; i++)
		if (strcmp(members[i].name, name) == 0)
			return true;
	return false;
}

static int read_members(const json_t *line, struct person *person, char why[200])
{
	const char *name;
	json_t *value;

	for (int i = 0; i < MEMBERS; i++) {
		value = json_object_get(line, members[i].name);
		if (!value && members[i].is_required)
			return wrong(why, "\"%s\" is missing", members[i].name);
		if (value && members[i].read(value, person, why) < 0)
			return -EBADMSG;
	}
	json_object_foreach((json_t *)line, name, value) if (!is_known(name)) return wrong(
		why, "unexpected member \"%.60s\": a later release may have written it", name);
	return 0;
}

int person_from_json(const json_t *line, struct person *ret, char ret_why[200])
{
	int r;

	*ret = (struct person){ 0 };
	r = json_is_object(line) ? read_members(line, ret, ret_why) : wrong(ret_why, "expected an object");
	if (r < 0)
		person_clear(ret);
	return r;
}
