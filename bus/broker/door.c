/*
 * door.c: the broker's sockets and who may come, from its configuration
 *
 * Owns:      the hub, the broker's secret key, the registry.
 * Promises:  nothing listens before connections are bounded (accept.c), nor over TCP without a key and before a stranger was refused. A connection is admitted only for who is
 *            registered; the tap in clear only for who has that right. Who loses either is cut off.
 * Fails by:  die() at the start, with what to do; later, by staying with what was right.
 * Read next: ../wire/hub.c, ../wire/registry.c
 */
#include "bus/broker/door.h"
#include "bus/base/log.h"
#include "bus/base/text.h"
#include "bus/broker/accept.h"
#include "bus/wire/reach.h"
#include <errno.h>
#include <stdio.h>

static void say_refused(void *context, const char *place, const char *who, const char *why)
{
	struct door *door = context;

	if (door->broker)
		broker_refused_connection(door->broker, place, who, why);
	else if (!door->proving)
		log_event(LOG_WARNING, "refused a connection of %.20s to %s: %s", who, place, why);
}

static bool admit(void *context, const char *place, const char *who)
{
	struct door *door = context;
	const struct identity *identity = registry_find(door->registry, who);
	unsigned needed = strcmp(place, "tap-clear") == 0 ? RIGHT_CLEAR
		: strcmp(place, "tap") == 0               ? RIGHT_TAP
							  : RIGHTS_ALL;

	if (identity && identity->rights & needed)
		return true;
	say_refused(door, place, who, identity ? "it has no right to it" : "it is not registered");
	return false;
}

void door_check(const struct config *config)
{
	const char *listen = config_get(config, "broker", NULL, "listen");
	char why[256];

	if (*listen && reach_listen_try(listen, why) < 0)
		die("%s", why);
}

static void read_listen(struct door *door, struct hub_settings *settings)
{
	const char *listen = config_get(door->config, "broker", NULL, "listen");
	const char *keys = config_get(door->config, "paths", NULL, "keys");
	char why[256];

	if (!*listen)
		return;
	door_check(door->config);
	curve_address(listen, settings->host, &settings->port); /* which it is: the configuration was judged */
	if (curve_read_pair(keys, curve_broker_name, &door->key, why) < 0)
		die("[broker] listen needs the broker's key: %s", why);
	settings->key = &door->key;
}

void door_open(struct door *door, const struct config *config)
{
	struct hub_settings settings = { .admit = admit, .refused = say_refused, .context = door };
	struct config_error error;
	struct accept_limits limits = accept_limits_for(accept_raise_descriptors());
	char why[256];

	accept_begin(&limits);
	door->config = config;
	if (!TEXT_COPY(settings.run, config_get(config, "paths", NULL, "run")))
		die("[paths] run is too long for a socket's name");
	settings.by_group = config_word(config, "broker", NULL, "users") == USERS_LISTED;
	read_listen(door, &settings);
	if (registry_load(config, &door->registry, &error) < 0)
		die("%s", error.text);
	if (hub_open(&settings, &door->hub, why) < 0)
		die("%s; see [paths] run and [broker] listen", why);
	door->proving = true;
	if (hub_prove(door->hub, why) < 0)
		die("%s", why);
	door->proving = false;
}

void door_tell_turned_away(struct door *door)
{
	struct accept_counts counts = accept_count();
	struct broker_connections connections = { .open = counts.open,
		.unproven = counts.unproven,
		.turned_away = counts.turned_away,
		.descriptors = counts.descriptors };
	struct source_turned_away told;
	const char *place;

	while (accept_take(&told, &place))
		broker_turned_away(door->broker, told.count, place, told.who, source_verdict_text(told.why));
	broker_note_connections(door->broker, &connections);
}

/* Of a session the rights are asked for with every message; a tap asks only once. */
static bool must_go(const struct registry *now, const char *who, const struct identity *before)
{
	const struct identity *identity = registry_find(now, who);

	return !identity || (before->rights & ~identity->rights & (RIGHT_TAP | RIGHT_CLEAR));
}

static void cut_off_key(struct door *door, const struct identity *identity, const uint8_t key[CURVE_KEY])
{
	char who[WHO_MAX] = "key:";
	const char *lost;
	size_t cut;

	text_hex(key, CURVE_KEY, who + 4);
	if (!must_go(door->registry, who, identity))
		return;
	lost = registry_find(door->registry, who) ? "has lost a right to tap" : "is good no longer";
	cut = hub_cut(door->hub, who);
	log_event(LOG_NOTICE, "the key %s (%.20s) %s: cut %zu connections from where it came from", identity->name, who,
		lost, cut);
}

static void cut_off(struct door *door, const struct registry *before)
{
	const struct identity *identity;

	for (size_t i = 0; (identity = registry_at(before, i)); i++)
		for (int k = 0; k < identity->key_count; k++)
			cut_off_key(door, identity, identity->keys[k]);
}

int door_reload(struct door *door, struct broker *broker, char ret_why[256])
{
	struct registry *before = door->registry, *fresh = NULL;
	struct config_error error;
	int r = registry_load(door->config, &fresh, &error);

	if (r < 0) {
		snprintf(ret_why, 256, "%.255s", error.text);
		return r;
	}
	door->registry = fresh;
	broker_admit(broker, fresh);
	cut_off(door, before);
	registry_free(before);
	return 0;
}

void door_close(struct door *door)
{
	hub_close(door->hub);
	registry_free(door->registry);
	curve_wipe(&door->key);
}
