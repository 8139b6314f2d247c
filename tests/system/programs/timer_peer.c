/*
 * timer_peer.c: cartbus-test-timer CONFIG SERVICE VERB SHOP NAME TOPIC: a peer with the rights of SERVICE, and its own ideas
 *
 * Says a timer ("set"), due at once, or takes one back ("cancel"), or says a tick.nightly by itself ("tick"). Prints the number of what
 * was committed; or ends with 1 and prints why it was refused.
 */
#include "bus/actor/client.h"
#include "bus/base/clock.h"
#include "bus/base/text.h"
#include "proto/cart_topics.h"
#include "services/kit/settings/settings.h"
#include <pb_encode.h>
#include <stdio.h>
#include <string.h>

static const uint64_t VERSION = UINT64_C(1) << 60; /* above every other's */

static TimerSet due_at_once(const struct clock *clock, const char *name, const char *topic)
{
	TimerSet set = { .version = VERSION, .due_us = clock_wall_us(clock) };
	CartWake wake = { .revision = 1, .due_us = set.due_us };
	Tick tick = { .name = "nightly", .due_us = set.due_us };
	bool wakes = strcmp(topic, topic_cart_wake.name) == 0;
	pb_ostream_t stream = pb_ostream_from_buffer(set.payload.bytes, sizeof(set.payload.bytes));

	TEXT_COPY(set.name, name);
	TEXT_COPY(set.key, name);
	TEXT_COPY(set.topic, topic);
	TEXT_COPY(wake.cart_id, name);
	if (wakes ? pb_encode(&stream, CartWake_fields, &wake) : pb_encode(&stream, Tick_fields, &tick))
		set.payload.size = (pb_size_t)stream.bytes_written;
	return set;
}

static int say(struct client *client, const struct clock *clock, char **words, struct client_said *ret, char why[256])
{
	const char *verb = words[0], *shop = words[1], *name = words[2];
	TimerSet set = due_at_once(clock, name, words[3]);
	TimerCancel cancel = { .version = VERSION };
	Tick tick = { .name = "nightly", .due_us = set.due_us };

	TEXT_COPY(cancel.name, name);
	if (strcmp(verb, "tick") == 0)
		return CLIENT_SAY(client, tick_nightly, &tick, ret, why, .shop = shop, .key = name);
	if (strcmp(verb, "cancel") == 0)
		return CLIENT_SAY(client, timer_cancel, &cancel, ret, why, .shop = shop, .key = name,
			.version = VERSION, .tombstone = true);
	return CLIENT_SAY(client, timer_set, &set, ret, why, .shop = shop, .key = name, .version = VERSION);
}

int main(int argc, char **argv)
{
	struct service peer = { .says = SAYING(SAYS(timer_set), SAYS(timer_cancel), SAYS(tick_nightly)) };
	struct config_error error = { "" };
	struct clock clock = clock_system();
	struct config *config = NULL;
	struct client *client = NULL;
	struct client_said said = { 0 };
	char why[256] = "CONFIG SERVICE VERB SHOP NAME TOPIC";
	int r = -1;

	if (argc == 7 && config_load(argv[1], settings_keys, &config, &error) == 0) {
		peer.name = argv[2];
		r = client_open(&peer, config, &clock, 10 * US_PER_S, &client, why);
	}
	if (r == 0)
		r = say(client, &clock, argv + 3, &said, why);
	if (r < 0)
		fprintf(stderr, "%s %s\n", why, error.text);
	else
		printf("%llu\n", (unsigned long long)said.seq);
	client_free(client);
	config_free(config);
	return r == 0 ? 0 : 1;
}
