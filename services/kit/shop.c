/*
 * shop.c: shop.conf, read strictly
 *
 * Promises:  a shop that parses can be mailed for: its zone, currency and locale exist, its addresses can stand in a header.
 * Fails by:  -EINVAL with file, line and what was expected; the first mistake only.
 * Read next: mirror (who reads the file), docs.h (how the rest gets it)
 */
#include "services/kit/shop.h"
#include "bus/base/cleanup.h"
#include "bus/base/clock.h"
#include "bus/base/text.h"
#include "services/kit/bounce_tag.h"
#include "services/kit/money.h"
#include "services/kit/shop_policy.h"
#include "services/kit/shop_storefront.h"
#include "services/kit/span.h"
#include "services/kit/zone.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <unicode/uloc.h>

enum { SHOP_NAME_MAX = 40, LOGO_NARROWEST = 32, LOGO_WIDEST = 544 };

#define WINDOW_MOST_US (60 * US_PER_DAY)
#define ARRAY_LEN(array) (sizeof(array) / sizeof((array)[0]))

struct reading {
	const char *text, *file;
	const struct config *config;
	struct shop *shop;
	struct config_error *error;
	const char *section, *key; /* being read */
	int nth;                   /* of a repeated key */
};

/* Does this line give `key`? */
static bool line_gives(const char *line, size_t len, const char *key)
{
	size_t blank = 0;

	while (blank < len && (line[blank] == ' ' || line[blank] == '\t'))
		blank++;
	size_t name = strlen(key);
	if (len - blank < name || memcmp(line + blank, key, name) != 0)
		return false;
	for (blank += name; blank < len && (line[blank] == ' ' || line[blank] == '\t'); blank++)
		;
	return blank < len && (line[blank] == '=' || line[blank] == ':');
}

/* No key of shop.conf is in two sections, so the key alone finds its line. The last one counts, as in config.h. 0: nowhere. */
static int line_of(const struct reading *reading)
{
	int line = 0, found = 0, seen = 0;

	for (const char *at = reading->text; *at;) {
		size_t len = strcspn(at, "\n");
		line++;
		if (line_gives(at, len, reading->key) && (reading->nth == 0 || ++seen == reading->nth))
			found = line;
		at += len + (at[len] == '\n');
	}
	return found;
}

static int wrong(const struct reading *reading, const char *format, ...) __attribute__((format(printf, 2, 3)));

static int wrong(const struct reading *reading, const char *format, ...)
{
	char *text = reading->error->text;
	size_t room = sizeof(reading->error->text);
	int line = line_of(reading);
	va_list args;

	int len = line
		? snprintf(text, room, "%s:%d: [%s] %s: ", reading->file, line, reading->section, reading->key)
		: snprintf(text, room, "%s: [%s] %s is missing: ", reading->file, reading->section, reading->key);
	va_start(args, format);
	if (len > 0 && (size_t)len < room)
		vsnprintf(text + len, room - (size_t)len, format, args);
	va_end(args);
	return -EINVAL;
}

static const char *value_of(struct reading *reading, const char *section, const char *key)
{
	reading->section = section;
	reading->key = key;
	const char *value = config_get(reading->config, section, NULL, key);
	return value ? value : "";
}

static bool locale_valid(const char *locale)
{
	UErrorCode error = U_ZERO_ERROR;
	char name[64];
	int32_t used = 0;

	int32_t len = uloc_forLanguageTag(locale, name, sizeof(name), &used, &error);
	if (U_FAILURE(error) || len <= 0 || (size_t)used != strlen(locale) || len >= (int32_t)sizeof(name))
		return false;
	return uloc_getISO3Language(name)[0] != '\0' && (!strchr(name, '_') || uloc_getISO3Country(name)[0] != '\0');
}

