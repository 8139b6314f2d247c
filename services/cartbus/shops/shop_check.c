/*
 * shop_check.c: `cartbus shop check`: which webhooks of a shop have arrived, and which never did; is its API's key accepted
 *
 * A subscription that was forgotten, or that the platform has ended, makes no noise: carts are missed, or shoppers are mailed who have
 * bought. What arrived is in the log, so it is counted there. The API, if shop.conf names one, is asked now.
 *
 * Read next: reading.h, storefront_probe.h
 */
#include "bus/base/cleanup.h"
#include "proto/platform_topics.h"
#include "services/cartbus/core/print.h"
#include "services/cartbus/core/reading.h"
#include "services/cartbus/shops/storefront_probe.h"
#include "services/cartbus/shops/subcommands.h"
#include "services/carts/words/describe.h"
#include <inttypes.h>
#include <stdio.h>

struct expected {
	Platform platform;
	const char *topic;
	bool needed;
	const char *without; /* what goes wrong if it never comes */
};

/* Sources: shopify.dev (webhook topics), woocommerce.github.io (webhooks); ours: services/kit/storefront/generic.c */
static const struct expected all_expected[] = {
	{ PLATFORM_SHOPIFY, "carts/create", true, "carts before checkout are not known" },
	{ PLATFORM_SHOPIFY, "carts/update", true, "an emptied cart is still chased" },
	{ PLATFORM_SHOPIFY, "checkouts/create", true, "most carts get no address, so nobody is mailed" },
	{ PLATFORM_SHOPIFY, "checkouts/update", true,
		"addresses typed late are missed, and waits count from too early" },
	{ PLATFORM_SHOPIFY, "checkouts/delete", false, "a checkout that was taken away is still chased" },
	{ PLATFORM_SHOPIFY, "orders/create", true, "shoppers who bought are mailed" },
	{ PLATFORM_SHOPIFY, "orders/paid", false, "an order that was made by hand and paid later is learnt late" },
	{ PLATFORM_SHOPIFY, "orders/cancelled", false, "the report counts cancelled orders as won back" },
	{ PLATFORM_SHOPIFY, "customers/redact", false,
		"Shopify asks for it of every app: wishes for erasure are not heard" },
	{ PLATFORM_SHOPIFY, "customers/data_request", false, "Shopify asks for it of every app" },
	{ PLATFORM_SHOPIFY, "shop/redact", false, "Shopify asks for it of every app" },
	{ PLATFORM_WOOCOMMERCE, "order.created", true, "shoppers who bought are mailed" },
	{ PLATFORM_WOOCOMMERCE, "order.updated", true, "orders that are paid later are not learnt of" },
	{ PLATFORM_BIGCOMMERCE, "store/cart/created", true, "carts are known only once they change" },
	{ PLATFORM_BIGCOMMERCE, "store/cart/updated", true, "addresses are missed, and waits count from too early" },
	{ PLATFORM_BIGCOMMERCE, "store/cart/abandoned", false, "a cart that no other webhook told of is not known" },
	{ PLATFORM_BIGCOMMERCE, "store/cart/converted", true, "shoppers who bought are mailed" },
	{ PLATFORM_BIGCOMMERCE, "store/cart/deleted", false, "an emptied cart is still chased" },
	{ PLATFORM_BIGCOMMERCE, "store/order/created", false, "the report knows no totals of orders" },
	{ PLATFORM_BIGCOMMERCE, "store/order/statusUpdated", false, "the report counts cancelled orders as won back" },
	{ PLATFORM_GENERIC, "changed", true, "no cart is known (WooCommerce: is its plugin active?)" },
	{ PLATFORM_GENERIC, "checked_out", true, "shoppers who bought are mailed" },
	{ PLATFORM_GENERIC, "cancelled", false, "the report counts cancelled orders as won back" },
};

enum { EXPECTED = sizeof(all_expected) / sizeof(all_expected[0]), PLATFORMS = PLATFORM_BIGCOMMERCE + 1 };

