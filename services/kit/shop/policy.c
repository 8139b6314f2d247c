/*
 * policy.c: [payment], [exclude] and [send] of shop.conf
 *
 * Fails by:  -EINVAL with the key and what was expected; the first mistake only.
 * Read next: keys.c (what each value may be), purchases.c, chase.c, pace.c (what is made of them)
 */
#include "services/kit/shop/policy.h"
#include "bus/base/text.h"
#include <stdio.h>

struct policy {
	const struct config *config;
	struct shop *shop;
	struct config_error *error;
	enum payment_meaning meaning; /* of the words being read */
	const char *key;
};

/* ---- [payment] ---- */

static int read_word(const char *value, void *context)
{
	struct policy *policy = context;
	struct shop *shop = policy->shop;
	const int most = (int)(sizeof(shop->payments) / sizeof(shop->payments[0]));

	if (!*value)
		return 0;
	if (shop->payment_count == most)
		return config_refuse(policy->config, "payment", NULL, policy->key, policy->error,
			"expected at most %d words in all", most);
	for (int i = 0; i < shop->payment_count; i++)
		if (strcasecmp(shop->payments[i].status, value) == 0)
			return config_refuse(policy->config, "payment", NULL, policy->key, policy->error,
				"\"%.40s\" was given a meaning already", value);
	struct payment_word *word = &shop->payments[shop->payment_count++];
	TEXT_COPY(word->status, value);
	word->meaning = policy->meaning;
	return 0;
}

static int read_payments(struct policy *policy)
{
	static const char *const keys[] = {
		[PAYMENT_BOUGHT] = "bought", [PAYMENT_NOT_YET] = "not-yet", [PAYMENT_IGNORED] = "ignore"
	};
	int err = 0;

	for (int meaning = PAYMENT_BOUGHT; err == 0 && meaning <= PAYMENT_IGNORED; meaning++) {
		policy->meaning = (enum payment_meaning)meaning;
		policy->key = keys[meaning];
		err = config_each_value(policy->config, "payment", NULL, keys[meaning], read_word, policy);
	}
	return err;
}

/* ---- [exclude] ---- */

static int read_tag(const char *value, void *context)
{
	struct shop *shop = context;

	if (*value)
		TEXT_COPY(shop->tags[shop->tag_count++], value);
	return 0;
}

const char *shop_product_pattern(const char *value, enum product_field *ret)
{
	static const char *const fields[] = {
		[PRODUCT_SKU] = "sku:", [PRODUCT_ID] = "id:", [PRODUCT_VENDOR] = "vendor:", [PRODUCT_TITLE] = "title:"
	};

	for (int field = PRODUCT_SKU; field <= PRODUCT_TITLE; field++) {
		if (!text_starts(value, fields[field]))
			continue;
		*ret = (enum product_field)field;
		value += strlen(fields[field]);
		return value + strspn(value, " \t");
	}
	return "";
}

static int read_product(const char *value, void *context)
{
	struct shop *shop = context;
	struct product_pattern *product = &shop->products[shop->product_count];

	if (!*value)
		return 0;
	TEXT_COPY(product->pattern, shop_product_pattern(value, &product->field));
	shop->product_count++;
	return 0;
}

int shop_read_policy(const struct config *config, struct shop *shop, struct config_error *ret_error)
{
	struct policy policy = { .config = config, .shop = shop, .error = ret_error };

	config_each_value(config, "exclude", NULL, "tag", read_tag, shop);
	config_each_value(config, "exclude", NULL, "product", read_product, shop);
	shop->chase_tests = !config_yes(config, "exclude", NULL, "test-orders");
	shop->most_a_minute = (uint32_t)config_number(config, "send", NULL, "per-minute");
	shop->most_a_day = (uint32_t)config_number(config, "send", NULL, "per-day");
	return read_payments(&policy);
}
