/*
 * doctor_far.c: what only a host has to have that reaches its broker over TCP: keys that are known there, and the same time
 *
 * Promises:  each key is looked at by itself: the one that this command shows may be good, and a sender's revoked.
 * Read next: bus/actor/process/keys.c
 */
#include "services/cartbus/doctor/doctor.h"

#include "bus/actor/process/keys.h"
#include "services/cartbus/core/reading.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

static const char AREA[] = "keys";
static const int64_t APART_US = 60 * US_PER_S;

struct trying {
	struct doctor *doctor;
	const char *broker;
};

static void tell_key(const char *name, int known, const char *why, void *context)
{
	const struct trying *trying = context;
	char remedy[512];

	snprintf(remedy, sizeof(remedy),
		"on the broker's host: cartbus keys make, or rotate; copy the new key here as %.64s.key, and restart "
		"what shows it",
		name);
	if (known == 0)
		found(trying->doctor, FINDING_FINE, AREA, "", "the broker at %s knows the key %s", trying->broker,
			name);
	else if (known == -EACCES)
		found(trying->doctor, FINDING_WRONG, AREA, remedy,
			"the broker at %s does not know the key %s: it was revoked, or never made", trying->broker,
			name);
	else if (why[0])
		found(trying->doctor, FINDING_WRONG, AREA, remedy, "%s", why);
	else
		found(trying->doctor, FINDING_WRONG, AREA,
			"is that host up, and do its port and the 255 above it let this one in? Is broker.pub that "
			"broker's own?",
			"nobody who holds the key of broker.pub answers at %s to the key %s", trying->broker, name);
}

void look_at_keys(struct doctor *doctor)
{
	struct trying trying = { doctor, config_get(doctor->command->config, "connect", NULL, "broker") };

	if (doctor->is_far)
		keys_try(doctor->command->config, tell_key, &trying);
}

void look_at_brokers_clock(struct doctor *doctor, struct client *client)
{
	const struct clock *clock = &doctor->command->clock;
	int64_t asked_us = clock_wall_us(clock), ahead_us;
	json_t *status = doctor->is_far ? command_look(doctor->command, client, "status", NULL) : NULL;
	int64_t answered_us = clock_wall_us(clock), broker_us = json_integer_value(json_object_get(status, "wall_us"));

	ahead_us = asked_us > broker_us ? asked_us - broker_us : answered_us < broker_us ? answered_us - broker_us : 0;
	if (status && (ahead_us > APART_US || ahead_us < -APART_US))
		found(doctor, FINDING_WRONG, "clock",
			"timedatectl set-ntp true on both hosts; then restart cartbus on the one whose clock was wrong",
			"this host's clock is %" PRId64 " s %s the broker's",
			(ahead_us > 0 ? ahead_us : -ahead_us) / US_PER_S, ahead_us > 0 ? "ahead of" : "behind");
	json_decref(status);
}
