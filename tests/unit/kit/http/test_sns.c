/* test_sns.c: which addresses of SNS may be fetched, and which certificates hold */
#include "bus/base/clock.h"
#include "services/kit/http/sns.h"
#include "tests/unit/cmocka_all.h"
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <stdio.h>
#include <string.h>

#define TOPIC "arn:aws:sns:eu-central-1:123456789012:bounces"
#define HOST "https://sns.eu-central-1.amazonaws.com"
#define CONFIRM "Action=ConfirmSubscription&TopicArn="

static void the_addresses_that_amazon_sends_are_taken(void **state)
{
	(void)state;
	assert_true(sns_certificate_url_valid(HOST "/SimpleNotificationService-0123.pem", TOPIC));
	assert_true(
		sns_certificate_url_valid("https://sns.cn-north-1.amazonaws.com.cn/SimpleNotificationService-01.pem",
			"arn:aws-cn:sns:cn-north-1:1:b"));
	assert_true(sns_subscribe_url_valid(HOST "/?" CONFIRM TOPIC "&Token=2336", TOPIC));
	assert_true(sns_subscribe_url_valid(
		HOST "/?" CONFIRM "arn%3Aaws%3Asns%3Aeu-central-1%3A123456789012%3Abounces&Token=2336", TOPIC));
}

static void no_other_address_is_a_certificates(void **state)
{
	static const char *const wrong[] = { "", "/a.pem", "http://sns.eu-central-1.amazonaws.com/a.pem",
		"https://sns.us-east-1.amazonaws.com/a.pem",
		"https://sns.eu-central-1.amazonaws.com.evil.example/a.pem",
		"https://evil.example/sns.eu-central-1.amazonaws.com/a.pem",
		"https://sns.eu-central-1.amazonaws.com@evil.example/a.pem",
		"https://x@sns.eu-central-1.amazonaws.com/a.pem", "https://x:y@sns.eu-central-1.amazonaws.com/a.pem",
		HOST ":443/a.pem", HOST ":8443/a.pem", HOST "/a.pem?x=1", HOST "/a.pem#x", HOST "/a.pem/", HOST "/a",
		HOST "/.pem", HOST "/%2e%2e/a.pem", "https://sns.eu-central-1.amazonaws.com\\.evil.example/a.pem",
		"https://xsns.eu-central-1.amazonaws.com/a.pem", "https://sns.eu-central-1.amazonaws.com.cn/a.pem",
		"https://sns..amazonaws.com/a.pem", "file:///a.pem", "https://127.0.0.1/a.pem",
		"https://SNS.eu-central-1.amazonaws.com./a.pem" };
	char lengthy[3000];

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		if (sns_certificate_url_valid(wrong[i], TOPIC))
			fail_msg("\"%s\" was taken", wrong[i]);
	memset(lengthy, 'a', sizeof(lengthy));
	memcpy(lengthy, HOST "/", strlen(HOST "/"));
	strcpy(lengthy + sizeof(lengthy) - 5, ".pem");
	assert_false(sns_certificate_url_valid(lengthy, TOPIC));
	assert_false(sns_certificate_url_valid(HOST "/a.pem", "arn:aws:sns"));
}

/* The gateway builds the host's name from the topic's region. A topic without a region, or with one longer than 31 letters, has no host. */
static void a_topic_whose_region_cannot_be_read_has_no_address(void **state)
{
	static const struct {
		const char *region, *topic;
		bool taken;
	} cases[] = {
		{ "region-of-31-letters-is-the-top", "arn:aws:sns:region-of-31-letters-is-the-top:1:b", true },
		{ "region-of-32-letters-is-too-long", "arn:aws:sns:region-of-32-letters-is-too-long:1:b", false },
		{ "", "arn:aws:sns::1:b", false },
		{ "eu-central-1", "arn:aws:sns:eu-central-1", false },
		{ "eu-central-1", "arn:aws:sns:eu-central-1/b:1:b", false },
		{ "eu-central-1", "arn:aws:eu-central-1:1:b", false },
		{ "eu-central-1", "eu-central-1", false },
		{ "eu-central-1", "", false },
	};
	char url[200];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		snprintf(url, sizeof(url), "https://sns.%s.amazonaws.com/a.pem", cases[i].region);
		if (sns_certificate_url_valid(url, cases[i].topic) != cases[i].taken)
			fail_msg("\"%s\" of \"%s\"", url, cases[i].topic);
	}
}