static int read_place(struct reading *reading)
{
	struct shop *shop = reading->shop;

	const char *zone = value_of(reading, "shop", "time-zone");
	if (!zone_valid(zone) || !TEXT_COPY(shop->zone, zone))
		return wrong(reading, "expected a time zone such as Europe/Berlin, found \"%.60s\"", zone);
	const char *currency = value_of(reading, "shop", "currency");
	if (!money_currency_valid(currency) || !TEXT_COPY(shop->currency, currency))
		return wrong(reading, "expected a currency code such as EUR, found \"%.60s\"", currency);
	const char *locale = value_of(reading, "shop", "locale");
	if (!locale_valid(locale) || !TEXT_COPY(shop->locale, locale))
		return wrong(reading, "expected a language and country such as de-DE, found \"%.60s\"", locale);
	return 0;
}

/* Text that will stand in headers and pages. */
static int read_line(struct reading *reading, const char *value, bool required, char *to, size_t room)
{
	if (required && !value[0])
		return wrong(reading, "expected a text");
	if (text_has_control(value) || !text_is_utf8(bytes_of(value)))
		return wrong(reading, "expected one line of UTF-8 text without control characters");
	if (!text_copy(to, room, value))
		return wrong(reading, "expected at most %zu bytes", room - 1);
	return 0;
}

static bool url_valid(const char *url)
{
	const char *host = text_starts(url, "https://") ? url + 8 : text_starts(url, "http://") ? url + 7 : "";

	for (const char *c = url; *c; c++)
		if (*c <= ' ' || *c > '~' || strchr("\"<>\\^`{|}", *c))
			return false;
	return host[0] && !strchr("/:?#@", host[0]) && !memchr(host, '@', strcspn(host, "/?#"));
}

