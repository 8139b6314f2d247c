/*
 * sign_in.c: what a person has to show, one after the other, to get a session
 *
 * Promises:  a code, a recovery code or a link is used up on the disk before a session is granted for it. It is checked
 *            against the file under its lock, so that two that come at once do not both get in. A wrong name and a wrong
 *            password cost the same and are told alike.
 * Fails by:  SIGN_IN_FAILED with words; then nothing is granted.
 */
#include "services/console/people/sign_in.h"

#include "bus/base/text.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

static void answer(struct sign_in_answer *ret, enum sign_in_verdict verdict)
{
	ret->verdict = verdict;
}

static int64_t now_of(const struct sign_in *sign_in)
{
	return clock_wall_us(sign_in->clock);
}

/* false: the people cannot be read now. */
static bool begin(const struct sign_in *sign_in, struct sign_in_answer *ret)
{
	*ret = (struct sign_in_answer){ .verdict = SIGN_IN_FAILED };
	return people_look(sign_in->people, ret->why) >= 0;
}

static void fail(const struct sign_in *sign_in, const struct sign_in_from *from, struct sign_in_answer *ret)
{
	throttle_failed(sign_in->throttle, ret->person, from->network, now_of(sign_in));
	answer(ret, SIGN_IN_WRONG);
}

/* ---- granting ---- */

static struct session_origin origin_of(const struct sign_in_from *from, char network[64])
{
	struct session_origin origin = from->origin;

	network[0] = '\0';
	if (from->network)
		source_key_text(from->network, network);
	if (!origin.network)
		origin.network = network;
	return origin;
}

/* After the password: what is asked for next, or a whole session. */
static void grant(const struct sign_in *sign_in, const struct sign_in_from *from, const struct person *person,
	struct sign_in_answer *ret)
{
	bool needs = person_needs_totp(person) && !sign_in->needs_no_factor;
	enum session_step step = person->has_totp ? SESSION_PASSWORD : needs ? SESSION_ENROLS : SESSION_FULL;
	char network[64];
	struct session_origin origin = origin_of(from, network);

	session_start(sign_in->sessions, person, step, &origin, ret->id);
	if (step == SESSION_FULL)
		throttle_succeeded(sign_in->throttle, person->name);
	answer(ret, step == SESSION_PASSWORD ? SIGN_IN_CODE : step == SESSION_ENROLS ? SIGN_IN_ENROL : SIGN_IN_DONE);
}

/* The session goes on under a new id, as a whole one; the person's others end if `alone`. */
static void grant_again(const struct sign_in *sign_in, const char *id, bool alone, struct sign_in_answer *ret)
{
	if (session_renew(sign_in->sessions, id, SESSION_FULL, ret->id) < 0) {
		answer(ret, SIGN_IN_ENDED);
		return;
	}
	if (alone)
		session_end_person(sign_in->sessions, ret->person, ret->id, NULL);
	throttle_succeeded(sign_in->throttle, ret->person);
	answer(ret, SIGN_IN_DONE);
}

/* ---- the password ---- */

static int set_password(struct person *person, void *context)
{
	TEXT_COPY(person->password, context);
	return 0;
}

/* Our parameters have changed since: the hash is made anew while the password is at hand. If it fails, the old one stays. */
static void renew_hash(const struct sign_in *sign_in, const struct person *person, struct bytes password)
{
	char hash[PERSON_HASH_ROOM], name[PERSON_NAME_ROOM], why[PEOPLE_WHY];

	if (!password_needs_rehash(person->password) || password_hash(sign_in->key, password, hash) < 0)
		return;
	TEXT_COPY(name, person->name);
	people_change(sign_in->people, name, set_password, hash, why);
}

void sign_in_try(const struct sign_in *sign_in, const struct sign_in_from *from, const char *name,
	struct bytes password, struct sign_in_answer *ret)
{
	const struct person *person;

