/* services_under_test.c: the services that are rehearsed, each with its state */
#include "bus/base/memory.h"
#include "services/carts/intake/intake.h"
#include "services/carts/rehearsal/inside.h"
#include "services/carts/sender/sender.h"
#include "services/carts/waiter/waiter.h"
#include "services/platform/timer/timer.h"
#include <stdio.h>
#include <stdlib.h>

static const struct service *const services[ROLES] = {
	[ROLE_INTAKE] = &intake, [ROLE_WAITER] = &waiter, [ROLE_SENDER] = &sender, [ROLE_TIMER] = &timer
};

enum { FAILURES_USUAL = 5 }; /* the broker's limit for a service that declares none */

struct services_under_test {
	struct replay *replay[ROLES];
	struct sender sender;
};

static struct service_context context_of(const struct services_under_test *under_test, int role)
{
	return role == ROLE_SENDER ? sender_in(&under_test->sender)
				   : (struct service_context){ .service = services[role] };
}

struct services_under_test *services_under_test_new(const char *folder, char ret_why[512])
{
	struct services_under_test *under_test = memory_new(sizeof(*under_test));

	/*
	 * Mails are written, because a mail that cannot be written is skipped. They are never sent, so any
	 * links will do.
	 */
	sender_set_up(&under_test->sender,
		&(struct sender_setup){ .public_url = "https://rehearsal.invalid",
			.link_key = bytes_of("rehearsed mails are never sent !") });
	for (int role = 0; role < ROLES; role++) {
		char path[512];

		snprintf(path, sizeof(path), "%s/%s", folder ? folder : "", services[role]->name);
		under_test->replay[role] = replay_new_in(context_of(under_test, role), folder ? path : NULL, ret_why);
		if (!under_test->replay[role]) {
			services_under_test_free(under_test);
			return NULL;
		}
	}
	return under_test;
}

void services_under_test_free(struct services_under_test *under_test)
{
	if (!under_test)
		return;
	for (int role = 0; role < ROLES; role++)
		replay_free(under_test->replay[role]);
	free(under_test);
}

struct replay *services_under_test_replay(const struct services_under_test *under_test, enum role role)
{
	return under_test->replay[role];
}

enum role services_under_test_hears(const struct services_under_test *under_test, const char *topic)
{
	for (int role = 0; role < ROLES; role++) {
		if (replay_hears(under_test->replay[role], topic))
			return (enum role)role;
	}
	return ROLE_NONE;
}

uint32_t services_under_test_failures_max(enum role role)
{
	return services[role]->failures_max ? services[role]->failures_max : FAILURES_USUAL;
}

bool services_under_test_says(const struct services_under_test *under_test, const char *topic)
{
	for (int role = 0; role < ROLES; role++) {
		if (replay_says(under_test->replay[role], topic))
			return true;
	}
	return false;
}

void services_under_test_fold(
	struct services_under_test *under_test, const struct message_meta *said, struct bytes payload, enum role has_it)
{
	for (int role = 0; role < ROLES; role++) {
		if (role != (int)has_it)
			replay_fold(under_test->replay[role], said, payload);
	}
}
