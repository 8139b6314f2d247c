/* test_hmac.c: HMAC-SHA256 as RFC 4231 has it */
#include "bus/base/text.h"
#include "services/kit/keys/hmac.h"
#include "tests/unit/stderr_of.h"
#include <openssl/evp.h>

static void assert_hmac(struct bytes key, struct bytes text, const char *expected)
{
	uint8_t mac[HMAC_LEN];
	char hex[2 * HMAC_LEN + 1];

	hmac_sha256(key, text, mac);
	text_hex(mac, sizeof(mac), hex);
	assert_string_equal(hex, expected);
}

static void sign_without_providers(void)
{
	uint8_t mac[HMAC_LEN];

	EVP_set_default_properties(NULL, "provider=none");
	hmac_sha256(bytes_of("key"), bytes_of("text"), mac);
}

/* As with an openssl.cnf that names other providers only. It comes first: a thread looks HMAC up once. */
static void an_openssl_without_hmac_ends_the_process_with_a_remedy(void **state)
{
	char said[8192];
	int status;

	(void)state;
	stderr_of(sign_without_providers, said, &status);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 1);
	assert_non_null(strstr(said, "check the installation of libssl3 and openssl.cnf"));
}

static const char first[] = "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7",
		  second[] = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
		  sixth[] = "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54";

static void the_cases_of_the_rfc_hold_in_any_order(void **state)
{
	uint8_t short_key[20], long_key[131];

	(void)state;
	memset(short_key, 0x0b, sizeof(short_key));
	memset(long_key, 0xaa, sizeof(long_key));
	for (int i = 0; i < 2; i++) {
		assert_hmac(BYTES(short_key, sizeof(short_key)), bytes_of("Hi There"), first);
		assert_hmac(bytes_of("Jefe"), bytes_of("what do ya want for nothing?"), second);
		assert_hmac(BYTES(long_key, sizeof(long_key)),
			bytes_of("Test Using Larger Than Block-Size Key - Hash Key First"), sixth);
	}
}

/* Not "go on with the last key". */
static void an_empty_key_is_a_key(void **state)
{
	(void)state;
	assert_hmac(bytes_of("Jefe"), bytes_of("what do ya want for nothing?"), second);
	assert_hmac(BYTES(NULL, 0), BYTES(NULL, 0), "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad");
	assert_hmac(bytes_of(""), bytes_of(""), "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_openssl_without_hmac_ends_the_process_with_a_remedy),
		cmocka_unit_test(the_cases_of_the_rfc_hold_in_any_order),
		cmocka_unit_test(an_empty_key_is_a_key),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
