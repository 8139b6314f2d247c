/* test_mention.c: whose name stands in a text */
#include "services/cartbus/core/naming.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static const struct {
	const char *text, *name;
	bool alone;
} cases[] = {
	{ "ada@shop.example", "ada@shop.example", true },
	{ "{\"email\":\"Ada@Shop.Example\"}", "ada@shop.example", true },
	{ "To: Ada <ada@shop.example>\r\n", "ada@shop.example", true },
	{ "write to ada@shop.example.", "ada@shop.example", true },
	{ "?email=ada@shop.example&x=1", "ada@shop.example", true },
	{ "nada@shop.example", "ada@shop.example", false },
	{ "x.ada@shop.example", "ada@shop.example", false },
	{ "x+ada@shop.example", "ada@shop.example", false },
	{ "x-ada@shop.example", "ada@shop.example", false },
	{ "ada@shop.example.org", "ada@shop.example", false },
	{ "ada@shop.examples", "ada@shop.example", false },
	{ "nada@shop.example, ada@shop.example", "ada@shop.example", true },
	{ "@@ada@shop.example", "ada@shop.example", true },
	{ "https://shop.example/cart/token-of-a-cart-1", "token-of-a-cart-1", true },
	{ "token-of-a-cart-1?key=7", "token-of-a-cart-1", true },
	{ "cart/token-of-a-cart-1,open", "token-of-a-cart-1", true },
	{ "token-of-a-cart-12", "token-of-a-cart-1", false },
	{ "token-of-a-cart-1-2", "token-of-a-cart-1", false },
	{ "a-token-of-a-cart-1", "token-of-a-cart-1", false },
	{ "TOKEN-OF-A-CART-1", "token-of-a-cart-1", false },
};

static void a_name_counts_where_it_stands_by_itself(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		if (mention_in(bytes_of(cases[i].text), cases[i].name) != cases[i].alone)
			fail_msg("%s in %s", cases[i].name, cases[i].text);
	}
}

static void of_bytes_it_counts_wherever_it_stands(void **state)
{
	(void)state;
	assert_true(mention_somewhere(bytes_of("2token-of-a-cart-1B"), "token-of-a-cart-1"));
	assert_true(mention_somewhere(bytes_of("\x12\x10"
					       "Ada@shop.exampleZ"),
		"ada@shop.example"));
	assert_false(mention_somewhere(bytes_of("token-of-a-cart-"), "token-of-a-cart-1"));
	assert_false(mention_somewhere(bytes_of("ada@shop.exampl"), "ada@shop.example"));
	assert_false(mention_somewhere(bytes_of("da@shop.example"), "ada@shop.example"));
	assert_false(mention_somewhere(bytes_of("@"), "ada@shop.example"));
	assert_false(mention_somewhere(bytes_of(""), "ada@shop.example"));
	assert_false(mention_somewhere(bytes_of(""), "token-of-a-cart-1"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_name_counts_where_it_stands_by_itself),
		cmocka_unit_test(of_bytes_it_counts_wherever_it_stands),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
