/*
 * shop.c: reads shop.conf strictly
 *
 * Promises:  a shop that parses can send mails: its zone, currency and locale exist, its addresses are valid.
 * Fails by:  -EINVAL with file, line and the expected value, for the first mistake only.
 * Read next: keys.c (checks each value), mirror (reads the file), docs.h (gives the shop to other processes)
 */
#include "services/kit/shop/shop.h"
#include "bus/base/cleanup.h"
#include "bus/base/text.h"
#include "services/kit/http/url.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

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

/* -EINVAL: ret_error names the key and its fault. */
static int shop_read_policy(const struct config *config, struct shop *shop, struct config_error *ret_error)
{
	struct policy policy = { .config = config, .shop = shop, .error = ret_error };

	config_each_value(config, "exclude", NULL, "tag", read_tag, shop);
	config_each_value(config, "exclude", NULL, "product", read_product, shop);
	shop->chase_tests = !config_yes(config, "exclude", NULL, "test-orders");
	shop->most_a_minute = (uint32_t)config_number(config, "send", NULL, "per-minute");
	shop->most_a_day = (uint32_t)config_number(config, "send", NULL, "per-day");
	return read_payments(&policy);
}

enum { SHOP_NAME_MAX = 40 };

struct reading {
	const struct config *config;
	struct shop *shop;
};

static const char *value_of(const struct reading *reading, const char *section, const char *key)
{
	const char *value = config_get(reading->config, section, NULL, key);

	return value ? value : "";
}

static void read_face(struct reading *reading)
{
	struct shop *shop = reading->shop;

	TEXT_COPY(shop->zone, value_of(reading, "shop", "time-zone"));
	TEXT_COPY(shop->currency, value_of(reading, "shop", "currency"));
	TEXT_COPY(shop->locale, value_of(reading, "shop", "locale"));
	TEXT_COPY(shop->title, value_of(reading, "shop", "title"));
	TEXT_COPY(shop->url, value_of(reading, "shop", "url"));
}

/* The address of "Name <address>", or of an address alone. */
static int mailbox_address(const char *mailbox, char ret[ADDRESS_MAX + 1])
{
	const char *open = strrchr(mailbox, '<');
	char inside[ADDRESS_MAX + 2];

	if (!open)
		return address_normalise(mailbox, ret);
	size_t len = strcspn(open + 1, ">");
	if (open[1 + len] != '>' || open[2 + len] != '\0' || memchr(mailbox, '<', (size_t)(open - mailbox)))
		return -EINVAL;
	if (!text_copy_bytes(inside, sizeof(inside), BYTES(open + 1, len)))
		return -EINVAL;
	return address_normalise(inside, ret);
}

bool shop_mailbox_valid(const char *mailbox)
{
	char address[ADDRESS_MAX + 1];

	return mailbox_address(mailbox, address) == 0;
}

static int read_senders(struct reading *reading)
{
	struct shop *shop = reading->shop;
	const char *from = value_of(reading, "mail", "from"), *reply = value_of(reading, "mail", "reply-to");
	const char *bounce = value_of(reading, "mail", "bounce"), *owner = value_of(reading, "mail", "owner");
	int err = mailbox_address(from, shop->from_address);

	TEXT_COPY(shop->from, from);
	TEXT_COPY(shop->reply_to, *reply ? reply : from);
	if (err == 0)
		err = address_normalise(*bounce ? bounce : shop->from_address, shop->bounce);
	return err < 0 || !*owner ? err : address_normalise(owner, shop->owner);
}

static int read_accent(struct reading *reading, struct config_error *ret_error)
{
	const char *accent = value_of(reading, "mail", "accent");
	char darker[ACCENT_ROOM];

	TEXT_COPY(reading->shop->accent, accent);
	if (accent_readable(accent))
		return 0;
	accent_darken(accent, darker);
	return config_refuse(reading->config, "mail", NULL, "accent", ret_error,
		"expected a colour on which white words can be read, at a contrast of 4.5 to 1 or more: of %s it is "
		"%.1f to 1, and %s would do",
		accent, floor(accent_contrast(accent) * 10) / 10, darker); /* not rounded up to 4.5 */
}

