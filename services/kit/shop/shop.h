/*
 * shop.h: what the owner configured for one shop (shops/<name>/shop.conf), as the `document` of kind "shop" carries it
 *
 *     [shop]
 *     time-zone = Europe/Berlin          required: a shop without a valid zone does not start
 *     currency = EUR                     required
 *     locale = de-DE                     required: of mails to shoppers whose own locale is unknown
 *     title = Blumen Huber               required: how mails name the shop
 *     url = https://shop.example         required
 *     host = checkout.example            repeated: further hosts that links back to a basket may lead to
 *     [mail]
 *     from = Blumen Huber <shop@shop.example>   required
 *     reply-to, bounce (envelope sender), postal-address, owner (address: "mail me", summaries)
 *     sns-topic = arn:aws:sns:...        repeated: topics whose notifications of bounces and complaints are believed
 *     dkim-selector = mail2026           repeated: which keys in the DNS the mail server signs with (cartbus doctor)
 *     never = @rival.example             repeated: addresses or @domains that are never mailed
 *     logo = https://shop.example/logo.png, logo-width = 160    in place of the title
 *     accent = #1c5fb8                   of buttons: white words on it must be readable
 *     consent = all                      all | customers | marketing (carts/policy/eligibility.h)
 *     count-clicks = yes                 yes | no
 *     [report]
 *     weekly = no                        yes: a digest each Monday as well
 *     narrate = no                       yes: a model may write the summaries' paragraph
 *     to = partner@shop.example          repeated: who gets the summaries beside the owner
 *     clicked-within = 7d                an order so long after a click is "clicked then bought"
 *     mailed-within = 3d                 an order so long after a mail is "mailed then bought"
 *     [export]
 *     sheet = 1AbC...                    id of a Google spreadsheet that each night's rows are appended to
 *     tab = Carts                        its tab; the first one if not given
 *     [documents]                        Google documents; rules.txt and voice.txt are their fallback
 *     rules = 1AbC..., voice = 1DeF...
 *     [payment]                          repeated: what an order's payment status means (carts/policy/purchases.h)
 *     bought, not-yet, ignore
 *     [exclude]                          which carts get no reminders (carts/policy/eligibility.h)
 *     test-orders = yes, tag, product, staff
 *     [send]                             how many mails at most (kit/mail/pace.h)
 *     per-minute, per-day
 *     [storefront]                       the API to ask before a mail and after a downtime; optional
 *     platform = shopify                 shopify | woocommerce | bigcommerce
 *     api = https://name.myshopify.com   WooCommerce: the store's URL; BigCommerce: https://api.bigcommerce.com/stores/HASH
 *     api-version = 2026-07              of Shopify's API
 *     api-deadline = 5s                  for its answer, before a mail: 1s to 30s
 */
#ifndef KIT_SHOP_SHOP_H
#define KIT_SHOP_SHOP_H

#include "bus/base/config.h"
#include "platform.pb.h"
#include "services/kit/mail/address.h"
#include "services/kit/shop/accent.h"

enum shop_consent { CONSENT_ALL, CONSENT_CUSTOMERS, CONSENT_MARKETING };
enum payment_meaning { PAYMENT_BOUGHT, PAYMENT_NOT_YET, PAYMENT_IGNORED };

struct payment_word {
	char status[32];
	enum payment_meaning meaning;
};

enum product_field { PRODUCT_SKU, PRODUCT_ID, PRODUCT_VENDOR, PRODUCT_TITLE };

struct product_pattern {
	enum product_field field;
	char pattern[128]; /* with * and ?; upper and lower case are the same */
};

struct shop_windows { /* carts/report/report_fold.h */
	int64_t clicked_us, mailed_us;
};

enum storefront_platform { STOREFRONT_NONE, STOREFRONT_SHOPIFY, STOREFRONT_WOOCOMMERCE, STOREFRONT_BIGCOMMERCE };

struct shop_storefront {
	enum storefront_platform platform; /* NONE: no storefront is asked */
	char api[200];                     /* without a slash at its end */
	char api_version[16];
	int64_t deadline_us;
};

enum { GOOGLE_ID_MAX = 127, SHEET_TAB_MAX = 99 };

struct shop_google {
	char sheet[GOOGLE_ID_MAX + 1]; /* "": none */
	char tab[SHEET_TAB_MAX + 1];
	char rules[GOOGLE_ID_MAX + 1], voice[GOOGLE_ID_MAX + 1];
};

struct shop {
	char name[64]; /* [a-z0-9-], at most 40 */
	char zone[40];
	char currency[4];
	char locale[24];
	char title[100];
	char url[256];
	int host_count;
	char hosts[8][128]; /* besides the host of `url` */
	char from[320];     /* as in the header */
	char from_address[ADDRESS_MAX + 1];
	char reply_to[320];
	char bounce[ADDRESS_MAX + 1]; /* may have a `*`: bounce_tag.h */
	char owner[ADDRESS_MAX + 1];
	char postal_address[300];
	char logo[256]; /* https; "": none */
	int logo_width; /* in CSS pixels */
	char accent[ACCENT_ROOM];
	enum shop_consent consent;
	bool polish;       /* a model may improve the opening line, if one is configured */
	bool count_clicks; /* return links lead through the gateway */
	bool weekly;
	bool narrate; /* a model may write the paragraph of the summaries, if one is configured */
	struct shop_windows windows;
	int report_to_count;
	char report_to[8][ADDRESS_MAX + 1];
	int never_count;
	char never[64][ADDRESS_MAX + 1]; /* normalised; "@domain" for a whole domain */
	int dkim_selector_count;
	char dkim_selectors[4][64]; /* of the keys with which the mail server signs */
	int sns_topic_count;
	char sns_topics[8][260];
	int payment_count;
	struct payment_word payments[24];
	bool chase_tests; /* remind also about test orders and test carts, in a live shop */
	int tag_count;
	char tags[32][48];
	int product_count;
	struct product_pattern products[32];
	int staff_count;
	char staff[32][ADDRESS_MAX + 1];    /* as `never` */
	uint32_t most_a_minute, most_a_day; /* mails; 0: no limit */
	struct shop_storefront storefront;
	struct shop_google google;
};

extern const struct config_key shop_keys[];
bool shop_mailbox_valid(const char *mailbox); /* "Name <address>" or an address alone */
/* Normalises an address, or "@domain" for a whole domain. -EINVAL: it is neither. */
int shop_barred_read(const char *value, char ret[ADDRESS_MAX + 1]);
/* The text after "sku:", "id:", "vendor:" or "title:"; "": it has none of these. */
const char *shop_product_pattern(const char *value, enum product_field *ret);

/* -EINVAL: ret_error says file, line and what was expected. `file` is only for messages. */
int shop_parse(const char *text, const char *name, const char *file, struct shop *ret, struct config_error *ret_error);
bool shop_name_valid(const char *name);
/*
 * Does this https URL lead to the shop: to the host of its url, a host below it, a listed host, or the host
 * of its API? In data from a platform, that platform's own name of a shop (name.myshopify.com) counts too.
 * The URL must not have a user name or password.
 */
bool shop_owns_url(const struct shop *shop, Platform platform, const char *url);
bool shop_owns_host(const struct shop *shop, Platform platform, const char *host); /* as url_host gives it */
bool shop_trusts_topic(const struct shop *shop, const char *topic_arn);
bool shop_never_mails(const struct shop *shop, const char *normalised_address);
bool shop_employs(const struct shop *shop, const char *normalised_address);

#endif
