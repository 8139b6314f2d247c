/*
 * carts.c: many carts, as intake says them
 *
 *   bench_carts CONFIG COUNT SHOPS [FIRST]   says a cart.state of each cart and the timer of each open one, over the shops shop-0 to
 *                                            shop-(SHOPS - 1); FIRST is the number of the first cart (0). Prints say_rate
 */
#include "bus/actor/client.h"
#include "bus/base/log.h"
#include "bus/base/text.h"
#include "proto/cart_topics.h"
#include "services/kit/settings/settings.h"
#include <pb_encode.h>
#include <stdio.h>
#include <stdlib.h>

enum { UNCONFIRMED_MOST = 1024, OPEN_OF = 4 /* every fourth cart is open */ };
#define PATIENCE_US (300 * US_PER_S)
#define ROUND_US (2 * US_PER_MS)
#define BETWEEN_US (7 * US_PER_S) /* from one cart of the log to the next */

static const struct service sayer = { .name = "intake",
	.says = SAYING(SAYS(cart_state), SAYS(timer_set), SAYS(audit)) };

static uint64_t said, confirmed;

static void hear_confirm(void *context, enum said_result result, uint64_t seq, const char *reason)
{
	(void)context, (void)seq;
	if (result != SAID_FRESH)
		die("a message was not taken: %s", reason ? reason : "the session broke");
	confirmed++;
}

static void say(
	struct client *client, const struct topic *topic, const struct publish_options *how, const void *message)
{
	if (runtime_publish(client_runtime(client), topic, how, NULL, message, hear_confirm, NULL))
		die("cannot say a message");
	said++;
}

static void say_timer(struct client *client, const char *shop, const CartState *cart)
{
	int64_t due_us = cart->abandoned_us + 365 * US_PER_DAY; /* nothing fires meanwhile */
	TimerSet set = { .version = 1, .due_us = due_us, .topic = "cart.wake" };
	CartWake wake = { .revision = 1, .due_us = due_us };
	pb_ostream_t stream = pb_ostream_from_buffer(set.payload.bytes, sizeof(set.payload.bytes));

	snprintf(set.name, sizeof(set.name), "cart/%s", cart->ids.cart_id);
	TEXT_COPY(set.key, cart->ids.cart_id);
	TEXT_COPY(wake.cart_id, cart->ids.cart_id);
	if (!pb_encode(&stream, CartWake_fields, &wake))
		die("a wake does not encode");
	set.payload.size = (pb_size_t)stream.bytes_written;
	say(client, &topic_timer_set, &(struct publish_options){ .shop = shop, .key = set.name, .version = 1 }, &set);
}

static void fill(CartState *cart, uint64_t n, int64_t now_us, uint64_t count)
{
	snprintf(
		cart->ids.cart_id, sizeof(cart->ids.cart_id), "%016llx", (unsigned long long)n * 0x9e3779b97f4a7c15ull);
	snprintf(cart->ids.cart_token, sizeof(cart->ids.cart_token), "token-%llu", (unsigned long long)n);
	snprintf(cart->ids.email, sizeof(cart->ids.email), "shopper%llu@mail.example", (unsigned long long)n);
	snprintf(cart->ids.email_hash, sizeof(cart->ids.email_hash), "%032llx", (unsigned long long)n);
	cart->has_ids = true;
	cart->revision = 1;
	cart->state_version = 16;
	cart->abandoned_us = now_us - (int64_t)(count - n) * BETWEEN_US;
	cart->changed_us = cart->first_seen_us = cart->abandoned_us;
	cart->total_minor = 1000 + (int64_t)(n % 30000);
	TEXT_COPY(cart->currency, "EUR");
	cart->items_count = 1;
	TEXT_COPY(cart->items[0].title, "Rosenstrauss Amalia, zwanzig Stiele");
	cart->items[0].quantity = 1;
	cart->items[0].price_minor = cart->total_minor;
	cart->status = n % OPEN_OF == 0 ? CART_OPEN : n % OPEN_OF == 1 ? CART_BOUGHT : CART_CLOSED;
	cart->closed_reason = cart->status == CART_CLOSED ? CLOSED_GAVE_UP : CLOSED_NOT;
	if (cart->status == CART_BOUGHT) {
		cart->bought_us = cart->abandoned_us + US_PER_HOUR;
		cart->order_total_minor = cart->total_minor;
		TEXT_COPY(cart->order_currency, "EUR");
		snprintf(cart->order_id, sizeof(cart->order_id), "order-%llu", (unsigned long long)n);
	}
}

static void say_cart(struct client *client, uint64_t n, uint64_t shops, int64_t now_us, uint64_t count)
{
	static CartState cart; /* large */
	char shop[40];

	cart = (CartState)CartState_init_zero;
	fill(&cart, n, now_us, count);
	snprintf(shop, sizeof(shop), "shop-%llu", (unsigned long long)(n % shops));
	say(client, &topic_cart_state,
		&(struct publish_options){
			.shop = shop, .key = cart.ids.cart_id, .version = 16, .tombstone = cart.status != CART_OPEN },
		&cart);
	if (cart.status == CART_OPEN)
		say_timer(client, shop, &cart);
}

int main(int argc, char **argv)
{
	struct clock clock = clock_system();
	struct config *config = NULL;
	struct config_error error = { "" };
	struct client *client = NULL;
	uint64_t count, shops, first;
	char why[256] = "";
	int64_t began_us;

	log_open("bench", LOG_WARNING);
	if (argc < 4)
		die("usage: bench_carts CONFIG COUNT SHOPS [FIRST]");
	count = strtoull(argv[2], NULL, 10);
	shops = strtoull(argv[3], NULL, 10);
	first = argc > 4 ? strtoull(argv[4], NULL, 10) : 0;
	if (config_load(argv[1], settings_keys, &config, &error))
		die("%s", error.text);
	if (client_open(&sayer, config, &clock, PATIENCE_US, &client, why))
		die("cannot connect: %s", why);
	began_us = clock_boot_us(&clock);
	for (uint64_t n = first; n < first + count || confirmed < said;) {
		client_work(client, 0);
		for (; n < first + count && said - confirmed < UNCONFIRMED_MOST; n++)
			say_cart(client, n, shops, clock_wall_us(&clock), first + count);
		client_work(client, ROUND_US);
	}
	printf("say_rate %.0f\n", (double)count * US_PER_S / (double)(clock_boot_us(&clock) - began_us));
	client_free(client);
	config_free(config);
	return 0;
}
