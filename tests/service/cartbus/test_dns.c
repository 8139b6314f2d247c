/* test_dns.c: what an owner wrote for a domain and no name server can be asked about */
#include "services/cartbus/doctor/dns.h"
#include "tests/unit/cmocka_all.h"
#include <string.h>

/* Nobody listens at port 9: a question that is asked ends with DNS_AWAY. */
static const char NOBODY[] = "127.0.0.1@9";

static void what_cannot_be_a_name_is_not_asked_about_and_has_no_records(void **state)
{
	static struct dns_texts texts;
	char why[256] = "", label[64 + 1 + sizeof(".example")], *names[] = { label, (char *)"shop..example" };
	struct dns *dns = dns_open(NOBODY, why);

	(void)state;
	memset(label, 'a', 64); /* a label has 63 bytes at most */
	strcpy(label + 64, ".example");
	assert_non_null(dns);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		texts.count = 1;
		assert_int_equal(dns_texts(dns, names[i], &texts, why), DNS_NOTHING);
		assert_int_equal(texts.count, 0);
		assert_int_equal(dns_takes_mail(dns, names[i], why), DNS_NOTHING);
	}
	assert_string_equal(why, "");
	dns_close(dns);
}

static void a_name_server_that_does_not_answer_is_away(void **state)
{
	static struct dns_texts texts;
	char why[256] = "";
	struct dns *dns = dns_open(NOBODY, why);

	(void)state;
	assert_int_equal(dns_texts(dns, "shop.example", &texts, why), DNS_AWAY);
	assert_int_equal(texts.count, 0);
	assert_non_null(strstr(why, "no name server answers"));
	dns_close(dns);
	dns_close(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_cannot_be_a_name_is_not_asked_about_and_has_no_records),
		cmocka_unit_test(a_name_server_that_does_not_answer_is_away),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
