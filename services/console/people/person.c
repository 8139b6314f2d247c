/*
 * person.c: names, roles and rights of people who may use the console
 *
 * Owns:      the table of what each role may do.
 * Promises:  fails closed: RIGHT_NONE, a right that no role of the person gives, and a shop that is not the person's are
 *            refused.
 * Read next: people_line.c (how a person is written)
 */
#include "services/console/people/person.h"

#include "bus/base/cleanup.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include <ctype.h>
#include <errno.h>
#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>

#define MAY(right) (UINT32_C(1) << RIGHT_##right)

enum {
	VIEWER = MAY(SEE) | MAY(REPORT),
	APPROVER = VIEWER | MAY(WORDS) | MAY(RULES),
	OWNER = APPROVER | MAY(SEE_ADDRESS) | MAY(ACT_CART) | MAY(LIST) | MAY(LIFT) | MAY(MODE) | MAY(PRIVACY) |
		MAY(AUDIT),
	OPERATOR = VIEWER | MAY(MODE) | MAY(AUDIT) | MAY(HEALTH) | MAY(QUEUE) | MAY(DEAD) | MAY(LOG),
	ADMIN = OWNER | OPERATOR | MAY(PEOPLE)
};

static const struct role_row {
	const char *name;
	bool is_for_shops;
	uint32_t rights;
} roles[ROLES] = {
	[ROLE_VIEWER] = { "viewer", true, VIEWER },
	[ROLE_APPROVER] = { "approver", true, APPROVER },
	[ROLE_OWNER] = { "owner", true, OWNER },
	[ROLE_OPERATOR] = { "operator", false, OPERATOR },
	[ROLE_ADMIN] = { "admin", false, ADMIN },
};

static const char *const right_names[RIGHTS] = {
	[RIGHT_NONE] = "none",
	[RIGHT_ANYBODY] = "anybody",
	[RIGHT_SIGNED_IN] = "signed-in",
	[RIGHT_SEE] = "see",
	[RIGHT_SEE_ADDRESS] = "see-address",
	[RIGHT_REPORT] = "report",
	[RIGHT_WORDS] = "words",
	[RIGHT_RULES] = "rules",
	[RIGHT_ACT_CART] = "act-cart",
	[RIGHT_LIST] = "list",
	[RIGHT_LIFT] = "lift",
	[RIGHT_MODE] = "mode",
	[RIGHT_PRIVACY] = "privacy",
	[RIGHT_AUDIT] = "audit",
	[RIGHT_HEALTH] = "health",
	[RIGHT_QUEUE] = "queue",
	[RIGHT_DEAD] = "dead",
	[RIGHT_LOG] = "log",
	[RIGHT_PEOPLE] = "people",
};

/* ---- the person ---- */

int person_name_read(const char *text, char ret[PERSON_NAME_ROOM])
{
	size_t len = strlen(text);

	ret[0] = '\0';
	if (len == 0 || len >= PERSON_NAME_ROOM || !isalnum((unsigned char)text[0]))
		return -EINVAL;
	for (size_t i = 0; i < len; i++)
		if (!isascii((unsigned char)text[i]) || (!isalnum((unsigned char)text[i]) && !strchr("._-+@", text[i])))
			return -EINVAL;
	for (size_t i = 0; i <= len; i++)
		ret[i] = text[i] >= 'A' && text[i] <= 'Z' ? (char)(text[i] - 'A' + 'a') : text[i];
	return 0;
}

static void clear_role(struct person_role *role)
{
	for (size_t i = 0; i < role->shop_count; i++)
		free(role->shops[i]);
	free(role->shops);
	*role = (struct person_role){ 0 };
}

void person_clear(struct person *person)
{
	for (int i = 0; i < ROLES; i++)
		clear_role(&person->roles[i]);
	OPENSSL_cleanse(person, sizeof(*person));
}

void person_copy(const struct person *from, struct person *ret)
{
	*ret = *from;
	for (int i = 0; i < ROLES; i++) {
		const struct person_role *role = &from->roles[i];

		ret->roles[i].shops =
			role->shop_count ? memory_new(role->shop_count * sizeof(*ret->roles[i].shops)) : NULL;
		for (size_t shop = 0; shop < role->shop_count; shop++)
			ret->roles[i].shops[shop] = memory_copy_text(role->shops[shop]);
	}
}

void person_new_version(struct person *person)
{
	struct hash_key random = hash_key_new();

	person->version = (int64_t)(random.words[0] >> 1 | 1); /* never 0, and a number of JSON */
}

void person_drop_totp(struct person *person)
{
	person->has_totp = false;
	person->totp_counter = 0;
	person->recovery_count = 0;
	OPENSSL_cleanse(person->totp, sizeof(person->totp));
	OPENSSL_cleanse(person->recovery, sizeof(person->recovery));
}

/* ---- roles ---- */

const char *role_name(enum role role)
{
	return roles[role].name;
}

int role_named(const char *name, enum role *ret)
{
	for (int role = 0; role < ROLES; role++)
		if (strcmp(roles[role].name, name) == 0) {
			*ret = (enum role)role;
			return 0;
		}
	return -EINVAL;
}

bool role_is_for_shops(enum role role)
{
	return roles[role].is_for_shops;
}

const char *right_name(enum right right)
{
	return right > RIGHT_NONE && right < RIGHTS ? right_names[right] : right_names[RIGHT_NONE];
}

