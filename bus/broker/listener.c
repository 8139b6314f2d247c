/*
 * listener.c: the broker's sockets, and the peers that may connect, from its configuration
 *
 * Owns:      the hub, the broker's secret key, the registry.
 * Promises:  nothing listens before connections are bounded (accept.c), nor over TCP without a key and before
 *            a stranger was refused. Only registered peers get a connection, and only those with the right
 *            get the tap in clear. A peer that loses either is cut off.
 * Fails by:  die() at the start, with a remedy; later, by keeping the last configuration that was right.
 * Read next: ../wire/hub.c, ../wire/registry.c
 */
#include "bus/broker/listener.h"
#include "bus/base/log.h"
#include "bus/base/text.h"
#include "bus/broker/accept.h"
#include "bus/wire/broker_endpoint.h"
#include <errno.h>
#include <stdio.h>

static void say_refused(void *context, const char *place, const char *who, const char *why)
{
	struct listener *listener = context;

	if (listener->broker)
		broker_refused_connection(listener->broker, place, who, why);
	else if (!listener->proving)
		log_event(LOG_WARNING, "refused a connection of %.20s to %s: %s", who, place, why);
}

static bool admit(void *context, const char *place, const char *who)
{
	struct listener *listener = context;
	const struct identity *identity = registry_find(listener->registry, who);
	unsigned needed = strcmp(place, "tap-clear") == 0 ? RIGHT_CLEAR
		: strcmp(place, "tap") == 0               ? RIGHT_TAP
							  : RIGHTS_ALL;

	if (identity && identity->rights & needed)
		return true;
	say_refused(listener, place, who, identity ? "it has no right to it" : "it is not registered");
	return false;
}

void listener_check(const struct config *config)
{
	const char *listen = config_get(config, "broker", NULL, "listen");
	char why[256];

	if (*listen && broker_endpoint_listen_try(listen, why) < 0)
		die("%s", why);
}

static void read_listen(struct listener *listener, struct hub_settings *settings)
{
	const char *listen = config_get(listener->config, "broker", NULL, "listen");
	const char *keys = config_get(listener->config, "paths", NULL, "keys");
	char why[256];

	if (!*listen)
		return;
	listener_check(listener->config);
	curve_address(listen, settings->host, &settings->port); /* which address: the configuration was judged */
	if (curve_read_pair(keys, curve_broker_name, &listener->key, why) < 0)
		die("[broker] listen needs the broker's key: %s", why);
	settings->key = &listener->key;
}

void listener_open(struct listener *listener, const struct config *config)
{
	struct hub_settings settings = { .admit = admit, .refused = say_refused, .context = listener };
	struct config_error error;
	struct accept_limits limits = accept_limits_for(accept_raise_descriptors());
	char why[256];

	accept_begin(&limits);
	listener->config = config;
	if (!TEXT_COPY(settings.run, config_get(config, "paths", NULL, "run")))
		die("[paths] run is too long for a socket's name");
	settings.by_group = config_word(config, "broker", NULL, "users") == USERS_LISTED;
	read_listen(listener, &settings);
	if (registry_load(config, &listener->registry, &error) < 0)
		die("%s", error.text);
	if (hub_open(&settings, &listener->hub, why) < 0)
		die("%s; see [paths] run and [broker] listen", why);
	listener->proving = true;
	if (hub_probe(listener->hub, why) < 0)
		die("%s", why);
	listener->proving = false;
}

void listener_tell_turned_away(struct listener *listener)
{
	struct accept_counts counts = accept_count();
	struct broker_connections connections = { .open = counts.open,
		.unproven = counts.unproven,
		.turned_away = counts.turned_away,
		.descriptors = counts.descriptors };
	struct source_turned_away told;
	const char *place;

	while (accept_take(&told, &place))
		broker_turned_away(listener->broker, told.count, place, told.who, source_verdict_text(told.why));
	broker_note_connections(listener->broker, &connections);
}

/* A session's rights are checked with every message; a tap's rights only once. */
static bool must_go(const struct registry *now, const char *who, const struct identity *before)
{
	const struct identity *identity = registry_find(now, who);

	return !identity || (before->rights & ~identity->rights & (RIGHT_TAP | RIGHT_CLEAR));
}

static void cut_off_key(struct listener *listener, const struct identity *identity, const uint8_t key[CURVE_KEY])
{
	char who[WHO_MAX] = "key:";
	const char *lost;
	size_t cut;

	text_hex(key, CURVE_KEY, who + 4);
	if (!must_go(listener->registry, who, identity))
		return;
	lost = registry_find(listener->registry, who) ? "has lost a right to tap" : "is good no longer";
	cut = hub_cut(listener->hub, who);
	log_event(LOG_NOTICE, "the key %s (%.20s) %s: cut %zu connections from where it came from", identity->name, who,
		lost, cut);
}

static void cut_off(struct listener *listener, const struct registry *before)
{
	const struct identity *identity;

	for (size_t i = 0; (identity = registry_at(before, i)); i++)
		for (int k = 0; k < identity->key_count; k++)
			cut_off_key(listener, identity, identity->keys[k]);
}

int listener_reload(struct listener *listener, struct broker *broker, char ret_why[256])
{
	struct registry *before = listener->registry, *fresh = NULL;
	struct config_error error;
	int r = registry_load(listener->config, &fresh, &error);

	if (r < 0) {
		snprintf(ret_why, 256, "%.255s", error.text);
		return r;
	}
	listener->registry = fresh;
	broker_admit(broker, fresh);
	cut_off(listener, before);
	registry_free(before);
	return 0;
}

void listener_close(struct listener *listener)
{
	hub_close(listener->hub);
	registry_free(listener->registry);
	curve_wipe(&listener->key);
}
