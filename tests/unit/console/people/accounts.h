/*
 * accounts.h: an installation's people, sessions and throttle in a folder of a test, under a clock that the test moves
 */
#ifndef TESTS_UNIT_CONSOLE_PEOPLE_ACCOUNTS_H
#define TESTS_UNIT_CONSOLE_PEOPLE_ACCOUNTS_H

#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "services/console/people/folder.h"
#include "services/console/people/sign_in.h"
#include "tests/unit/cmocka_all.h"
#include "tests/unit/folder.h"
#include <string.h>

#define ACCOUNTS_KEY "0123456789abcdef0123456789abcdef"
#define ACCOUNTS_PASSWORD "a long walk by the river"
#define ACCOUNTS_START_US (INT64_C(1764000000) * US_PER_S)

struct accounts {
	struct folder folder;
	char people_path[128], sessions_path[128], throttle_path[128];
	struct clock clock;
	struct people *people;
	struct sessions *sessions;
	struct throttle *throttle;
	struct sign_in sign_in;
	char why[PEOPLE_WHY];
};

/* Opens what is on the disk, as a process does when it starts. */
static inline void accounts_start(struct accounts *accounts)
{
	assert_int_equal(people_open(accounts->people_path, &accounts->people, accounts->why), 0);
	accounts->sessions = sessions_open(accounts->sessions_path, accounts->people, bytes_of(ACCOUNTS_KEY),
		&accounts->clock, &session_times_usual, accounts->why);
	accounts->throttle = throttle_open(accounts->throttle_path, clock_wall_us(&accounts->clock));
	accounts->sign_in = (struct sign_in){ .people = accounts->people,
		.sessions = accounts->sessions,
		.throttle = accounts->throttle,
		.key = bytes_of(ACCOUNTS_KEY),
		.clock = &accounts->clock };
}

static inline void accounts_stop(struct accounts *accounts)
{
	throttle_write(accounts->throttle, clock_wall_us(&accounts->clock), true);
	sessions_write(accounts->sessions);
	throttle_free(TAKE(accounts->throttle));
	sessions_free(TAKE(accounts->sessions));
	people_free(TAKE(accounts->people));
}

static inline void accounts_restart(struct accounts *accounts)
{
	accounts_stop(accounts);
	accounts_start(accounts);
}

static inline int accounts_setup(void **state)
{
	struct accounts *accounts = memory_new(sizeof(*accounts));

	accounts->folder = folder_new();
	accounts->clock = clock_virtual(ACCOUNTS_START_US);
	FOLDER_PATH(accounts->people_path, accounts->folder, "people");
	FOLDER_PATH(accounts->sessions_path, accounts->folder, "console/sessions");
	FOLDER_PATH(accounts->throttle_path, accounts->folder, "console/throttle");
	assert_int_equal(password_start(), 0);
	assert_int_equal(people_folder_make(accounts->people_path, NULL), 0);
	accounts_start(accounts);
	*state = accounts;
	return 0;
}

static inline int accounts_teardown(void **state)
{
	struct accounts *accounts = *state;

	accounts_stop(accounts);
	folder_remove(&accounts->folder);
	free(accounts);
	return 0;
}

static inline void accounts_wait(struct accounts *accounts, int64_t us)
{
	accounts->clock.virtual_us += us;
}

/* A person with the password above; "role" as person_role_add reads it. */
static inline void accounts_add(struct accounts *accounts, const char *name, const char *role)
{
	struct person person = { .made_us = ACCOUNTS_START_US };

	TEXT_COPY(person.name, name);
	assert_int_equal(person_role_add(&person, role), 0);
	assert_int_equal(password_hash(bytes_of(ACCOUNTS_KEY), bytes_of(ACCOUNTS_PASSWORD), person.password), 0);
	person_new_version(&person);
	assert_int_equal(people_add(accounts->people, &person, accounts->why), 0);
	person_clear(&person);
}

static const uint8_t accounts_totp[PERSON_TOTP_LEN] = "12345678901234567890";

static inline int accounts_set_totp(struct person *person, void *context)
{
	(void)context;
	person->has_totp = true;
	memcpy(person->totp, accounts_totp, sizeof(accounts_totp));
	return 0;
}

static inline void accounts_give_totp(struct accounts *accounts, const char *name)
{
	assert_int_equal(people_change(accounts->people, name, accounts_set_totp, NULL, accounts->why), 0);
}

/* The code of the present step, or one so many steps away. */
static inline const char *accounts_code(const struct accounts *accounts, int steps, char ret[16])
{
	uint64_t counter = totp_counter(clock_wall_us(&accounts->clock)) + (uint64_t)(int64_t)steps;

	snprintf(ret, 16, "%06u", totp_code(accounts_totp, counter, TOTP_DIGITS));
	return ret;
}

static inline struct sign_in_from accounts_from(const char *address, struct source_key *key)
{
	assert_true(source_key_of_text(address, key));
	return (struct sign_in_from){ .network = key, .origin = { .browser = "Firefox" } };
}

static inline struct sign_in_answer accounts_try(struct accounts *accounts, const char *name, const char *password)
{
	struct sign_in_answer answer;
	struct source_key key;
	struct sign_in_from from = accounts_from("192.0.2.1", &key);

	sign_in_try(&accounts->sign_in, &from, name, bytes_of(password), &answer);
	return answer;
}

static inline struct sign_in_answer accounts_code_try(struct accounts *accounts, const char *id, const char *code)
{
	struct sign_in_answer answer;
	struct source_key key;
	struct sign_in_from from = accounts_from("192.0.2.1", &key);

	sign_in_code(&accounts->sign_in, &from, id, code, &answer);
	return answer;
}

static inline struct sign_in_answer accounts_enter(
	struct accounts *accounts, const char *token, const char *name, const char *password)
{
	struct sign_in_answer answer;
	struct source_key key;
	struct sign_in_from from = accounts_from("192.0.2.1", &key);

	sign_in_by_link(&accounts->sign_in, &from, token, name, bytes_of(password), &answer);
	return answer;
}

#endif