	if (!begin(sign_in, ret))
		return;
	person_name_read(name, ret->person); /* "" is nobody's name, and counts as one name for the throttle */
	ret->wait_us = throttle_wait_us(sign_in->throttle, ret->person, from->network, now_of(sign_in));
	if (ret->wait_us > 0) {
		answer(ret, SIGN_IN_WAIT);
		return;
	}
	person = people_find(sign_in->people, ret->person);
	if (!password_matches(sign_in->key, password, person ? person->password : NULL)) {
		fail(sign_in, from, ret);
		return;
	}
	renew_hash(sign_in, person, password);
	person = people_find(sign_in->people, ret->person);
	if (person)
		grant(sign_in, from, person, ret);
	else
		fail(sign_in, from, ret);
}

/* ---- codes ---- */

struct spending {
	struct bytes key;
	const char *code;
	int64_t now_us, version;
	bool may_recover;
};

/* -ESTALE: the person was changed since the session was found; -EKEYREJECTED: it is no code. */
static int spend_code(struct person *person, void *context)
{
	const struct spending *spending = context;

	if (person->version != spending->version || !person->has_totp)
		return -ESTALE;
	if (totp_accepts(person->totp, spending->code, spending->now_us, person->totp_counter, &person->totp_counter))
		return 0;
	return spending->may_recover && recovery_code_spend(spending->key, person, spending->code) ? 0 : -EKEYREJECTED;
}

static int spend(const struct sign_in *sign_in, const char *code, bool may_recover, struct sign_in_answer *ret)
{
	const struct person *person = people_find(sign_in->people, ret->person);
	struct spending spending = { .key = sign_in->key,
		.code = code,
		.now_us = now_of(sign_in),
		.version = person ? person->version : 0,
		.may_recover = may_recover };

	return people_change(sign_in->people, ret->person, spend_code, &spending, ret->why);
}

/* The session of `id`, which is at this step. NULL: the answer is SIGN_IN_ENDED. */
static const struct session *session_at(
	const struct sign_in *sign_in, const char *id, enum session_step step, struct sign_in_answer *ret)
{
	const struct session *session = session_find(sign_in->sessions, id, true);

	answer(ret, SIGN_IN_ENDED);
	if (!session || session->step != step)
		return NULL;
	TEXT_COPY(ret->person, session->person);
	return session;
}

static void fail_proof(
	const struct sign_in *sign_in, const struct sign_in_from *from, const char *id, struct sign_in_answer *ret)
{
	ret->why[0] = '\0';
	fail(sign_in, from, ret);
	if (session_wrong_proof(sign_in->sessions, id) >= SESSION_WRONG_MOST)
		answer(ret, SIGN_IN_ENDED);
}

/* What came of spending a code, in a session. */
static void conclude(const struct sign_in *sign_in, const struct sign_in_from *from, const char *id, int r,
	struct sign_in_answer *ret)
{
	if (r == 0)
		grant_again(sign_in, id, false, ret);
	else if (r == -EKEYREJECTED)
		fail_proof(sign_in, from, id, ret);
	else
		answer(ret, r == -ESTALE || r == -ENOENT ? SIGN_IN_ENDED : SIGN_IN_FAILED);
}

void sign_in_code(const struct sign_in *sign_in, const struct sign_in_from *from, const char *id, const char *code,
	struct sign_in_answer *ret)
{
	if (!begin(sign_in, ret) || !session_at(sign_in, id, SESSION_PASSWORD, ret))
		return;
	ret->wait_us = throttle_wait_us(sign_in->throttle, ret->person, from->network, now_of(sign_in));
	if (ret->wait_us > 0) {
		answer(ret, SIGN_IN_WAIT);
		return;
	}
	conclude(sign_in, from, id, spend(sign_in, code, true, ret), ret);
}

static bool looks_like_code(const char *text)
{
	return strspn(text, "0123456789 ") == strlen(text) && strlen(text) <= TOTP_DIGITS + 2;
}

void sign_in_again(const struct sign_in *sign_in, const struct sign_in_from *from, const char *id, struct bytes proof,
	struct sign_in_answer *ret)
{
	_cleanup_(buffer_free_secret) struct buffer text = { 0 };
	const struct person *person;

