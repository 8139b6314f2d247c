/*
 * shop.c: shop.conf, read strictly
 *
 * Promises:  a shop that parses can be mailed for: its zone, currency and locale exist, its addresses can stand in a header.
 * Fails by:  -EINVAL with file, line and what was expected; the first mistake only.
 * Read next: keys.c (what each value may be), mirror (who reads the file), docs.h (how the rest gets it)
 */
#include "services/kit/shop/shop.h"
#include "bus/base/cleanup.h"
#include "bus/base/text.h"
#include "services/kit/shop/policy.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>

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

/* "Name <address>" or an address alone. */
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
		accent, floor(accent_contrast(accent) * 10) / 10, darker); /* never rounded up to what is enough */
}

static void read_mail(struct reading *reading)
{
	static const enum shop_consent consents[] = { CONSENT_ALL, CONSENT_CUSTOMERS, CONSENT_MARKETING, CONSENT_ALL };
	const struct config *config = reading->config;
	struct shop *shop = reading->shop;

	TEXT_COPY(shop->logo, value_of(reading, "mail", "logo"));
	shop->logo_width = (int)config_number(config, "mail", NULL, "logo-width");
	TEXT_COPY(shop->postal_address, value_of(reading, "mail", "postal-address"));
	shop->consent = consents[config_word(config, "mail", NULL, "consent")]; /* the last is "any", of old */
	shop->polish = config_yes(config, "mail", NULL, "polish");
	shop->count_clicks = config_yes(config, "mail", NULL, "count-clicks");
}

/* A domain is judged, and spelled, as part of an address in it. */
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

/* Every value is right already: what fails here is a table that judges otherwise than it is read, or what two keys say together. */
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
