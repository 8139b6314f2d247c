/* test_admin_link.c: links by which the owner acts */
#include "services/kit/web/admin_link.h"
#include "services/kit/web/signed_link.h"
#include "tests/unit/cmocka_all.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
static const struct admin_link of_cart = {
	.verb = ADMIN_SUPPRESS_CART, .shop = "demo", .cart_id = "c1/ä", .expires_us = 5 * US_PER_DAY
};
static const struct admin_link of_shopper = { .verb = ADMIN_LIFT_SUPPRESSION,
	.shop = "demo",
	.address_hash = "00112233445566778899aabbccddeeff",
	.expires_us = 5 * US_PER_DAY };

static struct bytes key(void)
{
	return bytes_of("0123456789abcdef0123456789abcdef");
}

static void a_link_carries_shop_verb_target_and_end(void **state)
{
	char token[SIGNED_TOKEN_MAX + 1], id[ADMIN_LINK_ID + 1];
	struct admin_link link;

	(void)state;
	assert_int_equal(admin_link_make(key(), &of_cart, token), 0);
	assert_int_equal(strspn(token, alphabet), strlen(token));
	assert_int_equal(admin_link_read(key(), token, &link, id), 0);
	assert_int_equal(link.verb, ADMIN_SUPPRESS_CART);
	assert_string_equal(link.shop, "demo");
	assert_string_equal(link.cart_id, "c1/ä");
	assert_string_equal(link.address_hash, "");
	assert_int_equal(link.expires_us, 5 * US_PER_DAY);
	assert_int_equal(strlen(id), ADMIN_LINK_ID);
	assert_int_equal(admin_link_make(key(), &of_shopper, token), 0);
	assert_int_equal(admin_link_read(key(), token, &link, id), 0);
	assert_int_equal(link.verb, ADMIN_LIFT_SUPPRESSION);
	assert_string_equal(link.address_hash, of_shopper.address_hash);
}

static void the_same_fields_make_the_same_link_and_any_other_another(void **state)
{
	struct admin_link others[] = { of_cart, of_cart, of_cart, of_cart };
	char first[SIGNED_TOKEN_MAX + 1], second[SIGNED_TOKEN_MAX + 1];
	char id[ADMIN_LINK_ID + 1], other[ADMIN_LINK_ID + 1];
	struct admin_link link;

	(void)state;
	assert_int_equal(admin_link_make(key(), &of_cart, first), 0);
	assert_int_equal(admin_link_make(key(), &of_cart, second), 0);
	assert_string_equal(first, second);
	assert_int_equal(admin_link_read(key(), first, &link, id), 0);
	others[0].verb = ADMIN_WRITE_OFF;
	strcpy(others[1].shop, "other");
	strcpy(others[2].cart_id, "c2");
	others[3].expires_us++;
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		assert_int_equal(admin_link_make(key(), &others[i], second), 0);
		assert_int_equal(admin_link_read(key(), second, &link, other), 0);
		assert_string_not_equal(id, other);
	}
}

static void a_link_ends_at_its_moment(void **state)
{
	(void)state;
	assert_false(admin_link_expired(&of_cart, 5 * US_PER_DAY - 1));
	assert_true(admin_link_expired(&of_cart, 5 * US_PER_DAY));
}

static void there_is_no_link_without_shop_target_or_end(void **state)
{
	struct admin_link wrong[] = { of_cart, of_cart, of_shopper, of_cart, of_cart };
	char token[SIGNED_TOKEN_MAX + 1];

	(void)state;
	wrong[0].shop[0] = '\0';
	wrong[1].cart_id[0] = '\0';
	wrong[2].address_hash[0] = '\0';
	wrong[3].expires_us = 0;
	wrong[4].verb = ADMIN_OVERRIDE_WAIT;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		assert_int_equal(admin_link_make(key(), &wrong[i], token), -EINVAL);
	assert_int_equal(admin_link_make(BYTES("", 0), &of_cart, token), -EINVAL);
}

static void forged_cut_and_strange_tokens_are_refused(void **state)
{
	char token[SIGNED_TOKEN_MAX + 1], changed[SIGNED_TOKEN_MAX + 100], id[ADMIN_LINK_ID + 1];
	struct admin_link link;

	(void)state;
	assert_int_equal(admin_link_make(key(), &of_cart, token), 0);
	for (size_t at = 0; at < strlen(token); at++)
		for (size_t i = 0; i < strlen(alphabet); i++) {
			strcpy(changed, token);
			changed[at] = alphabet[i];
			if (strcmp(changed, token) != 0)
				assert_true(admin_link_read(key(), changed, &link, id) < 0);
		}
	for (size_t len = 0; len < strlen(token); len++) {
		snprintf(changed, sizeof(changed), "%.*s", (int)len, token);
		assert_true(admin_link_read(key(), changed, &link, id) < 0);
		assert_string_equal(link.shop, "");
		assert_string_equal(id, "");
	}
	memset(changed, 'A', sizeof(changed) - 1);
	changed[sizeof(changed) - 1] = '\0';
	assert_int_equal(admin_link_read(key(), changed, &link, id), -EBADMSG);
	assert_int_equal(admin_link_read(key(), "<script>", &link, id), -EBADMSG);
	assert_int_equal(admin_link_read(bytes_of("another key"), token, &link, id), -EKEYREJECTED);
}

/* Even where both keys were the same, what a shopper holds is not what the owner holds. */
static void a_shoppers_link_is_no_owners_link_nor_the_other_way_round(void **state)
{
	const struct signed_link shopper = { .purpose = LINK_UNSUBSCRIBE, .shop = "demo", .address_hash = "h" };
	char token[400], id[ADMIN_LINK_ID + 1];
	struct admin_link link;
	struct signed_link other;

	(void)state;
	assert_int_equal(signed_link_make(key(), &shopper, token), 0);
	assert_int_equal(admin_link_read(key(), token, &link, id), -EKEYREJECTED);
	assert_int_equal(admin_link_make(key(), &of_shopper, token), 0);
	assert_int_equal(signed_link_read(key(), token, LINK_UNSUBSCRIBE, &other), -EKEYREJECTED);
}

static void the_longest_link_is_a_whole_address(void **state)
{
	struct admin_link longest = of_cart, link;
	char url[ADMIN_LINK_URL_MAX + 1], id[ADMIN_LINK_ID + 1];

	(void)state;
	memset(longest.shop, 's', 40);
	memset(longest.cart_id, 'c', 71);
	strcpy(longest.address_hash, of_shopper.address_hash);
	assert_int_equal(admin_link_url(key(), "https://bus.example/", &longest, url), 0);
	assert_int_equal(strncmp(url, "https://bus.example/a/", 22), 0);
	assert_int_equal(admin_link_read(key(), url + 22, &link, id), 0);
	assert_string_equal(link.cart_id, longest.cart_id);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_link_carries_shop_verb_target_and_end),
		cmocka_unit_test(the_same_fields_make_the_same_link_and_any_other_another),
		cmocka_unit_test(a_link_ends_at_its_moment),
		cmocka_unit_test(there_is_no_link_without_shop_target_or_end),
		cmocka_unit_test(forged_cut_and_strange_tokens_are_refused),
		cmocka_unit_test(a_shoppers_link_is_no_owners_link_nor_the_other_way_round),
		cmocka_unit_test(the_longest_link_is_a_whole_address),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
