/*
 * chase.c: whom the shop's policy lets cartbus chase
 *
 * Promises:  pure; the same answer wherever it is asked (waiter and sender); what the owner or the shopper said comes before what is
 *            found in the cart.
 * Read next: chase.h, purchases.c
 */
#include "services/carts/policy/chase.h"
#include "bus/base/text.h"
#include "services/carts/policy/purchases.h"
#include <fnmatch.h>
#include <stdio.h>
#include <unicode/uchar.h>
#include <unicode/ustring.h>

static const struct {
	const char *word, *text;
} words[] = { [CHASE_YES] = { "yes", "may be chased" },
	[CHASE_SAID_NO] = { "said_no", "the shopper said no to marketing" },
	[CHASE_UNREADABLE_CONSENT] = { "unreadable_consent",
		"the storefront's answer to whether the shopper agreed to mail is neither a yes nor a no: in doubt it "
		"is a no" },
	[CHASE_NO_CONSENT] = { "no_consent",
		"the shopper did not agree to marketing, and the shop mails only who did" },
	[CHASE_NO_CUSTOMER] = { "no_customer",
		"the shopper neither bought here before nor agreed to marketing, and the shop mails only who did" },
	[CHASE_NEVER_MAIL] = { "never_mail", "the address is on the owner's never-mail list" },
	[CHASE_STAFF] = { "staff", "the address is one of the shop's own people's" },
	[CHASE_NOBODYS] = { "nobodys", "no shopper reads mail to this address: it is a machine's or a postmaster's" },
	[CHASE_TEST] = { "test", "it is a test cart, and the shop is live" },
	[CHASE_TAG] = { "tag", "the owner excludes carts with its tag" },
	[CHASE_PRODUCT] = { "product", "the owner excludes carts with a product that it holds" } };

const char *chase_word(enum chase chase)
{
	return words[chase].word;
}

const char *chase_text(enum chase chase)
{
	return words[chase].text;
}

/* Mailboxes that RFC 2142 and custom give to machines and offices. info@ and sales@ are not among them: small firms shop with them. */
static bool is_nobodys(const char *address)
{
	static const char *const locals[] = { "abuse", "bounce", "bounces", "do-not-reply", "donotreply", "hostmaster",
		"mailer-daemon", "no-reply", "nobody", "noreply", "postmaster" };
	size_t len = strcspn(address, "@+");

	for (size_t i = 0; i < sizeof(locals) / sizeof(locals[0]); i++)
		if (strlen(locals[i]) == len && memcmp(locals[i], address, len) == 0)
			return true;
	return false;
}

/* For comparing: without the case of any script. What is no UTF-8 is left as it is. */
static const char *fold_case(const char *text, char *ret, size_t room)
{
	UErrorCode error = U_ZERO_ERROR;
	UChar wide[256], folded[512];
	int32_t len = 0, made = 0;

	u_strFromUTF8(wide, sizeof(wide) / sizeof(wide[0]), &len, text, -1, &error);
	made = u_strFoldCase(folded, sizeof(folded) / sizeof(folded[0]), wide, U_SUCCESS(error) ? len : 0,
		U_FOLD_CASE_DEFAULT, &error);
	u_strToUTF8(ret, (int32_t)room, NULL, folded, U_SUCCESS(error) ? made : 0, &error);
	if (U_FAILURE(error) || error == U_STRING_NOT_TERMINATED_WARNING)
		text_copy(ret, room, text);
	return ret;
}

static bool matches(const char *pattern, const char *text)
{
	char folded[600], folded_pattern[600];

	if (!*text)
		return false;
	return fnmatch(fold_case(pattern, folded_pattern, sizeof(folded_pattern)),
		       fold_case(text, folded, sizeof(folded)), 0) == 0;
}

static const char *field_of(const Item *item, enum product_field field)
{
	switch (field) {
	case PRODUCT_SKU:
		return item->sku;
	case PRODUCT_ID:
		return item->product_id;
	case PRODUCT_VENDOR:
		return item->vendor;
	case PRODUCT_TITLE:
		return item->title;
	}
	return "";
}

static const char *excluded_product(const struct shop *shop, const CartState *cart)
{
	for (int i = 0; i < shop->product_count; i++) {
		const struct product_pattern *product = &shop->products[i];
		for (int item = 0; item < cart->items_count; item++)
			if (matches(product->pattern, field_of(&cart->items[item], product->field)))
				return product->pattern;
	}
	return NULL;
}

static bool same_tag(const char *a, const char *b)
{
	char folded[200], other[200];

	return strcmp(fold_case(a, folded, sizeof(folded)), fold_case(b, other, sizeof(other))) == 0;
}

static const char *excluded_tag(const struct shop *shop, const CartState *cart)
{
	for (int i = 0; i < shop->tag_count; i++)
		for (int tag = 0; tag < cart->tags_count; tag++)
			if (same_tag(shop->tags[i], cart->tags[tag]))
				return shop->tags[i];
	return shop->tag_count > 0 && cart->tags_left_out > 0 ? "it has more than can be kept" : NULL;
}

static enum chase by_address(const struct shop *shop, const char *address)
{
	if (shop_never_mails(shop, address))
		return CHASE_NEVER_MAIL;
	if (shop_employs(shop, address))
		return CHASE_STAFF;
	return is_nobodys(address) ? CHASE_NOBODYS : CHASE_YES;
}

static enum chase by_consent(const struct state *state, const struct shop *shop, const CartState *cart)
{
	switch (cart->consent) {
	case CONSENT_YES:
		return CHASE_YES;
	case CONSENT_NO:
		return cart->consent_unreadable ? CHASE_UNREADABLE_CONSENT : CHASE_SAID_NO;
	case CONSENT_UNKNOWN:
		break;
	}
	switch (shop->consent) {
	case CONSENT_ALL:
		return CHASE_YES;
	case CONSENT_CUSTOMERS:
		return purchases_know(state, shop, cart) ? CHASE_YES : CHASE_NO_CUSTOMER;
	case CONSENT_MARKETING:
		break;
	}
	return CHASE_NO_CONSENT;
}

static struct chase_finding by_contents(const struct shop *shop, const CartState *cart, ShopMode mode)
{
	const char *tag = excluded_tag(shop, cart);
	const char *product = tag ? NULL : excluded_product(shop, cart);

	if (tag)
		return (struct chase_finding){ CHASE_TAG, tag };
	if (product)
		return (struct chase_finding){ CHASE_PRODUCT, product };
	return (struct chase_finding){ cart->test && mode == MODE_LIVE && !shop->chase_tests ? CHASE_TEST : CHASE_YES,
		"" };
}

struct chase_finding chase_decide(
	const struct state *state, const struct shop *shop, const CartState *cart, ShopMode mode)
{
	enum chase chase = by_address(shop, cart->ids.email);

	if (chase == CHASE_YES)
		chase = by_consent(state, shop, cart);
	if (chase != CHASE_YES)
		return (struct chase_finding){ chase, "" };
	return by_contents(shop, cart, mode);
}