static const char *const platform_names[PLATFORMS] = { [PLATFORM_SHOPIFY] = "shopify",
	[PLATFORM_WOOCOMMERCE] = "woocommerce",
	[PLATFORM_GENERIC] = "cart",
	[PLATFORM_BIGCOMMERCE] = "bigcommerce" };

struct checking {
	const struct command *command;
	const char *shop, *zone;
	bool in_use[PLATFORMS];
	struct arrived {
		uint64_t count, tests; /* how many, and how many of them are no word of a storefront */
		int64_t last_us;
	} arrived[EXPECTED];
	struct storefront_probed api;
};

static void note(struct checking *checking, Platform platform, const char *topic, bool is_test, int64_t at_us)
{
	if ((unsigned)platform >= (unsigned)PLATFORMS)
		return;
	/* A sample goes to our own endpoint, for any storefront: it shows that the endpoint is open, and not that the storefront uses it. */
	is_test = is_test && platform == PLATFORM_GENERIC;
	checking->in_use[platform] |= !is_test;
	for (size_t i = 0; i < EXPECTED; i++) {
		struct arrived *arrived = &checking->arrived[i];

		if (all_expected[i].platform != platform || strcmp(all_expected[i].topic, topic) != 0)
			continue;
		arrived->count++;
		arrived->tests += is_test;
		if (at_us > arrived->last_us)
			arrived->last_us = at_us;
	}
}

/* What was fetched from the storefront is said in the words of its webhooks, and is none. */
static bool is_of_a_webhook(const struct entry *entry)
{
	return strcmp(entry->said_by, "storefront") != 0 && strcmp(entry->said_by, "sender") != 0;
}

static bool note_changed(const struct entry *entry, void *context)
{
	_cleanup_free_ CartChanged *changed = payload_decode(&topic_cart_changed, entry->payload);

	if (changed && is_of_a_webhook(entry))
		note(context, changed->platform, changed->platform_topic, changed->test, entry->time_us);
	return true;
}

static bool note_checkout(const struct entry *entry, void *context)
{
	_cleanup_free_ CartCheckout *checkout = payload_decode(&topic_cart_checkout, entry->payload);

	if (checkout && is_of_a_webhook(entry))
		note(context, checkout->platform, checkout->platform_topic, checkout->test, entry->time_us);
	return true;
}

/* Webhooks that carry an id alone become a task: BigCommerce's. */
static bool note_task(const struct entry *entry, void *context)
{
	_cleanup_free_ StorefrontTask *task = payload_decode(&topic_storefront_task, entry->payload);

	if (task && is_of_a_webhook(entry) && task->platform_topic[0])
		note(context, PLATFORM_BIGCOMMERCE, task->platform_topic, false, entry->time_us);
	return true;
}

static bool note_privacy(const struct entry *entry, void *context)
{
	_cleanup_free_ PrivacyRequest *request = payload_decode(&topic_privacy_request, entry->payload);

	if (request)
		note(context, PLATFORM_SHOPIFY, request->platform_topic, false, entry->time_us);
	return true;
}

static int count_all(struct checking *checking, struct client *client)
{
	static const struct {
		const char *topic;
		entry_fn *note;
	} topics[] = { { "cart.changed", note_changed }, { "cart.checkout", note_checkout },
		{ "storefront.task", note_task }, { "privacy.request", note_privacy } };
	int failed = 0;

	for (size_t i = 0; i < sizeof(topics) / sizeof(topics[0]) && !failed; i++)
		failed = reading_each(checking->command, client,
			&(struct reading_filter){ .shop = checking->shop, .topic = topics[i].topic }, topics[i].note,
			checking);
	return failed;
}

/* ---- what is told ---- */

/* WooCommerce has no webhook for carts: a plugin posts them to our own endpoint, and leaves the orders to WooCommerce's own. */
static bool is_expected(const struct checking *checking, size_t i)
{
	const struct expected *expected = &all_expected[i];

	if (expected->platform != PLATFORM_GENERIC || !checking->in_use[PLATFORM_WOOCOMMERCE])
		return checking->in_use[expected->platform];
	return strcmp(expected->topic, "changed") == 0 || checking->arrived[i].count > checking->arrived[i].tests;
}

