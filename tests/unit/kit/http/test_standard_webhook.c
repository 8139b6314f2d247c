/* test_standard_webhook.c: what is posted to somebody's webhook, and how it is signed */
#include "bus/base/clock.h"
#include "bus/base/text.h"
#include "services/kit/http/standard_webhook.h"
#include "tests/unit/cmocka_all.h"
#include <errno.h>
#include <string.h>

/* The example of the libraries of Standard Webhooks. */
#define SECRET "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
#define ID "msg_p5jXN8AQM9LWM0D4loKWxJek"
#define BODY "{\"test\": 2432232314}"
#define SIGNATURE "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
#define AT_US (INT64_C(1614265330) * US_PER_S + 999999)

static bool has_header(const struct http_request *request, const char *header)
{
	return memmem(request->headers.data, request->headers.len, header, strlen(header) + 1) != NULL;
}

static void given_key(struct standard_webhook_keys *keys, int nth, const char *text)
{
	assert_int_equal(standard_webhook_key(bytes_of(text), keys->key[nth], &keys->len[nth]), 0);
}

static void a_post_is_signed_as_its_receivers_check_it(void **state)
{
	struct standard_webhook_keys keys = { 0 };
	struct http_request request;

	(void)state;
	given_key(&keys, 0, SECRET "\n");
	assert_int_equal(standard_webhook(&request, &keys, "https://hook.example/x", ID, AT_US, bytes_of(BODY)), 0);
	assert_string_equal(request.method, "POST");
	assert_string_equal(request.url, "https://hook.example/x");
	assert_true(has_header(&request, "Content-Type: application/json"));
	assert_true(has_header(&request, "webhook-id: " ID));
	assert_true(has_header(&request, "webhook-timestamp: 1614265330"));
	assert_true(has_header(&request, "webhook-signature: " SIGNATURE));
	assert_true(bytes_equal(buffer_bytes(&request.body), bytes_of(BODY)));
	http_request_clear(&request);
}

/* A receiver may change over while both are valid: the current one first. */
static void each_key_signs(void **state)
{
	struct standard_webhook_keys keys = { 0 };
	struct http_request request;
	const char *signature;

	(void)state;
	given_key(&keys, 0, "another key of 24 bytes!");
	given_key(&keys, 1, SECRET);
	assert_int_equal(standard_webhook(&request, &keys, "https://hook.example", ID, AT_US, bytes_of(BODY)), 0);
	signature = memmem(request.headers.data, request.headers.len, "webhook-signature: v1,", 22);
	assert_non_null(signature);
	assert_int_equal(strlen(signature), strlen("webhook-signature: ") + 2 * strlen(SIGNATURE) + 1);
	assert_string_equal(signature + strlen(signature) - strlen(SIGNATURE), SIGNATURE);
	assert_int_equal(signature[strlen(signature) - strlen(SIGNATURE) - 1], ' ');
	http_request_clear(&request);
}

static void without_a_key_nothing_is_signed(void **state)
{
	struct standard_webhook_keys keys = { 0 };
	struct http_request request;

	(void)state;
	assert_int_equal(standard_webhook(&request, &keys, "https://hook.example", ID, AT_US, bytes_of(BODY)), 0);
	assert_null(memmem(request.headers.data, request.headers.len, "signature", 9));
	http_request_clear(&request);
}

static void what_cannot_be_posted_is_refused(void **state)
{
	struct standard_webhook_keys keys = { 0 };
	struct http_request request;
	char url[HTTP_URL_MAX + 1];

	(void)state;
	memset(url, 'x', sizeof(url));
	url[HTTP_URL_MAX] = '\0';
	assert_int_equal(standard_webhook(&request, &keys, url, ID, AT_US, bytes_of(BODY)), -EINVAL);
	http_request_clear(&request);
	assert_int_equal(
		standard_webhook(&request, &keys, "https://h.example", "a\nb", AT_US, bytes_of(BODY)), -EINVAL);
	http_request_clear(&request);
}

#define CHARS_24 "0123456789abcdefghijklmn"
#define CHARS_64 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static void a_secret_is_base64_behind_its_prefix_or_the_bytes_themselves(void **state)
{
	static const struct {
		const char *text;
		int r;
		size_t len;
	} cases[] = { { SECRET, 0, 24 }, { SECRET " \r\n\t", 0, 24 }, { CHARS_24, 0, 24 }, { CHARS_24 "\n", 0, 24 },
		{ "0123456789abcdefghijklm", -EINVAL, 0 }, { "0123456789abcdefghijklm\n", -EINVAL, 0 },
		{ CHARS_64 CHARS_64, 0, 128 }, { CHARS_64 CHARS_64 "x", -EINVAL, 0 }, { "", -EINVAL, 0 },
		{ "\n", -EINVAL, 0 }, { "whsec_", -EINVAL, 0 },
		{ "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSx=", -EINVAL, 0 },
		{ "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaS=", -EINVAL, 0 }, /* 23 bytes */
		{ "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwAA==", 0, 25 },  /* padding is none of it */
		{ "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwAAA=", 0, 26 },
		{ "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLa!!", -EINVAL, 0 },
		{ "whsec_" CHARS_64 CHARS_64 "0123456789abcdef0123456789abcdef01234567", 0, 126 },
		{ "whsec_" CHARS_64 CHARS_64 "0123456789abcdef0123456789abcdef0123456789A=", 0, 128 },
		{ "whsec_" CHARS_64 CHARS_64 "0123456789abcdef0123456789abcdef0123456789==", 0, 127 },
		{ "whsec_" CHARS_64 CHARS_64 "0123456789abcdef0123456789abcdef0123456789ab", -EINVAL, 0 } };
	uint8_t key[128];
	size_t len;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		len = 0;
		assert_int_equal(standard_webhook_key(bytes_of(cases[i].text), key, &len), cases[i].r);
		if (cases[i].r == 0)
			assert_int_equal(len, cases[i].len);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_post_is_signed_as_its_receivers_check_it),
		cmocka_unit_test(each_key_signs),
		cmocka_unit_test(without_a_key_nothing_is_signed),
		cmocka_unit_test(what_cannot_be_posted_is_refused),
		cmocka_unit_test(a_secret_is_base64_behind_its_prefix_or_the_bytes_themselves),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