static void read_mail(struct reading *reading)
{
	static const enum shop_consent consents[] = { CONSENT_ALL, CONSENT_CUSTOMERS, CONSENT_MARKETING, CONSENT_ALL };
	const struct config *config = reading->config;
	struct shop *shop = reading->shop;

	TEXT_COPY(shop->logo, value_of(reading, "mail", "logo"));
	shop->logo_width = (int)config_number(config, "mail", NULL, "logo-width");
	TEXT_COPY(shop->postal_address, value_of(reading, "mail", "postal-address"));
	/* the last word is "any", the former word for "all" */
	shop->consent = consents[config_word(config, "mail", NULL, "consent")];
	shop->polish = config_yes(config, "mail", NULL, "polish");
	shop->count_clicks = config_yes(config, "mail", NULL, "count-clicks");
}

/* Checks and normalises "@domain" as a part of an address. */
static int normalise_domain(const char *value, char ret[ADDRESS_MAX + 1])
{
	char probe[ADDRESS_MAX + 2], address[ADDRESS_MAX + 1];

	if (snprintf(probe, sizeof(probe), "x%s", value) >= (int)sizeof(probe) || address_normalise(probe, address) < 0)
		return -EINVAL;
	return text_copy(ret, ADDRESS_MAX + 1, address + 1) ? 0 : -EINVAL;
}

int shop_barred_read(const char *value, char ret[ADDRESS_MAX + 1])
{
	return value[0] == '@' ? normalise_domain(value, ret) : address_normalise(value, ret);
}

static int read_never(const char *value, void *context)
{
	struct shop *shop = context;

	return *value ? shop_barred_read(value, shop->never[shop->never_count++]) : 0;
}

static int read_staff(const char *value, void *context)
{
	struct shop *shop = context;

	return *value ? shop_barred_read(value, shop->staff[shop->staff_count++]) : 0;
}

static int read_selector(const char *value, void *context)
{
	struct shop *shop = context;

	if (*value)
		TEXT_COPY(shop->dkim_selectors[shop->dkim_selector_count++], value);
	return 0;
}

static int read_host(const char *value, void *context)
{
	struct shop *shop = context;

	if (*value)
		TEXT_COPY(shop->hosts[shop->host_count++], value);
	return 0;
}

static int read_topic(const char *value, void *context)
{
	struct shop *shop = context;

	if (*value)
		TEXT_COPY(shop->sns_topics[shop->sns_topic_count++], value);
	return 0;
}

static int read_report_to(const char *value, void *context)
{
	struct shop *shop = context;

	return *value ? address_normalise(value, shop->report_to[shop->report_to_count++]) : 0;
}

static void read_report(struct reading *reading)
{
	const struct config *config = reading->config;
	struct shop *shop = reading->shop;

	shop->weekly = config_yes(config, "report", NULL, "weekly");
	shop->narrate = config_yes(config, "report", NULL, "narrate");
	shop->windows.clicked_us = config_number(config, "report", NULL, "clicked-within");
	shop->windows.mailed_us = config_number(config, "report", NULL, "mailed-within");
}

static int read_lists(struct reading *reading)
{
	static const struct {
		const char *section, *key;
		int (*each)(const char *value, void *context);
	} lists[] = { { "report", "to", read_report_to }, { "shop", "host", read_host },
		{ "mail", "never", read_never }, { "mail", "sns-topic", read_topic },
		{ "mail", "dkim-selector", read_selector }, { "exclude", "staff", read_staff } };
	int err = 0;

	for (size_t i = 0; err == 0 && i < sizeof(lists) / sizeof(lists[0]); i++)
		err = config_each_value(
			reading->config, lists[i].section, NULL, lists[i].key, lists[i].each, reading->shop);
	return err;
}

static void read_storefront(struct reading *reading)
{
	const struct config *config = reading->config;
	struct shop_storefront *storefront = &reading->shop->storefront;
	const char *api = value_of(reading, "storefront", "api");
	size_t len = strlen(api);

	/* the words are in the order of enum storefront_platform, and none is STOREFRONT_NONE */
	storefront->platform = (enum storefront_platform)(config_word(config, "storefront", NULL, "platform") + 1);
	if (storefront->platform == STOREFRONT_NONE)
		return;
	text_copy_bytes(
		storefront->api, sizeof(storefront->api), BYTES(api, len && api[len - 1] == '/' ? len - 1 : len));
	TEXT_COPY(storefront->api_version, value_of(reading, "storefront", "api-version"));
	storefront->deadline_us = config_number(config, "storefront", NULL, "api-deadline");
}

static void read_google(struct reading *reading)
{
	struct shop_google *google = &reading->shop->google;

	TEXT_COPY(google->sheet, value_of(reading, "export", "sheet"));
	TEXT_COPY(google->tab, value_of(reading, "export", "tab"));
	TEXT_COPY(google->rules, value_of(reading, "documents", "rules"));
	TEXT_COPY(google->voice, value_of(reading, "documents", "voice"));
}

