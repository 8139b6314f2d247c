/*
 * keys.c: every key of shop.conf with the check of its value; shop.c makes a struct shop of the values
 */
#include "bus/base/clock.h"
#include "bus/base/text.h"
#include "services/kit/http/url.h"
#include "services/kit/mail/bounce_tag.h"
#include "services/kit/money/money.h"
#include "services/kit/shop/shop.h"
#include "services/kit/time/zone.h"
#include <errno.h>
#include <unicode/uloc.h>

#define MAILS_MOST INT64_C(100000000)
#define WINDOW_MOST_US (60 * US_PER_DAY)
#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
#define FIELD(member) ((int64_t)sizeof(((struct shop *)NULL)->member) - 1)
#define ROOM(member) (sizeof(((struct shop *)NULL)->member) / sizeof(((struct shop *)NULL)->member[0]))

enum { GOOGLE_ID_LEAST = 10 };

static bool is_locale(const char *value)
{
	UErrorCode error = U_ZERO_ERROR;
	char name[64];
	int32_t used = 0;

	int32_t len = uloc_forLanguageTag(value, name, sizeof(name), &used, &error);
	if (U_FAILURE(error) || len <= 0 || (size_t)used != strlen(value) || len >= (int32_t)sizeof(name))
		return false;
	return uloc_getISO3Language(name)[0] != '\0' && (!strchr(name, '_') || uloc_getISO3Country(name)[0] != '\0');
}

static bool is_storefront(const char *value)
{
	const char *host = text_starts(value, "https://") ? value + 8 : text_starts(value, "http://") ? value + 7 : "";

	for (const char *c = value; *c; c++)
		if (*c <= ' ' || *c > '~' || strchr("\"<>\\^`{|}", *c))
			return false;
	return host[0] && !strchr("/:?#@", host[0]) && !memchr(host, '@', strcspn(host, "/?#"));
}

static bool is_shop_host(const char *value)
{
	return strchr(value, '.') && *value != '.' && !value[strspn(value, "abcdefghijklmnopqrstuvwxyz0123456789.-")];
}

static bool is_picture(const char *value)
{
	return text_starts(value, "https://") && is_storefront(value);
}

static bool is_address(const char *value)
{
	char address[ADDRESS_MAX + 1];

	return address_normalise(value, address) == 0;
}

static bool is_bounce(const char *value)
{
	char address[ADDRESS_MAX + 1];

	return address_normalise(value, address) == 0 && bounce_template_valid(address);
}

static bool is_barred(const char *value)
{
	char entry[ADDRESS_MAX + 1];

	return shop_barred_read(value, entry) == 0;
}

/* Is it a selector: labels with dots between them (RFC 6376 3.1)? */
static bool is_selector(const char *value)
{
	return !value[strspn(value, LETTERS "0123456789-_.")];
}

static bool is_topic(const char *value)
{
	return text_starts(value, "arn:aws") && strstr(value, ":sns:") && !strpbrk(value, " \t\"");
}

static bool is_google_id(const char *value)
{
	return !value[strspn(value, LETTERS "0123456789-_")] && strlen(value) >= GOOGLE_ID_LEAST;
}

static bool is_product(const char *value)
{
	enum product_field field;
	const char *pattern = shop_product_pattern(value, &field);

	return *pattern && strlen(pattern) < sizeof(((struct product_pattern *)NULL)->pattern);
}

/* Is it a URL? cartbus.conf decides whether the API may be on this machine, and without TLS. */
static bool is_api(const char *value)
{
	char host[URL_HOST_ROOM];

	for (const char *at = value; *at; at++)
		if (*at <= ' ' || *at > '~' || strchr("?#", *at))
			return false;
	return url_host(value, host);
}

static bool is_version(const char *value)
{
	return !value[strspn(value, "0123456789-abcdefghijklmnopqrstuvwxyz")];
}

#define ADDRESS CONFIG_JUDGED("a mail address, as shop@example.com", ADDRESS_MAX, is_address)
#define MAILBOX CONFIG_JUDGED("a mail address, as Flowers <shop@example.com>", FIELD(from), shop_mailbox_valid)
#define BARRED CONFIG_JUDGED("a mail address or @domain", ADDRESS_MAX, is_barred)
#define GOOGLE_ID                                                                                                      \
	CONFIG_JUDGED("the id out of its address: what stands between /d/ and /edit", GOOGLE_ID_MAX, is_google_id)