static int read_face(struct reading *reading)
{
	struct shop *shop = reading->shop;

	int err = read_line(reading, value_of(reading, "shop", "title"), true, shop->title, sizeof(shop->title));
	if (err < 0)
		return err;
	const char *url = value_of(reading, "shop", "url");
	if (!url_valid(url))
		return wrong(reading, "expected the storefront's URL, as https://shop.example, found \"%.80s\"", url);
	return read_line(reading, url, true, shop->url, sizeof(shop->url));
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

static int read_mailbox(struct reading *reading, const char *value, char *to, size_t room, char ret[ADDRESS_MAX + 1])
{
	if (mailbox_address(value, ret) < 0)
		return wrong(reading, "expected a mail address, as Flowers <shop@example.com>, found \"%.80s\"", value);
	return read_line(reading, value, true, to, room);
}

static int read_address(struct reading *reading, const char *value, char ret[ADDRESS_MAX + 1])
{
	if (address_normalise(value, ret) < 0)
		return wrong(reading, "expected a mail address, as shop@example.com, found \"%.80s\"", value);
	return 0;
}

static int read_senders(struct reading *reading)
{
	struct shop *shop = reading->shop;
	char reply_address[ADDRESS_MAX + 1];

	const char *from = value_of(reading, "mail", "from");
	int err = read_mailbox(reading, from, shop->from, sizeof(shop->from), shop->from_address);
	if (err < 0)
		return err;
	const char *reply = value_of(reading, "mail", "reply-to");
	err = read_mailbox(reading, reply[0] ? reply : from, shop->reply_to, sizeof(shop->reply_to), reply_address);
	if (err < 0)
		return err;
	const char *bounce = value_of(reading, "mail", "bounce");
	err = read_address(reading, bounce[0] ? bounce : shop->from_address, shop->bounce);
	if (err == 0 && !bounce_template_valid(shop->bounce))
		return wrong(reading, "expected at most one *, with at most %d further characters before the @",
			BOUNCE_BESIDE_MAX);
	if (err < 0)
		return err;
	const char *owner = value_of(reading, "mail", "owner");
	return owner[0] ? read_address(reading, owner, shop->owner) : 0;
}

static int read_logo(struct reading *reading)
{
	struct shop *shop = reading->shop;
	struct config_error error;
	int64_t width;

	const char *logo = value_of(reading, "mail", "logo");
	if (logo[0] && (!url_valid(logo) || !text_starts(logo, "https://")))
		return wrong(reading, "expected the https address of a picture, found \"%.80s\"", logo);
	int err = read_line(reading, logo, false, shop->logo, sizeof(shop->logo));
	if (err < 0)
		return err;
	const char *given = value_of(reading, "mail", "logo-width");
	if (config_get_int(reading->config, "mail", NULL, "logo-width", LOGO_NARROWEST, LOGO_WIDEST, &width, &error) <
		0)
		return wrong(reading, "expected a number of pixels from %d to %d, found \"%.40s\"", LOGO_NARROWEST,
			LOGO_WIDEST, given);
	shop->logo_width = (int)width;
	return 0;
}

static int read_yes(struct reading *reading, const char *section, const char *key, bool *ret)
{
	const char *value = value_of(reading, section, key);

	if (strcmp(value, "yes") != 0 && strcmp(value, "no") != 0)
		return wrong(reading, "expected yes or no, found \"%.60s\"", value);
	*ret = strcmp(value, "yes") == 0;
	return 0;
}

static int read_foot(struct reading *reading)
{
	struct shop *shop = reading->shop;

	const char *postal = value_of(reading, "mail", "postal-address");
	int err = read_line(reading, postal, false, shop->postal_address, sizeof(shop->postal_address));
	if (err < 0)
		return err;
	const char *consent = value_of(reading, "mail", "consent");
	if (strcmp(consent, "all") == 0 || strcmp(consent, "any") == 0)
		shop->consent = CONSENT_ALL;
	else if (strcmp(consent, "customers") == 0)
		shop->consent = CONSENT_CUSTOMERS;
	else if (strcmp(consent, "marketing") == 0)
		shop->consent = CONSENT_MARKETING;
	else
		return wrong(reading, "expected all, customers or marketing, found \"%.60s\"", consent);
	err = read_yes(reading, "mail", "polish", &shop->polish);
	return err < 0 ? err : read_yes(reading, "mail", "count-clicks", &shop->count_clicks);
}

/* A domain is judged, and spelled, as part of an address in it. */
static int normalise_domain(const char *value, char ret[ADDRESS_MAX + 1])
{
	char probe[ADDRESS_MAX + 2], address[ADDRESS_MAX + 1];

	if (snprintf(probe, sizeof(probe), "x%s", value) >= (int)sizeof(probe) || address_normalise(probe, address) < 0)
		return -EINVAL;
	return text_copy(ret, ADDRESS_MAX + 1, address + 1) ? 0 : -EINVAL;
}

static int read_barred(struct reading *reading, const char *value, char (*list)[ADDRESS_MAX + 1], int *count, int most)
{
	reading->nth++;
	if (*count == most)
		return wrong(reading, "expected at most %d entries", most);
	char *entry = list[*count];
	int err = value[0] == '@' ? normalise_domain(value, entry) : address_normalise(value, entry);
	if (err < 0)
		return wrong(reading, "expected a mail address or @domain, found \"%.80s\"", value);
	++*count;
	return 0;
}

static int read_never(const char *value, void *context)
{
	struct reading *reading = context;
	struct shop *shop = reading->shop;

	return read_barred(reading, value, shop->never, &shop->never_count, (int)ARRAY_LEN(shop->never));
}

static int read_staff(const char *value, void *context)
{
	struct reading *reading = context;
	struct shop *shop = reading->shop;

	return read_barred(reading, value, shop->staff, &shop->staff_count, (int)ARRAY_LEN(shop->staff));
}

/* What is read in shop_policy.c. */
static int read_policy(struct reading *reading)
{
	struct shop_mistake mistake = { 0 };

	if (shop_read_policy(reading->config, reading->shop, &mistake) == 0)
		return 0;
	reading->section = mistake.section;
	reading->key = mistake.key;
	reading->nth = mistake.nth;
	return wrong(reading, "%s", mistake.expected);
}

static int read_each(
	struct reading *reading, const char *section, const char *key, int (*each)(const char *value, void *context))
{
	reading->section = section;
	reading->key = key;
	reading->nth = 0;
	return config_each_value(reading->config, section, NULL, key, each, reading);
}

static int read_storefront(struct reading *reading)
{
	const char *key;
	char expected[160];

	if (shop_read_storefront(reading->config, &reading->shop->storefront, &key, expected) == 0)
		return 0;
	const char *found = value_of(reading, "storefront", key);
	return wrong(reading, "expected %s, found \"%.60s\"", expected, found);
}

/* Labels with dots between them (RFC 6376 3.1). */
static int read_selector(const char *value, void *context)
{
	static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.";
	struct reading *reading = context;
	struct shop *shop = reading->shop;

	reading->nth++;
	if ((size_t)shop->dkim_selector_count == ARRAY_LEN(shop->dkim_selectors))
		return wrong(reading, "expected at most %zu selectors", ARRAY_LEN(shop->dkim_selectors));
	if (!*value || value[strspn(value, allowed)] ||
		!text_copy(shop->dkim_selectors[shop->dkim_selector_count], sizeof(shop->dkim_selectors[0]), value))
		return wrong(reading, "expected a selector, as mail2026, found \"%.80s\"", value);
	shop->dkim_selector_count++;
	return 0;
}

static int read_topic(const char *value, void *context)
{
	struct reading *reading = context;
	struct shop *shop = reading->shop;

	reading->nth++;
	if ((size_t)shop->sns_topic_count == ARRAY_LEN(shop->sns_topics))
		return wrong(reading, "expected at most %zu topics", ARRAY_LEN(shop->sns_topics));
	if (!text_starts(value, "arn:aws") || !strstr(value, ":sns:") || strpbrk(value, " \t\"") ||
		!text_copy(shop->sns_topics[shop->sns_topic_count], sizeof(shop->sns_topics[0]), value))
		return wrong(reading,
			"expected an ARN, as arn:aws:sns:eu-central-1:123456789012:bounces, found \"%.80s\"", value);
	shop->sns_topic_count++;
	return 0;
}

static int read_window(struct reading *reading, const char *key, int64_t *ret_us)
{
	const char *value = value_of(reading, "report", key);

	if (span_parse(value, WINDOW_MOST_US, ret_us) < 0)
		return wrong(reading, "expected a span such as 3d or 12h, at most 60d, found \"%.60s\"", value);
	return 0;
}

static int read_report_to(const char *value, void *context)
{
	struct reading *reading = context;
	struct shop *shop = reading->shop;

	reading->nth++;
	if ((size_t)shop->report_to_count == ARRAY_LEN(shop->report_to))
		return wrong(reading, "expected at most %zu addresses", ARRAY_LEN(shop->report_to));
	return read_address(reading, value, shop->report_to[shop->report_to_count++]);
}

static int read_report(struct reading *reading)
{
	struct shop *shop = reading->shop;
	int err = read_yes(reading, "report", "weekly", &shop->weekly);

	if (err == 0)
		err = read_yes(reading, "report", "narrate", &shop->narrate);
	if (err == 0)
		err = read_window(reading, "clicked-within", &shop->windows.clicked_us);
	if (err == 0)
		err = read_window(reading, "mailed-within", &shop->windows.mailed_us);
	if (err < 0)
		return err;
	value_of(reading, "report", "to");
	reading->nth = 0;
	err = config_each_value(reading->config, "report", NULL, "to", read_report_to, reading);
	reading->nth = 0;
	return err;
}

static int read_all(struct reading *reading)
{
	int err = read_place(reading);

	if (err == 0)
		err = read_face(reading);
	if (err == 0)
		err = read_senders(reading);
	if (err == 0)
		err = read_logo(reading);
	if (err == 0)
		err = read_foot(reading);
	if (err == 0)
		err = read_report(reading);
	if (err == 0)
		err = read_storefront(reading);
	if (err == 0)
		err = read_each(reading, "mail", "never", read_never);
	if (err == 0)
		err = read_each(reading, "mail", "sns-topic", read_topic);
	if (err == 0)
		err = read_each(reading, "mail", "dkim-selector", read_selector);
	if (err == 0)
		err = read_each(reading, "exclude", "staff", read_staff);
	return err == 0 ? read_policy(reading) : err;
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
	struct reading reading = { .text = text, .file = file, .config = config, .shop = ret, .error = ret_error };
	return read_all(&reading);
}

bool shop_name_valid(const char *name)
{
	size_t len = strlen(name);

	return len > 0 && len <= SHOP_NAME_MAX && name[0] != '-' && name[len - 1] != '-' &&
		strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == len;
}