/* keys.c has checked each value. This fails if its check differs from the reader, or for several values. */
static int read_all(struct reading *reading, struct config_error *ret_error)
{
	int err = read_senders(reading);

	read_face(reading);
	read_mail(reading);
	read_report(reading);
	read_storefront(reading);
	read_google(reading);
	if (err == 0)
		err = read_lists(reading);
	if (err == 0)
		err = read_accent(reading, ret_error);
	return err == 0 ? shop_read_policy(reading->config, reading->shop, ret_error) : err;
}

DEFINE_CLEANUP(struct config *, config_free)

int shop_parse(const char *text, const char *name, const char *file, struct shop *ret, struct config_error *ret_error)
{
	_cleanup_(config_freep) struct config *config = NULL;

	memset(ret, 0, sizeof(*ret));
	if (!shop_name_valid(name)) {
		snprintf(ret_error->text, sizeof(ret_error->text),
			"%s: expected a shop name of a-z, 0-9 and -, at most %d characters, found \"%.60s\"", file,
			SHOP_NAME_MAX, name);
		return -EINVAL;
	}
	TEXT_COPY(ret->name, name);
	int err = config_parse(text, file, shop_keys, &config, ret_error);
	if (err < 0)
		return err;
	struct reading reading = { .config = config, .shop = ret };
	return read_all(&reading, ret_error);
}

bool shop_name_valid(const char *name)
{
	size_t len = strlen(name);

	return len > 0 && len <= SHOP_NAME_MAX && name[0] != '-' && name[len - 1] != '-' &&
		strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == len;
}

/* ---- is an address, a topic or a host on one of the owner's lists? ---- */

/* "@rival.example" also covers mail.rival.example: an owner who bars a company means all its domains. */
static bool domain_covers(const char *entry, const char *domain)
{
	size_t own = strlen(entry), len = strlen(domain);

	return len >= own && strcmp(domain + len - own, entry) == 0 && (len == own || domain[len - own - 1] == '.');
}

static bool list_covers(const char (*list)[ADDRESS_MAX + 1], int count, const char *normalised_address)
{
	for (int i = 0; i < count; i++) {
		const char *entry = list[i];
		if (entry[0] == '@' ? domain_covers(entry + 1, address_domain(normalised_address))
				    : strcmp(entry, normalised_address) == 0)
			return true;
	}
	return false;
}

/* The host without "www.", because "www.shop.example" means all of shop.example. */
static const char *without_www(const char *host)
{
	return text_starts(host, "www.") && strchr(host + 4, '.') ? host + 4 : host;
}

static bool is_platforms_own(Platform platform, const char *host)
{
	switch (platform) {
	case PLATFORM_SHOPIFY:
		return domain_covers("myshopify.com", host);
	case PLATFORM_BIGCOMMERCE:
		return domain_covers("mybigcommerce.com", host);
	case PLATFORM_UNKNOWN:
	case PLATFORM_WOOCOMMERCE:
	case PLATFORM_GENERIC:
		break;
	}
	return false;
}

bool shop_owns_host(const struct shop *shop, Platform platform, const char *host)
{
	char own[URL_HOST_ROOM];

	if (url_host(shop->url, own) && domain_covers(without_www(own), host))
		return true;
	if (url_host(shop->storefront.api, own) && strcmp(own, host) == 0)
		return true;
	for (int i = 0; i < shop->host_count; i++)
		if (domain_covers(shop->hosts[i], host))
			return true;
	return is_platforms_own(platform, host);
}

bool shop_owns_url(const struct shop *shop, Platform platform, const char *url)
{
	char host[URL_HOST_ROOM];

	return url_host(url, host) && text_starts(url, "https://") && shop_owns_host(shop, platform, host);
}

bool shop_trusts_topic(const struct shop *shop, const char *topic_arn)
{
	for (int i = 0; i < shop->sns_topic_count; i++)
		if (strcmp(shop->sns_topics[i], topic_arn) == 0)
			return true;
	return false;
}

bool shop_never_mails(const struct shop *shop, const char *normalised_address)
{
	return list_covers(shop->never, shop->never_count, normalised_address);
}

bool shop_employs(const struct shop *shop, const char *normalised_address)
{
	return list_covers(shop->staff, shop->staff_count, normalised_address);
}