#define STATUS CONFIG_TEXT((int64_t)sizeof(((struct payment_word *)NULL)->status) - 1)

const struct config_key shop_keys[] = {
	{ "shop", "time-zone", NULL, "the shop's zone, as Europe/Berlin; required",
		.kind = CONFIG_JUDGED("a time zone such as Europe/Berlin", FIELD(zone), zone_valid), .required = true },
	{ "shop", "currency", NULL, "the shop's currency, as EUR; required",
		.kind = CONFIG_JUDGED("a currency code such as EUR", FIELD(currency), money_currency_valid),
		.required = true },
	{ "shop", "locale", NULL, "language and country of mails to shoppers whose own is unknown, as de-DE; required",
		.kind = CONFIG_JUDGED("a language and country such as de-DE", FIELD(locale), is_locale),
		.required = true },
	{ "shop", "title", NULL, "how mails name the shop; required", .kind = CONFIG_TEXT(FIELD(title)),
		.required = true },
	{ "shop", "url", NULL, "the storefront; required",
		.kind = CONFIG_JUDGED("the storefront's URL, as https://shop.example", FIELD(url), is_storefront),
		.required = true },
	{ "shop", "host", NULL,
		"a further host, as checkout.example, that links back to a basket may lead to; may be repeated",
		.repeated = ROOM(hosts),
		.kind = CONFIG_JUDGED(
			"the name of a host in small letters, as checkout.example", FIELD(hosts[0]), is_shop_host) },
	{ "mail", "from", NULL, "sender of the mails, as Flowers <shop@example.com>; required", .kind = MAILBOX,
		.required = true },
	{ "mail", "reply-to", NULL, "where answers go; the sender if not given", .kind = MAILBOX },
	{ "mail", "bounce", NULL,
		"envelope sender, gets the bounces; a * in it becomes a signed tag of each mail; the sender's address "
		"if not given",
		.kind = CONFIG_JUDGED("a mail address, with at most one * and few further characters before the @",
			ADDRESS_MAX, is_bounce) },
	{ "mail", "sns-topic", NULL, "ARN of an SNS topic of SES whose bounces and complaints count; may be repeated",
		.repeated = ROOM(sns_topics),
		.kind = CONFIG_JUDGED(
			"an ARN, as arn:aws:sns:eu-central-1:123456789012:bounces", FIELD(sns_topics[0]), is_topic) },
	{ "mail", "dkim-selector", NULL,
		"selector of a key that the mail server signs with, for `cartbus doctor`; may be repeated",
		.repeated = ROOM(dkim_selectors),
		.kind = CONFIG_JUDGED("a selector, as mail2026", FIELD(dkim_selectors[0]), is_selector) },
	{ "mail", "postal-address", NULL, "stands at the foot of each mail, as the law of many countries asks",
		.kind = CONFIG_TEXT(FIELD(postal_address)) },
	{ "mail", "logo", NULL, "https address of a picture that stands in mails in place of the title",
		.kind = CONFIG_JUDGED("the https address of a picture", FIELD(logo), is_picture) },
	{ "mail", "logo-width", "160", "how wide it is shown, in pixels: 32 to 544",
		.kind = CONFIG_COUNT_OF("pixels", 32, 544) },
	{ "mail", "accent", ACCENT_PLAIN,
		"colour of the buttons in mails and on the unsubscribe page; white words on it must be readable",
		.kind = CONFIG_JUDGED("a colour as " ACCENT_PLAIN, FIELD(accent), accent_valid) },
	{ "mail", "owner", NULL, "address of the owner: mode \"mail me\", summaries", .kind = ADDRESS },
	{ "mail", "never", NULL, "an address or @domain that is never mailed; may be repeated", .repeated = ROOM(never),
		.kind = BARRED },
	{ "mail", "consent", "all",
		"all: mail everybody who left a cart; customers: only who bought before or agreed to marketing; "
		"marketing: only who "
		"agreed to it. Who said no is never mailed",
		.kind = CONFIG_WORD("all customers marketing|any") },
	{ "mail", "polish", "no", "yes: the model of cartbus.conf may say the opening line better",
		.kind = CONFIG_YES },
	{ "mail", "count-clicks", "yes",
		"yes: links back to the basket lead by way of the gateway, which counts them, if its public-url is "
		"https; no: straight to the storefront",
		.kind = CONFIG_YES },
	{ "report", "weekly", "no", "yes: a digest each Monday beside the monthly summary", .kind = CONFIG_YES },
	{ "report", "narrate", "no", "yes: the model of cartbus.conf may write the paragraph of the summaries",
		.kind = CONFIG_YES },
	{ "report", "to", NULL, "who gets the summaries beside [mail] owner; may be repeated",
		.repeated = ROOM(report_to), .kind = ADDRESS },
	{ "report", "clicked-within", "7d", "an order so long after a click counts as clicked then bought",
		.kind = CONFIG_SPAN(US_PER_S, WINDOW_MOST_US) },
	{ "report", "mailed-within", "3d", "an order so long after a mail counts as mailed then bought",
		.kind = CONFIG_SPAN(US_PER_S, WINDOW_MOST_US) },
	{ "export", "sheet", NULL, "id of a Google spreadsheet that each night's rows are appended to",
		.kind = GOOGLE_ID },
	{ "export", "tab", NULL, "its tab; the first one if not given", .kind = CONFIG_TEXT(SHEET_TAB_MAX) },
	{ "documents", "rules", NULL, "id of a Google document that holds the rules; rules.txt is the fallback",
		.kind = GOOGLE_ID },
	{ "documents", "voice", NULL, "of one that holds the voice; voice.txt is the fallback", .kind = GOOGLE_ID },
	{ "payment", "bought", NULL, "payment status of an order that is bought; may be repeated",
		.repeated = ROOM(payments), .kind = STATUS },
	{ "payment", "not-yet", NULL, "of one that is not paid: the cart is chased on, its wait starts again; repeated",
		.repeated = ROOM(payments), .kind = STATUS },
	{ "payment", "ignore", NULL, "of one that means nothing; may be repeated", .repeated = ROOM(payments),
		.kind = STATUS },
	{ "exclude", "test-orders", "yes", "yes: test carts are not chased in a live shop; no: like any other",
		.kind = CONFIG_YES },
	{ "exclude", "tag", NULL, "carts with this tag (of customer, cart or checkout) are not chased; repeated",
		.repeated = ROOM(tags), .kind = CONFIG_TEXT(FIELD(tags[0])) },
	{ "exclude", "product", NULL,
		"nor carts with this in them: sku:, id:, vendor: or title: and a pattern with * and ?; may be repeated",
		.repeated = ROOM(products),
		.kind = CONFIG_JUDGED(
			"sku:, id:, vendor: or title: and a pattern, as title:*gift card*", 160, is_product) },
	{ "exclude", "staff", NULL, "an address or @domain of the shop's own people; may be repeated",
		.repeated = ROOM(staff), .kind = BARRED },
	{ "send", "per-minute", "0", "so many mails a minute at most; more wait a little; 0: no limit",
		.kind = CONFIG_COUNT_OF("mails", 0, MAILS_MOST) },
	{ "send", "per-day", "0", "so many on one of the shop's days; more wait for the next; 0: no limit",
		.kind = CONFIG_COUNT_OF("mails", 0, MAILS_MOST) },
	{ "storefront", "platform", NULL, "shopify, woocommerce or bigcommerce: whose API may be asked",
		.kind = CONFIG_WORD("shopify woocommerce bigcommerce"), .needs = "given: api" },
	{ "storefront", "api", NULL, "its API's URL, as https://name.myshopify.com; the secret is the file api",
		.kind = CONFIG_JUDGED("the URL of the storefront's API", FIELD(storefront.api), is_api) },
	{ "storefront", "api-version", "2026-07", "of Shopify's API",
		.kind = CONFIG_JUDGED("a version as 2026-07", FIELD(storefront.api_version), is_version) },
	{ "storefront", "api-deadline", "5s", "for its answer before a mail: 1s to 30s",
		.kind = CONFIG_SPAN(US_PER_S, 30 * US_PER_S) },
	CONFIG_END,
};