bool right_is_about_shop(enum right right)
{
	return right >= RIGHT_SEE && right <= RIGHT_AUDIT;
}

bool role_gives(enum role role, enum right right)
{
	return right > RIGHT_NONE && right < RIGHTS && (roles[role].rights >> right & 1);
}

static int compare_shops(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static size_t shop_at(const struct person_role *role, const char *shop)
{
	size_t at = 0;

	while (at < role->shop_count && strcmp(role->shops[at], shop) != 0)
		at++;
	return at;
}

/* "owner:demo,other": the role, and its list; NULL: there is none, or it is "*". */
static int read_role(const char *text, enum role *ret, const char **ret_shops)
{
	char name[16];
	size_t len = strcspn(text, ":");
	const char *shops = text[len] ? text + len + 1 : NULL;

	if (!text_copy_bytes(name, sizeof(name), BYTES(text, len)) || role_named(name, ret) < 0)
		return -EINVAL;
	if (shops && strcmp(shops, "*") == 0)
		shops = NULL;
	else if (shops && !role_is_for_shops(*ret))
		return -EINVAL;
	*ret_shops = shops;
	return 0;
}

/* Takes the next of "demo,other"; -EINVAL: it is no shop's name. */
static int next_shop(const char **list, char ret[PERSON_SHOP_ROOM])
{
	size_t len = strcspn(*list, ",");

	if (!text_copy_bytes(ret, PERSON_SHOP_ROOM, BYTES(*list, len)) || !shop_name_valid(ret))
		return -EINVAL;
	*list = (*list)[len] ? *list + len + 1 : NULL;
	return 0;
}

static int add_shop(struct person_role *role, const char *shop)
{
	if (shop_at(role, shop) < role->shop_count)
		return 0;
	if (role->shop_count == PERSON_SHOPS_MOST)
		return -E2BIG;
	role->shops = memory_resize(role->shops, (role->shop_count + 1) * sizeof(*role->shops));
	role->shops[role->shop_count++] = memory_copy_text(shop);
	qsort(role->shops, role->shop_count, sizeof(*role->shops), compare_shops);
	return 0;
}

static int remove_shop(struct person_role *role, const char *shop)
{
	size_t at = shop_at(role, shop);

	if (at == role->shop_count)
		return -ENOENT;
	free(role->shops[at]);
	role->shop_count--;
	memmove(role->shops + at, role->shops + at + 1, (role->shop_count - at) * sizeof(*role->shops));
	return 0;
}

static int change_shops(struct person_role *role, const char *list, int (*change)(struct person_role *, const char *))
{
	char shop[PERSON_SHOP_ROOM];
	int r = 0;

	while (r == 0 && list) {
		r = next_shop(&list, shop);
		if (r == 0)
			r = change(role, shop);
	}
	return r;
}

static void hold_for_all(struct person_role *role)
{
	clear_role(role);
	role->is_held = role->for_all_shops = true;
}

int person_role_add(struct person *person, const char *text)
{
	const char *list = NULL;
	struct person_role *held;
	enum role role;
	int r = read_role(text, &role, &list);

	if (r < 0)
		return r;
	held = &person->roles[role];
	if (!list) {
		hold_for_all(held);
		return 0;
	}
	if (held->for_all_shops)
		return 0;
	r = change_shops(held, list, add_shop);
	held->is_held = held->shop_count > 0;
	return r;
}

int person_role_remove(struct person *person, const char *text)
{
	const char *list = NULL;
	struct person_role *held;
	enum role role;
	int r = read_role(text, &role, &list);

	if (r < 0)
		return r;
	held = &person->roles[role];
	if (!held->is_held)
		return -ENOENT;
	if (list && held->for_all_shops)
		return -ERANGE;
	if (list)
		r = change_shops(held, list, remove_shop);
	if (!list || held->shop_count == 0)
		clear_role(held);
	return r;
}

const char *person_role_words(int error)
{
	switch (error) {
	case -ENOENT:
		return "the person does not have this role";
	case -ERANGE:
		return "the role is held for all shops: take it away whole, then add it for some shops";
	case -E2BIG:
		return "these are too many shops for one role: give it for all shops (\"*\")";
	default:
		return "expected viewer, approver or owner, with a list of shops (owner:demo,other) or for all shops (owner), "
		       "or operator or admin";
	}
}

/* ---- rights ---- */

static bool is_for(const struct person_role *role, const char *shop)
{
	return role->for_all_shops || (shop && shop_at(role, shop) < role->shop_count);
}

bool person_may(const struct person *person, enum right right, const char *shop)
{
	for (int role = 0; person && role < ROLES; role++) {
		const struct person_role *held = &person->roles[role];

		if (held->is_held && role_gives((enum role)role, right) &&
			(!right_is_about_shop(right) || is_for(held, shop)))
			return true;
	}
	return false;
}

bool person_may_somewhere(const struct person *person, enum right right)
{
	for (int role = 0; person && role < ROLES; role++)
		if (person->roles[role].is_held && role_gives((enum role)role, right))
			return true;
	return false;
}

bool person_is_admin(const struct person *person)
{
	return person->roles[ROLE_ADMIN].is_held;
}

bool person_needs_totp(const struct person *person)
{
	return person->roles[ROLE_OPERATOR].is_held || person->roles[ROLE_ADMIN].is_held;
}