	if (!begin(sign_in, ret) || !session_at(sign_in, id, SESSION_FULL, ret))
		return;
	person = people_find(sign_in->people, ret->person);
	buffer_add(&text, proof.data, proof.len);
	if (person->has_totp && looks_like_code(buffer_text(&text)))
		conclude(sign_in, from, id, spend(sign_in, buffer_text(&text), false, ret), ret);
	else
		conclude(sign_in, from, id, password_matches(sign_in->key, proof, person->password) ? 0 : -EKEYREJECTED,
			ret);
}

/* ---- the second factor is set up ---- */

struct enrolling {
	struct bytes key;
	const uint8_t *secret;
	uint64_t counter;
	int64_t version;
	bool is_first; /* the role asks for one: somebody else must not have set it up meanwhile */
	char (*codes)[RECOVERY_CODE_ROOM];
};

static int set_totp(struct person *person, void *context)
{
	const struct enrolling *enrolling = context;

	if (person->version != enrolling->version || (enrolling->is_first && person->has_totp))
		return -ESTALE;
	memcpy(person->totp, enrolling->secret, sizeof(person->totp));
	person->has_totp = true;
	person->totp_counter = enrolling->counter;
	recovery_codes_new(enrolling->key, person, enrolling->codes);
	person_new_version(person);
	return 0;
}

/* In a session that just gave the password, or in a whole one that did so some minutes ago at most. */
static bool may_enrol(const struct sign_in *sign_in, const char *id, bool *ret_is_first, struct sign_in_answer *ret)
{
	const struct session *session = session_find(sign_in->sessions, id, true);

	answer(ret, SIGN_IN_ENDED);
	*ret_is_first = session && session->step == SESSION_ENROLS;
	if (!session || !(*ret_is_first || session_is_fresh(sign_in->sessions, session)))
		return false;
	TEXT_COPY(ret->person, session->person);
	return true;
}

void sign_in_enrol(const struct sign_in *sign_in, const char *id, const uint8_t secret[PERSON_TOTP_LEN],
	const char *code, char ret_codes[PERSON_RECOVERY_CODES][RECOVERY_CODE_ROOM], struct sign_in_answer *ret)
{
	struct enrolling enrolling = { .key = sign_in->key, .secret = secret, .codes = ret_codes };
	int r;

	if (!begin(sign_in, ret) || !may_enrol(sign_in, id, &enrolling.is_first, ret))
		return;
	if (!totp_accepts(secret, code, now_of(sign_in), 0, &enrolling.counter)) {
		answer(ret, SIGN_IN_WRONG);
		return;
	}
	enrolling.version = people_find(sign_in->people, ret->person)->version;
	r = people_change(sign_in->people, ret->person, set_totp, &enrolling, ret->why);
	if (r == 0)
		grant_again(sign_in, id, true, ret);
	else
		answer(ret, r == -ESTALE || r == -ENOENT ? SIGN_IN_ENDED : SIGN_IN_FAILED);
}

/* ---- new passwords ---- */

/* false: the answer says why this password is none. */
static bool hash_new(
	const struct sign_in *sign_in, struct bytes password, char hash[PERSON_HASH_ROOM], struct sign_in_answer *ret)
{
	ret->fault = password_judge(password, ret->person, sign_in->guessed);
	if (ret->fault != PASSWORD_FINE) {
		answer(ret, SIGN_IN_UNFIT);
		return false;
	}
	if (password_hash(sign_in->key, password, hash) == 0)
		return true;
	snprintf(ret->why, sizeof(ret->why), "there is too little memory to hash a password: try again");
	answer(ret, SIGN_IN_FAILED);
	return false;
}

struct replacing {
	const char *hash;
	int64_t version; /* 0: any */
	bool drops_totp;
};

static int replace_password(struct person *person, void *context)
{
	const struct replacing *replacing = context;

	if (replacing->version && person->version != replacing->version)
		return -ESTALE;
	TEXT_COPY(person->password, replacing->hash);
	if (replacing->drops_totp)
		person_drop_totp(person);
	person_new_version(person);
	return 0;
}

