/*
 * doctor_carts.c: do the links back to the baskets that wait lead to their shop?
 *
 * A cart whose link leads to a host that is not the shop's is not mailed. A shop with a checkout on another domain has none that is.
 * Promises:  looks at the carts that were told of in the last thirty days, which is longer than any is chased.
 */
#include "services/cartbus/doctor/doctor.h"

#include "bus/base/cleanup.h"
#include "bus/base/map.h"
#include "bus/base/text.h"
#include "proto/cart_topics.h"
#include "services/cartbus/core/print.h"
#include "services/cartbus/core/reading.h"
#include "services/cartbus/shops/shops.h"
#include <stdlib.h>
#include <string.h>

enum { DAYS = 30 };

struct looking {
	struct doctor *doctor;
	struct client *client;
	uint64_t from;
	struct shop *shop;
	struct map *astray; /* ids of open carts whose link leads elsewhere */
	char example[72];   /* one of them */
};

static bool look_at_cart(const struct entry *entry, void *context)
{
	struct looking *looking = context;
	_cleanup_free_ CartState *cart = payload_decode(&topic_cart_state, entry->payload);

	if (!cart)
		return true;
	bool is_open = cart->status == CART_OPEN && !*cart->merged_into && *cart->recovery_url;
	if (!is_open || shop_owns_url(looking->shop, cart->platform, cart->recovery_url))
		map_remove(looking->astray, bytes_of(cart->ids.cart_id));
	else
		map_put(looking->astray, bytes_of(cart->ids.cart_id), looking);
	return true;
}

/* It takes the smallest id, so that each run names the same cart. */
static void choose_example(struct bytes id, void *value, void *context)
{
	struct looking *looking = context;
	char name[sizeof(looking->example)];

	(void)value;
	text_copy_bytes(name, sizeof(name), id);
	if (!*looking->example || strcmp(name, looking->example) < 0)
		TEXT_COPY(looking->example, name);
}

static void tell(struct looking *looking, const char *shop)
{
	size_t count = map_count(looking->astray);

	looking->example[0] = '\0';
	map_each(looking->astray, choose_example, looking);
	if (count)
		found(looking->doctor, FINDING_WRONG, "carts",
			"if that host is the shop's, name it as host in [shop] of its shop.conf: until then they are "
			"not mailed",
			"%s: the links back of %zu open %s lead to a host that is not the shop's, that of %s for one",
			shop, count, count == 1 ? "cart" : "carts", looking->example);
}

static void look_at_shop(const char *name, void *context)
{
	struct looking *looking = context;
	struct reading_filter filter = { .from = looking->from, .topic = topic_cart_state.name, .shop = name };

	if (command_shop(looking->doctor->command, name, looking->shop) != EXIT_FINE)
		return;
	looking->astray = map_new();
	if (reading_each(looking->doctor->command, looking->client, &filter, look_at_cart, looking) == EXIT_FINE)
		tell(looking, name);
	map_free(looking->astray);
}

static void hear_nothing(const char *words, void *context)
{
	(void)words, (void)context; /* who may not read the log looks at no carts */
}

void look_at_carts(struct doctor *doctor, struct client *client)
{
	struct looking looking = { .doctor = doctor, .client = client, .shop = malloc(sizeof(*looking.shop)) };
	int64_t since_us = clock_wall_us(&doctor->command->clock) - DAYS * US_PER_DAY, first_us;

	doctor->command->hear = hear_nothing;
	if (looking.shop && reading_find(doctor->command, client, since_us, &looking.from, &first_us) == EXIT_FINE)
		shops_each(doctor->command, look_at_shop, &looking);
	doctor->command->hear = NULL;
	free(looking.shop);
}
