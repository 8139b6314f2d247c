/*
 * shop_policy.c: [payment], [exclude] and [send] of shop.conf
 *
 * Fails by:  -EINVAL with the key and what was expected; the first mistake only.
 * Read next: purchases.c, chase.c, pace.c (what is made of them)
 */
#include "services/kit/shop_policy.h"
#include "bus/base/text.h"
#include "services/kit/shop_google.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#define MAILS_MOST INT64_C(100000000)

struct policy {
	const struct config *config;
	struct shop *shop;
	struct shop_mistake *mistake;
	enum payment_meaning meaning; /* of the words being read */
};

static int expected(struct policy *policy, const char *format, ...) __attribute__((format(printf, 2, 3)));

static int expected(struct policy *policy, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(policy->mistake->expected, sizeof(policy->mistake->expected), format, args);
	va_end(args);
	return -EINVAL;
}

static int read_each(
	struct policy *policy, const char *section, const char *key, int (*each)(const char *value, void *context))
{
	*policy->mistake = (struct shop_mistake){ .section = section, .key = key };
	return config_each_value(policy->config, section, NULL, key, each, policy);
}

/* ---- [payment] ---- */

static int read_word(const char *value, void *context)
{
	struct policy *policy = context;
	struct shop *shop = policy->shop;
	const size_t most = sizeof(shop->payments) / sizeof(shop->payments[0]);

	policy->mistake->nth++;
	if ((size_t)shop->payment_count == most)
		return expected(policy, "expected at most %zu words in all", most);
	for (int i = 0; i < shop->payment_count; i++)
		if (strcasecmp(shop->payments[i].status, value) == 0)
			return expected(policy, "\"%.40s\" was given a meaning already", value);
	struct payment_word *word = &shop->payments[shop->payment_count];
	if (!*value || text_has_control(value) || !text_copy(word->status, sizeof(word->status), value))
		return expected(policy, "expected one payment status, as on-hold, found \"%.60s\"", value);
	word->meaning = policy->meaning;
	shop->payment_count++;
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
		err = read_each(policy, "payment", keys[meaning], read_word);
	}
	return err;
}

/* ---- [exclude] ---- */

static int read_tag(const char *value, void *context)
{
	struct policy *policy = context;
	struct shop *shop = policy->shop;
	const size_t most = sizeof(shop->tags) / sizeof(shop->tags[0]);

	policy->mistake->nth++;
	if ((size_t)shop->tag_count == most)
		return expected(policy, "expected at most %zu tags", most);
	char *tag = shop->tags[shop->tag_count];
	if (!*value || !text_is_utf8(bytes_of(value)) || !text_copy(tag, sizeof(shop->tags[0]), value))
		return expected(policy, "expected one tag of at most %zu bytes, found \"%.60s\"",
			sizeof(shop->tags[0]) - 1, value);
	shop->tag_count++;
	return 0;
}

static const char *read_field(const char *value, enum product_field *ret)
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
	struct policy *policy = context;
	struct shop *shop = policy->shop;
	const size_t most = sizeof(shop->products) / sizeof(shop->products[0]);

	policy->mistake->nth++;
	if ((size_t)shop->product_count == most)
		return expected(policy, "expected at most %zu patterns", most);
	struct product_pattern *product = &shop->products[shop->product_count];
	const char *pattern = read_field(value, &product->field);
	if (!*pattern || !text_is_utf8(bytes_of(pattern)) ||
		!text_copy(product->pattern, sizeof(product->pattern), pattern))
		return expected(policy,
			"expected sku:, id:, vendor: or title: and a pattern, as title:*gift card*, found \"%.60s\"",
			value);
	shop->product_count++;
	return 0;
}

static int read_tests(struct policy *policy)
{
	const char *value = config_get(policy->config, "exclude", NULL, "test-orders");
	bool yes = value && strcmp(value, "yes") == 0;

	*policy->mistake = (struct shop_mistake){ .section = "exclude", .key = "test-orders" };
	if (!yes && (!value || strcmp(value, "no") != 0))
		return expected(policy, "expected yes or no, found \"%.60s\"", value ? value : "");
	policy->shop->chase_tests = !yes;
	return 0;
}

/* ---- [send] ---- */

static int read_limit(struct policy *policy, const char *key, uint32_t *ret)
{
	struct config_error error;
	int64_t value = 0;

	*policy->mistake = (struct shop_mistake){ .section = "send", .key = key };
	if (config_get_int(policy->config, "send", NULL, key, 0, MAILS_MOST, &value, &error) < 0)
		return expected(policy, "expected a number of mails, 0 for no limit");
	*ret = (uint32_t)value;
	return 0;
}

int shop_read_policy(const struct config *config, struct shop *shop, struct shop_mistake *ret_mistake)
{
	struct policy policy = { .config = config, .shop = shop, .mistake = ret_mistake };

	int err = read_payments(&policy);
	if (err == 0)
		err = read_tests(&policy);
	if (err == 0)
		err = read_each(&policy, "exclude", "tag", read_tag);
	if (err == 0)
		err = read_each(&policy, "exclude", "product", read_product);
	if (err == 0)
		err = read_limit(&policy, "per-minute", &shop->most_a_minute);
	if (err == 0)
		err = read_limit(&policy, "per-day", &shop->most_a_day);
	return err < 0 ? err : shop_read_google(config, shop, ret_mistake);
}
