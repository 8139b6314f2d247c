/* test_sns.c: which addresses of SNS may be fetched */
#include "services/kit/http/sns.h"
#include "tests/unit/cmocka_all.h"
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_addresses_that_amazon_sends_are_taken),
		cmocka_unit_test(no_other_address_is_a_certificates),
		cmocka_unit_test(a_topic_whose_region_cannot_be_read_has_no_address),
		cmocka_unit_test(no_other_address_confirms_a_subscription),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