static void no_other_address_confirms_a_subscription(void **state)
{
	static const char *const wrong[] = { HOST "/", HOST "/?Action=ConfirmSubscription", HOST "/x?" CONFIRM TOPIC,
		HOST "/?Action=DeleteTopic&TopicArn=" TOPIC, HOST "/?" CONFIRM TOPIC "x",
		HOST "/?" CONFIRM "arn:aws:sns:eu-central-1:1:other&TopicArn=" TOPIC,
		"http"
		"://sns.eu-central-1.amazonaws.com/?" CONFIRM TOPIC,
		"https://evil.example/?" CONFIRM TOPIC, HOST ":8443/?" CONFIRM TOPIC };

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		if (sns_subscribe_url_valid(wrong[i], TOPIC))
			fail_msg("\"%s\" was taken", wrong[i]);
}

/* `until_s` 0: a time that nobody can read */
static void certificate_pem(EVP_PKEY *pair, int64_t from_s, int64_t until_s, char ret[8000])
{
	X509 *certificate = X509_new();
	BIO *bio = BIO_new(BIO_s_mem());
	int len;

	ASN1_TIME_set(X509_getm_notBefore(certificate), (time_t)from_s);
	ASN1_TIME_set(X509_getm_notAfter(certificate), (time_t)until_s);
	if (until_s == 0)
		ASN1_STRING_set(X509_getm_notAfter(certificate), "never", -1);
	X509_set_pubkey(certificate, pair);
	X509_sign(certificate, pair, EVP_sha256());
	PEM_write_bio_X509(bio, certificate);
	len = BIO_read(bio, ret, 7999);
	ret[len > 0 ? len : 0] = '\0';
	BIO_free(bio);
	X509_free(certificate);
}

static void a_certificate_gives_its_key_while_it_holds(void **state)
{
	static const struct {
		int bits; /* 0: of an elliptic curve */
		int64_t from_s, until_s;
		const char *trouble;
	} table[] = { { 2048, 100, 200, NULL }, { 2048, 149, 151, NULL },
		{ 1024, 100, 200, "the certificate's key is no RSA key of 2048 bits or more" },
		{ 0, 100, 200, "the certificate's key is no RSA key of 2048 bits or more" },
		{ 2048, 151, 200, "the certificate does not hold now" },
		{ 2048, 100, 149, "the certificate does not hold now" },
		{ 2048, 100, 0, "the certificate does not hold now" } };
	char pem[8000];

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		EVP_PKEY *pair = table[i].bits ? EVP_RSA_gen((unsigned)table[i].bits) : EVP_EC_gen("P-256");
		EVP_PKEY *key = NULL;

		certificate_pem(pair, table[i].from_s, table[i].until_s, pem);
		const char *trouble = sns_certificate_key(pem, 150 * US_PER_S, &key);
		assert_int_equal(trouble == NULL, table[i].trouble == NULL);
		if (trouble)
			assert_string_equal(trouble, table[i].trouble);
		else
			assert_int_equal(EVP_PKEY_eq(key, pair), 1);
		EVP_PKEY_free(key);
		EVP_PKEY_free(pair);
	}
}

static void what_is_no_certificate_has_no_key(void **state)
{
	EVP_PKEY *key = NULL;

	(void)state;
	assert_string_equal(sns_certificate_key("", US_PER_S, &key), "what came is no certificate");
	assert_string_equal(sns_certificate_key("<html>", US_PER_S, &key), "what came is no certificate");
	assert_null(key);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_addresses_that_amazon_sends_are_taken),
		cmocka_unit_test(no_other_address_is_a_certificates),
		cmocka_unit_test(a_topic_whose_region_cannot_be_read_has_no_address),
		cmocka_unit_test(no_other_address_confirms_a_subscription),
		cmocka_unit_test(a_certificate_gives_its_key_while_it_holds),
		cmocka_unit_test(what_is_no_certificate_has_no_key),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
