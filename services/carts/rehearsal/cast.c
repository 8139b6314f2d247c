/* cast.c: the services that are rehearsed, each with its state */
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

enum { FAILURES_USUAL = 5 }; /* of a service that declares nothing, as the broker has it */

struct cast {
	struct replay *alone[ROLES];
	struct sender sender;
};

static struct service_context context_of(const struct cast *cast, int role)
{
	return role == ROLE_SENDER ? sender_in(&cast->sender) : (struct service_context){ .service = services[role] };
}

struct cast *cast_new(const char *folder, char ret_why[512])
{
	struct cast *cast = memory_new(sizeof(*cast));

	/* Mails are written, because what cannot be written is not sent; nobody ever sees their links. */
	sender_set_up(&cast->sender,
		&(struct sender_setup){ .public_url = "https://rehearsal.invalid",
			.link_key = bytes_of("rehearsed mails are never sent !") });
	for (int role = 0; role < ROLES; role++) {
		char path[512];

		snprintf(path, sizeof(path), "%s/%s", folder ? folder : "", services[role]->name);
		cast->alone[role] = replay_new_in(context_of(cast, role), folder ? path : NULL, ret_why);
		if (!cast->alone[role]) {
			cast_free(cast);
			return NULL;
		}
	}
	return cast;
}

void cast_free(struct cast *cast)
{
	if (!cast)
		return;
	for (int role = 0; role < ROLES; role++)
		replay_free(cast->alone[role]);
	free(cast);
}

struct replay *cast_alone(const struct cast *cast, enum role role)
{
	return cast->alone[role];
}

enum role cast_hears(const struct cast *cast, const char *topic)
{
	for (int role = 0; role < ROLES; role++) {
		if (replay_hears(cast->alone[role], topic))
			return (enum role)role;
	}
	return ROLE_NONE;
}

uint32_t cast_failures_max(enum role role)
{
	return services[role]->failures_max ? services[role]->failures_max : FAILURES_USUAL;
}

bool cast_says(const struct cast *cast, const char *topic)
{
	for (int role = 0; role < ROLES; role++) {
		if (replay_says(cast->alone[role], topic))
			return true;
	}
	return false;
}

void cast_fold(struct cast *cast, const struct message_meta *said, struct bytes payload, enum role has_it)
{
	for (int role = 0; role < ROLES; role++) {
		if (role != (int)has_it)
			replay_fold(cast->alone[role], said, payload);
	}
}