void sign_in_new_password(
	const struct sign_in *sign_in, const char *id, struct bytes password, struct sign_in_answer *ret)
{
	const struct session *session;
	char hash[PERSON_HASH_ROOM];
	int r;

	if (!begin(sign_in, ret))
		return;
	session = session_at(sign_in, id, SESSION_FULL, ret);
	if (!session || !session_is_fresh(sign_in->sessions, session) || !hash_new(sign_in, password, hash, ret))
		return;
	r = people_change(sign_in->people, ret->person, replace_password,
		&(struct replacing){ .hash = hash, .version = people_find(sign_in->people, ret->person)->version },
		ret->why);
	if (r == 0)
		grant_again(sign_in, id, true, ret);
	else
		answer(ret, r == -ESTALE || r == -ENOENT ? SIGN_IN_ENDED : SIGN_IN_FAILED);
}

/* ---- links ---- */

static void refuse_link(const struct sign_in *sign_in, const struct sign_in_from *from, struct sign_in_answer *ret)
{
	throttle_failed(sign_in->throttle, NULL, from->network, now_of(sign_in));
	answer(ret, SIGN_IN_WRONG);
}

/* Whose password it will be; false: the answer says why nobody's. */
static bool name_by_link(const struct sign_in *sign_in, const struct sign_in_from *from, const struct entry_link *link,
	const char *name, struct sign_in_answer *ret)
{
	if (link->person[0]) {
		TEXT_COPY(ret->person, link->person);
		if (people_find(sign_in->people, link->person))
			return true;
		refuse_link(sign_in, from, ret);
		return false;
	}
	if (people_have_admin(sign_in->people)) {
		snprintf(ret->why, sizeof(ret->why), "there is an admin already, who can add people");
		refuse_link(sign_in, from, ret);
		return false;
	}
	answer(ret, SIGN_IN_UNFIT);
	if (person_name_read(name, ret->person) < 0)
		snprintf(ret->why, sizeof(ret->why),
			"expected a name of letters, digits and . _ - + @, 48 characters at most");
	else if (people_find(sign_in->people, ret->person))
		snprintf(ret->why, sizeof(ret->why), "there is a person %s already", ret->person);
	else
		return true;
	return false;
}

static int add_first_admin(const struct sign_in *sign_in, const char *hash, struct sign_in_answer *ret)
{
	struct person admin = { .made_us = now_of(sign_in) };
	int r;

	TEXT_COPY(admin.name, ret->person);
	TEXT_COPY(admin.password, hash);
	person_role_add(&admin, "admin");
	person_new_version(&admin);
	r = people_add(sign_in->people, &admin, ret->why);
	person_clear(&admin);
	return r;
}

static int set_by_link(
	const struct sign_in *sign_in, const struct entry_link *link, const char *hash, struct sign_in_answer *ret)
{
	if (!link->person[0])
		return add_first_admin(sign_in, hash, ret);
	return people_change(sign_in->people, ret->person, replace_password,
		&(struct replacing){ .hash = hash, .drops_totp = link->drops_totp }, ret->why);
}

void sign_in_by_link(const struct sign_in *sign_in, const struct sign_in_from *from, const char *token,
	const char *name, struct bytes password, struct sign_in_answer *ret)
{
	const char *folder = people_folder(sign_in->people);
	char hash[PERSON_HASH_ROOM];
	struct entry_link link;
	int r;

	if (!begin(sign_in, ret))
		return;
	if (entry_link_look(folder, token, now_of(sign_in), &link) < 0) {
		refuse_link(sign_in, from, ret);
		return;
	}
	if (!name_by_link(sign_in, from, &link, name, ret) || !hash_new(sign_in, password, hash, ret))
		return;
	r = entry_link_spend(folder, token, now_of(sign_in), &link, ret->why);
	if (r == 0)
		r = set_by_link(sign_in, &link, hash, ret);
	if (r < 0) {
		answer(ret, SIGN_IN_FAILED);
		return;
	}
	session_end_person(sign_in->sessions, ret->person, NULL, NULL);
	throttle_succeeded(sign_in->throttle, ret->person);
	grant(sign_in, from, people_find(sign_in->people, ret->person), ret);
}