static bool is_missed(const struct checking *checking, size_t i)
{
	return all_expected[i].needed && is_expected(checking, i) &&
		checking->arrived[i].count == checking->arrived[i].tests;
}

static json_t *topic_json(const struct checking *checking, size_t i)
{
	const struct expected *expected = &all_expected[i];

	return json_pack("{s:s,s:s,s:b,s:I,s:I,s:s}", "platform", platform_names[expected->platform], "topic",
		expected->topic, "needed", expected->needed, "arrived", (json_int_t)checking->arrived[i].count,
		"last_us", (json_int_t)checking->arrived[i].last_us, "without", expected->without);
}

static void print_topic(const struct checking *checking, size_t i)
{
	const struct expected *expected = &all_expected[i];
	const struct arrived *arrived = &checking->arrived[i];
	char last[40] = "never";

	if (arrived->count)
		describe_time(checking->zone, arrived->last_us, last);
	const char *judged = !is_missed(checking, i) ? (arrived->count ? "" : "without it: ")
		: arrived->count                     ? "MISSED, only tests of our own came: "
						     : "MISSED: ";

	printf("%-12s %-24s %8" PRIu64 "  %-20s %s%s\n", platform_names[expected->platform], expected->topic,
		arrived->count, last, judged, *judged ? expected->without : "");
}

static json_t *api_json(const struct checking *checking)
{
	const struct storefront_probed *api = &checking->api;

	return json_pack("{s:s,s:s,s:b,s:s}", "platform", api->platform, "api", api->url, "answers", api->answers,
		"words", api->words);
}

static void print_api(const struct checking *checking)
{
	const struct storefront_probed *api = &checking->api;

	printf("%-12s %-24s %s%s\n", api->platform, "API", api->answers ? "" : "MISSED: ", api->words);
}

static int print_check(const struct checking *checking, struct client *client)
{
	json_t *topics = checking->command->json ? json_array() : NULL;
	bool has_api = *checking->api.platform;
	int missed = has_api && !checking->api.answers, used = 0;

	for (size_t i = 0; i < EXPECTED; i++) {
		if (!is_expected(checking, i))
			continue;
		used++;
		missed += is_missed(checking, i);
		if (topics)
			json_array_append_new(topics, topic_json(checking, i));
		else
			print_topic(checking, i);
	}
	if (has_api && !topics)
		print_api(checking);
	if (topics) {
		json_t *whole = json_pack("{s:o,s:o*}", "topics", topics, "api", has_api ? api_json(checking) : NULL);

		json_print(whole);
		json_decref(whole);
	} else if (used) {
		command_print_reach(checking->command, client, checking->zone);
	}
	if (!used)
		complain(checking->command,
			"nothing has arrived from this shop's storefront; `cartbus webhook send %s` tries the way to "
			"the gateway, and `cartbus shop secret %s` shows where the secret lies",
			checking->shop, checking->shop);
	return used && !missed ? EXIT_FINE : EXIT_NO;
}

int command_shop_check(struct command *command, int argc, char **argv)
{
	struct checking checking = { .command = command };
	struct client *client;
	struct shop shop;
	int ended;

	command_take(command, argc, argv,
		&(struct arguments){ .words_help = "SHOP",
			.words = &checking.shop,
			.words_least = 1,
			.words_most = 1,
			.help = "Tells, from the log, which webhooks of this shop have arrived, when last, and which "
				"never "
				"did although others of the platform do; and asks the storefront's API, if shop.conf "
				"names one, whether it takes our key. Exits with 1 if a webhook that is needed is "
				"missing, or the API does not answer.\vExample:\n  cartbus shop check demo" });
	ended = command_shop(command, checking.shop, &shop);
	if (ended)
		return ended;
	checking.zone = zone_of_shop(command, checking.shop);
	client = command_connect(command);
	storefront_probe(command, &shop, &checking.api);
	ended = count_all(&checking, client);
	ended = ended ? ended : print_check(&checking, client);
	client_free(client);
	return ended;
}
