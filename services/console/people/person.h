/*
 * person.h: a person who may use the console, with the roles that he or she has and the rights that these give
 *
 * Viewer, approver and owner are roles for some shops or for all; operator and admin are roles for the whole
 * installation. A role is a set of rights. Rights about one shop are asked with the shop's name.
 *
 * Read next: people_file.h (where people are kept), sign_in.h
 */
#ifndef CONSOLE_PEOPLE_PERSON_H
#define CONSOLE_PEOPLE_PERSON_H

#include "services/kit/console/right.h"
#include "services/kit/shop/shop.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	PERSON_NAME_ROOM = 49, /* an audit's `who` has room for it */
	PERSON_SHOP_ROOM = 64, /* as struct shop's name */
	PERSON_LOCALE_ROOM = 24,
	PERSON_HASH_ROOM = 160, /* argon2id as libsodium writes it, 128 at most */
	PERSON_TOTP_LEN = 20,
	PERSON_RECOVERY_CODES = 10,
	PERSON_RECOVERY_LEN = 32,
	PERSON_SHOPS_MOST = 1000 /* of one role; more are given as all shops */
};

enum role { ROLE_VIEWER, ROLE_APPROVER, ROLE_OWNER, ROLE_OPERATOR, ROLE_ADMIN, ROLES };

struct person_role {
	bool is_held, for_all_shops; /* operator and admin are always for all shops */
	char **shops;                /* owned, sorted; NULL if for all */
	size_t shop_count;
};

struct person {
	char name[PERSON_NAME_ROOM]; /* as person_name_read gives it */
	struct person_role roles[ROLES];
	/*
	 * Changes at random with each change that ends the person's sessions: of the password, the second factor or
	 * the roles. It never repeats, also if a person is removed and added again.
	 */
	int64_t version;
	int64_t made_us;
	char locale[PERSON_LOCALE_ROOM]; /* "de-AT"; "": as the browser asks */
	char password[PERSON_HASH_ROOM]; /* argon2id (password.h); "": none is set yet */
	bool has_totp;
	uint8_t totp[PERSON_TOTP_LEN];
	uint64_t totp_counter; /* of the last accepted code; no code of it or before is accepted again */
	int recovery_count;
	uint8_t recovery[PERSON_RECOVERY_CODES][PERSON_RECOVERY_LEN]; /* recovery_code.h; a used one is gone */
};

/*
 * Reads the name of a person: 1 to 48 letters, digits and . _ - + @, of which the first is a letter or a digit. Capital
 * letters become small ones, so that no name only looks like another. -EINVAL
 */
int person_name_read(const char *text, char ret[PERSON_NAME_ROOM]);

/* gives memory back, wipes secrets, leaves it all zero; usable as _cleanup_(person_clear) */
void person_clear(struct person *person);
void person_copy(const struct person *from, struct person *ret);
void person_new_version(struct person *person);
void person_drop_totp(struct person *person); /* with its recovery codes */

/* ---- roles ---- */

const char *role_name(enum role role);            /* "viewer" */
int role_named(const char *name, enum role *ret); /* -EINVAL */
bool role_is_for_shops(enum role role);           /* false: for the whole installation */
const char *right_name(enum right right);         /* "see-address"; never NULL */
bool right_is_about_shop(enum right right);       /* false: about the installation */
bool role_gives(enum role role, enum right right);

/*
 * Reads a role as people type it: "admin", "owner:demo,other", "viewer:*"; a role for shops without a list is for all
 * shops. Adds it to the person, or takes it away ("owner:demo" leaves the owner's other shops). It does not change
 * `version`. After an error the person may be changed in part. -EINVAL: no role, a list where there may be none, or the name of no shop; -ENOENT: the person does not have
 * the role that is to be taken away; -ERANGE: one of some shops is taken from a role for all; -E2BIG: too many shops.
 */
int person_role_add(struct person *person, const char *text);
int person_role_remove(struct person *person, const char *text);
const char *person_role_words(int error); /* these errors in words */

/* ---- rights ---- */

/*
 * May this person do it? A right about a shop is asked with the shop; NULL asks for all shops. Of a right about the
 * installation `shop` does not count. `person` NULL: no.
 */
bool person_may(const struct person *person, enum right right, const char *shop);
bool person_may_somewhere(const struct person *person, enum right right); /* for one shop at least */
bool person_is_admin(const struct person *person);
/* An operator or admin signs in with a second factor only. A switch to live mode asks for one too; pages check has_totp. */
bool person_needs_totp(const struct person *person);

#endif
