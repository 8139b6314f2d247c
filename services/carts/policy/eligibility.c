/*
 * eligibility.c: decides for which carts the shop's policy allows reminders
 *
 * Promises:  pure. Waiter and sender get the same answer. The owner's lists and the shopper's consent are
 *            checked before the contents of the cart.
 * Read next: eligibility.h, purchases.c
 */
#include "services/carts/policy/eligibility.h"
#include "bus/base/text.h"
#include "services/carts/policy/purchases.h"
#include <fnmatch.h>
#include <stdio.h>
#include <unicode/uchar.h>
#include <unicode/ustring.h>

static const struct {
	const char *word, *text;
} words[] = { [ELIGIBILITY_YES] = { "yes", "may be chased" },
	[ELIGIBILITY_SAID_NO] = { "said_no", "the shopper said no to marketing" },
	[ELIGIBILITY_UNREADABLE_CONSENT] = { "unreadable_consent",
		"the storefront's answer to whether the shopper agreed to mail is neither a yes nor a no: in doubt it "
		"is a no" },
	[ELIGIBILITY_NO_CONSENT] = { "no_consent",
		"the shopper did not agree to marketing, and the shop mails only who did" },
	[ELIGIBILITY_NO_CUSTOMER] = { "no_customer",
		"the shopper neither bought here before nor agreed to marketing, and the shop mails only who did" },
	[ELIGIBILITY_NEVER_MAIL] = { "never_mail", "the address is on the owner's never-mail list" },
	[ELIGIBILITY_STAFF] = { "staff", "the address is one of the shop's own people's" },
	[ELIGIBILITY_NOBODYS] = { "nobodys",
		"no shopper reads mail to this address: it is a machine's or a postmaster's" },
	[ELIGIBILITY_TEST] = { "test", "it is a test cart, and the shop is live" },
	[ELIGIBILITY_TAG] = { "tag", "the owner excludes carts with its tag" },
	[ELIGIBILITY_PRODUCT] = { "product", "the owner excludes carts with a product that it holds" } };

const char *eligibility_word(enum eligibility eligibility)
{
	return words[eligibility].word;
}

const char *eligibility_text(enum eligibility eligibility)
{
	return words[eligibility].text;
}

/*
 * Mailboxes that machines and offices have by RFC 2142 or by custom. info@ and sales@ are missing, because
 * small firms shop with these addresses.
 */
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

/*
 * Folds the case of any script, to compare texts. A text that is not UTF-8, or is too long, stays as it is.
 */
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

/*
 * fnmatch takes a byte for a character in the C locale, which the services have. So each character of a pattern
 * beyond ASCII gets a byte of its own. All characters that only the text has share one byte.
 */
enum { FOLDED_ROOM = 600, LETTERS_MOST = 126, FIRST_LETTER = 0x81, OTHER_LETTER = 0xff };

struct alphabet {
	UChar32 letters[LETTERS_MOST]; /* of the pattern; it has room for fewer */
	int count;
};

static int byte_of(struct alphabet *alphabet, UChar32 c, bool learns)
{
	if (c >= 0 && c < 0x80)
		return c;
	for (int i = 0; i < alphabet->count; i++)
		if (alphabet->letters[i] == c)
			return FIRST_LETTER + i;
	if (!learns || alphabet->count == LETTERS_MOST)
		return OTHER_LETTER;
	alphabet->letters[alphabet->count] = c;
	return FIRST_LETTER + alphabet->count++;
}

/* In place: one byte for each character. */
static void shorten(char *text, struct alphabet *alphabet, bool learns)
{
	char *to = text;

	for (int at = 0; text[at];) {
		UChar32 c;

		U8_NEXT(text, at, -1, c);
		*to++ = (char)byte_of(alphabet, c, learns);
	}
	*to = '\0';
}

static bool matches(const char *pattern, const char *text)
{
	char folded[FOLDED_ROOM], folded_pattern[FOLDED_ROOM];
	struct alphabet alphabet = { .count = 0 };

	if (!*text)
		return false;
	fold_case(pattern, folded_pattern, sizeof(folded_pattern));
	fold_case(text, folded, sizeof(folded));
	shorten(folded_pattern, &alphabet, true);
	shorten(folded, &alphabet, false);
	return fnmatch(folded_pattern, folded, 0) == 0;
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

static enum eligibility by_address(const struct shop *shop, const char *address)
{
	if (shop_never_mails(shop, address))
		return ELIGIBILITY_NEVER_MAIL;
	if (shop_employs(shop, address))
		return ELIGIBILITY_STAFF;
	return is_nobodys(address) ? ELIGIBILITY_NOBODYS : ELIGIBILITY_YES;
}

static enum eligibility by_consent(const struct state *state, const struct shop *shop, const CartState *cart)
{
	switch (cart->consent) {
	case CONSENT_YES:
		return ELIGIBILITY_YES;
	case CONSENT_NO:
		return cart->consent_unreadable ? ELIGIBILITY_UNREADABLE_CONSENT : ELIGIBILITY_SAID_NO;
	case CONSENT_UNKNOWN:
		break;
	}
	switch (shop->consent) {
	case CONSENT_ALL:
		return ELIGIBILITY_YES;
	case CONSENT_CUSTOMERS:
		return purchases_know(state, shop, cart) ? ELIGIBILITY_YES : ELIGIBILITY_NO_CUSTOMER;
	case CONSENT_MARKETING:
		break;
	}
	return ELIGIBILITY_NO_CONSENT;
}

static struct eligibility_finding by_contents(const struct shop *shop, const CartState *cart, ShopMode mode)
{
	const char *tag = excluded_tag(shop, cart);
	const char *product = tag ? NULL : excluded_product(shop, cart);

	if (tag)
		return (struct eligibility_finding){ ELIGIBILITY_TAG, tag };
	if (product)
		return (struct eligibility_finding){ ELIGIBILITY_PRODUCT, product };
	return (struct eligibility_finding){
		cart->test && mode == MODE_LIVE && !shop->chase_tests ? ELIGIBILITY_TEST : ELIGIBILITY_YES, ""
	};
}

struct eligibility_finding eligibility_decide(
	const struct state *state, const struct shop *shop, const CartState *cart, ShopMode mode)
{
	enum eligibility eligibility = by_address(shop, cart->ids.email);

	if (eligibility == ELIGIBILITY_YES)
		eligibility = by_consent(state, shop, cart);
	if (eligibility != ELIGIBILITY_YES)
		return (struct eligibility_finding){ eligibility, "" };
	return by_contents(shop, cart, mode);
}
