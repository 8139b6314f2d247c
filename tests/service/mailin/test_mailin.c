/* test_mailin.c: whose mail came back, and what is fetched from SNS */
#include "bus/actor/sim/harness.h"
#include "bus/base/cleanup.h"
#include "bus/base/text.h"
#include "proto/cart_topics.h"
#include "services/kit/http/http.h"
#include "services/kit/mail/bounce_tag.h"
#include "services/kit/mail/message.h"
#include "services/kit/web/signed_link.h"
#include "services/platform/mailin/mailin.h"
#include "services/platform/mailin/match.h"
#include "tests/unit/cmocka_all.h"
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HASH "00112233445566778899aabbccddeeff"
#define LOCAL "1.0123456789abcdef0123456789abcdef"
#define TOPIC "arn:aws:sns:eu-central-1:123456789012:bounces"
#define URL "https://sns.eu-central-1.amazonaws.com/SimpleNotificationService-01.pem"
#define NOW_US (INT64_C(1800000000) * 1000000)

static const char SHOP_CONF[] =
	"[shop]\ntime-zone = UTC\ncurrency = EUR\nlocale = de-DE\ntitle = T\nurl = https://s.example\n[mail]\n"
	"from = shop@shop.example\nbounce = bounces+*@shop.example\n";

static struct bytes key(void)
{
	return bytes_of("a key of the installation, secret");
}

static struct bytes key_before(void)
{
	return bytes_of("the one key of an installation of 0.1.0");
}

static void give_shop(struct harness *h, const char *name)
{
	static Document document;

	document = (Document){ .kind = "shop", .version = 1 };
	TEXT_COPY(document.text, SHOP_CONF);
	GIVEN(h, document, &document, .shop = name, .key = "shop", .version = 1);
}

static struct harness *given(void)
{
	struct harness *h = harness_new(&mailin, NOW_US);
	ReminderOutcome sent = {
		.cart_id = "c7", .step = 1, .attempt = 1, .address_hash = HASH, .message_id = LOCAL "@shop.example"
	};

	give_shop(h, "demo");
	give_shop(h, "other");
	GIVEN(h, reminder_sent, &sent, .shop = "demo", .key = "c7/1", .version = 1);
	return h;
}

static struct report *about(const char *address, const char *message_id)
{
	static struct report report;

	report = (struct report){ .kind = REPORT_FEEDBACK, .feedback = FEEDBACK_COMPLAINT };
	if (address)
		TEXT_COPY(report.addresses[report.address_count++], address);
	if (message_id)
		TEXT_COPY(report.message_ids[report.message_id_count++], message_id);
	return &report;
}

static bool finds_at(struct harness *h, int64_t now_us, const struct report *report, char shop[64], MailFeedback *ret)
{
	_cleanup_(keyring_clear) struct keyring keys = { 0 };

	buffer_add(&keys.current, key().data, key().len);
	keyring_add_before(&keys, key_before(), NOW_US + 60 * US_PER_DAY);
	return match_find(harness_state(h), &keys, now_us, report, shop, ret);
}

static bool finds(struct harness *h, const struct report *report, char shop[64], MailFeedback *ret)
{
	return finds_at(h, NOW_US, report, shop, ret);
}

static void a_signed_address_tells_shop_shopper_and_cart(void **state)
{
	struct harness *h = given();
	char address[ADDRESS_MAX + 1], shop[64];
	MailFeedback feedback;

	(void)state;
	bounce_address_make(key(), "bounces+*@shop.example", "demo", LOCAL "@shop.example", HASH, address);
	assert_true(finds(h, about(address, NULL), shop, &feedback));
	assert_string_equal(shop, "demo");
	assert_string_equal(feedback.address_hash, HASH);
	assert_string_equal(feedback.cart_id, "c7");
	assert_int_equal(feedback.step, 1);
	assert_int_equal(feedback.kind, FEEDBACK_COMPLAINT);
	assert_int_equal(feedback.heard_us, NOW_US);
	struct report *complaint = about(address, NULL);
	TEXT_COPY(complaint->detail, "complained: abuse");
	assert_true(finds(h, complaint, shop, &feedback));
	assert_string_equal(feedback.detail, "complained: abuse");

	/* of a mail that nobody remembers: the shopper is known all the same */
	bounce_address_make(key(), "bounces+*@shop.example", "other", "2.ffffffff00@x", HASH, address);
	assert_true(finds(h, about(address, NULL), shop, &feedback));
	assert_string_equal(shop, "other");
	assert_string_equal(feedback.cart_id, "");
	harness_free(h);
}

static void the_message_id_of_a_mail_of_ours_tells_them_too(void **state)
{
	struct harness *h = given();
	char shop[64];
	MailFeedback feedback;

	(void)state;
	assert_true(finds(h, about("bounces@shop.example", LOCAL "@shop.example"), shop, &feedback));
	assert_string_equal(shop, "demo");
	assert_string_equal(feedback.address_hash, HASH);
	assert_string_equal(feedback.cart_id, "c7");
	harness_free(h);
}

static void where_a_shop_has_tags_a_bounce_needs_one_and_elsewhere_the_message_id_is_enough(void **state)
{
	struct harness *h = given();
	static Document document;
	struct report *bounce = about("bounces@shop.example", LOCAL "@shop.example");
	char shop[64];
	MailFeedback feedback;

	(void)state;
	bounce->feedback = FEEDBACK_BOUNCE_PERMANENT;
	assert_false(finds(h, bounce, shop, &feedback));
	document = (Document){ .kind = "shop", .version = 2 };
	snprintf(document.text, sizeof(document.text), "%.*sbounce = bounces@shop.example\n",
		(int)(strstr(SHOP_CONF, "bounce") - SHOP_CONF), SHOP_CONF);
	GIVEN(h, document, &document, .shop = "demo", .key = "shop", .version = 2);
	assert_true(finds(h, bounce, shop, &feedback));
	assert_string_equal(feedback.cart_id, "c7");
	harness_free(h);
}

/* ---- mails that went from 0.1.0, whose names anybody can compute ---- */

static struct report *about_an_old_mail(const char *token)
{
	char local[MAIL_LOCAL_MAX];

	mail_local_make("demo", "1001", 1, local);
	struct report *report = about(NULL, local);
	if (token)
		TEXT_COPY(report->links[1], token);
	TEXT_COPY(report->links[0], "x");
	return report;
}

static const char *link_of(struct bytes with, const char *shop, const char *hash, const char *cart, int step)
{
	static char token[400];
	struct signed_link link = { .purpose = LINK_UNSUBSCRIBE, .step = step };

	TEXT_COPY(link.shop, shop);
	TEXT_COPY(link.address_hash, hash);
	TEXT_COPY(link.cart_id, cart);
	signed_link_make(with, &link, token);
	return token;
}

static struct harness *given_an_old_mail(void)
{
	struct harness *h = given();
	ReminderOutcome sent = { .cart_id = "1001", .step = 1, .attempt = 1, .address_hash = HASH };
	char local[MAIL_LOCAL_MAX];

	mail_local_make("demo", "1001", 1, local);
	snprintf(sent.message_id, sizeof(sent.message_id), "%s@shop.example", local);
	GIVEN(h, reminder_sent, &sent, .shop = "demo", .key = "1001/1", .version = 1);
	return h;
}

static void a_name_that_anybody_can_compute_proves_nothing(void **state)
{
	struct harness *h = given_an_old_mail();
	const char *others[] = { NULL, link_of(key_before(), "other", HASH, "1001", 1) };
	char shop[64], other[400];
	MailFeedback feedback;

	(void)state;
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		assert_false(finds(h, about_an_old_mail(others[i]), shop, &feedback));
	assert_false(finds(h, about_an_old_mail(link_of(key_before(), "demo", HASH, "1002", 1)), shop, &feedback));
	assert_false(finds(h, about_an_old_mail(link_of(key_before(), "demo", HASH, "1001", 2)), shop, &feedback));
	TEXT_COPY(other, link_of(key_before(), "demo", "ff112233445566778899aabbccddeeff", "1001", 1));
	assert_false(finds(h, about_an_old_mail(other), shop, &feedback));
	assert_false(finds(
		h, about_an_old_mail(link_of(bytes_of("a stranger's key"), "demo", HASH, "1001", 1)), shop, &feedback));
	harness_free(h);
}

static void an_old_mail_is_proven_by_its_own_link_as_long_as_that_verifies(void **state)
{
	struct harness *h = given_an_old_mail();
	const char *token = link_of(key_before(), "demo", HASH, "1001", 1);
	char shop[64];
	MailFeedback feedback;

	(void)state;
	assert_true(finds(h, about_an_old_mail(token), shop, &feedback));
	assert_string_equal(feedback.cart_id, "1001");
	assert_string_equal(feedback.address_hash, HASH);
	about_an_old_mail(token)->feedback = FEEDBACK_BOUNCE_PERMANENT; /* it has its tag, or its link */
	assert_true(finds(h, about_an_old_mail(token), shop, &feedback));
	assert_false(finds_at(h, NOW_US + 60 * US_PER_DAY, about_an_old_mail(token), shop, &feedback));
	harness_free(h);
}

static void an_old_tag_is_proof_as_long_as_its_key_verifies(void **state)
{
	struct harness *h = given_an_old_mail();
	char address[ADDRESS_MAX + 1], shop[64];
	MailFeedback feedback;

	(void)state;
	bounce_address_make(key_before(), "bounces+*@shop.example", "demo", "1.01020304@x", HASH, address);
	assert_true(finds(h, about(address, NULL), shop, &feedback));
	assert_string_equal(feedback.address_hash, HASH);
	assert_false(finds_at(h, NOW_US + 60 * US_PER_DAY, about(address, NULL), shop, &feedback));
	harness_free(h);
}

static void a_report_that_proves_nothing_is_about_nobody(void **state)
{
	struct harness *h = given();
	char address[ADDRESS_MAX + 1], shop[64];
	MailFeedback feedback;
	ReminderOutcome to_owner = {
		.cart_id = "c8", .step = 1, .address_hash = HASH, .message_id = "1.aa@x", .to_owner = true
	};

	(void)state;
	GIVEN(h, reminder_sent, &to_owner, .shop = "demo", .key = "c8/1", .version = 1);
	bounce_address_make(bytes_of("another key"), "bounces+*@shop.example", "demo", LOCAL "@x", HASH, address);
	assert_false(finds(h, about(address, NULL), shop, &feedback));
	assert_false(finds(h, about("bounces+*@shop.example", "1.aa@x"), shop, &feedback));
	assert_false(finds(
		h, about("ada@mail.example", "1.0123456789abcdef0123456789abcdee@shop.example"), shop, &feedback));
	assert_false(finds(h, about(NULL, NULL), shop, &feedback));
	harness_free(h);
}

/* ---- what SNS needs fetched ---- */

/* `from_s`, `until_s` 0: a time that nobody can read */
static void certificate_pem(int bits, int64_t from_s, int64_t until_s, char ret[8000])
{
	EVP_PKEY *pair = EVP_RSA_gen((unsigned)bits);
	X509 *certificate = X509_new();
	BIO *bio = BIO_new(BIO_s_mem());

	ASN1_TIME_set(X509_getm_notBefore(certificate), (time_t)from_s);
	ASN1_TIME_set(X509_getm_notAfter(certificate), (time_t)until_s);
	if (from_s == 0)
		ASN1_STRING_set(X509_getm_notBefore(certificate), "never", -1);
	if (until_s == 0)
		ASN1_STRING_set(X509_getm_notAfter(certificate), "never", -1);
	X509_set_pubkey(certificate, pair);
	X509_sign(certificate, pair, EVP_sha256());
	PEM_write_bio_X509(bio, certificate);
	int len = BIO_read(bio, ret, 7999);
	ret[len > 0 ? len : 0] = '\0';
	BIO_free(bio);
	X509_free(certificate);
	EVP_PKEY_free(pair);
}

static enum verdict want(struct harness *h, FeedbackFetchKind kind, const char *url)
{
	FeedbackFetch wanted = { .kind = kind, .topic_arn = TOPIC };

	TEXT_COPY(wanted.url, url);
	return WHEN(h, feedback_fetch, &wanted, .shop = "demo", .key = "k");
}

static enum verdict answered(struct harness *h, enum http_end end, long status, const char *body)
{
	struct http_answer answer = { .end = end, .status = status, .body = bytes_of(body), .words = "words" };

	return harness_result(h, &answer, CLAIM_NONE);
}

static void a_certificate_that_holds_is_said_and_any_other_is_not(void **state)
{
	const int64_t now_s = NOW_US / 1000000;
	const struct {
		int bits;
		int64_t from_s, until_s;
		enum verdict verdict;
	} table[] = { { 2048, now_s - 9, now_s + 9, TURN_DONE }, { 1024, now_s - 9, now_s + 9, TURN_DEAD_LETTER },
		{ 2048, now_s + 5, now_s + 9, TURN_DEAD_LETTER }, { 2048, now_s - 9, now_s - 5, TURN_DEAD_LETTER },
		{ 2048, 0, now_s + 9, TURN_DEAD_LETTER }, { 2048, now_s - 9, 0, TURN_DEAD_LETTER } };
	char pem[8000];

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct harness *h = given();
		FeedbackCertificate said;
		certificate_pem(table[i].bits, table[i].from_s, table[i].until_s, pem);
		assert_int_equal(want(h, FETCH_CERTIFICATE, URL), TURN_PENDING);
		const struct http_request *request = harness_effect_request(h);
		assert_int_equal(request->reach, HTTP_REACH_PUBLIC);
		assert_string_equal(request->url, URL);
		assert_string_equal(request->ca, "");
		assert_int_equal(answered(h, HTTP_ANSWERED, 200, pem), table[i].verdict);
		assert_int_equal(
			harness_said(h, &topic_feedback_certificate, 0, &said, NULL), table[i].verdict == TURN_DONE);
		if (table[i].verdict == TURN_DONE)
			assert_string_equal(said.pem, pem);
		harness_free(h);
	}
}

static void what_is_no_certificate_is_never_one(void **state)
{
	struct harness *h = given();
	char lengthy[9000];

	(void)state;
	memset(lengthy, 'x', sizeof(lengthy) - 1);
	lengthy[sizeof(lengthy) - 1] = '\0';
	want(h, FETCH_CERTIFICATE, URL);
	assert_int_equal(answered(h, HTTP_ANSWERED, 200, "<html>"), TURN_DEAD_LETTER);
	want(h, FETCH_CERTIFICATE, URL);
	assert_int_equal(answered(h, HTTP_ANSWERED, 200, lengthy), TURN_DEAD_LETTER);
	want(h, FETCH_CERTIFICATE, URL);
	assert_int_equal(answered(h, HTTP_ANSWERED, 404, ""), TURN_DEAD_LETTER);
	want(h, FETCH_CERTIFICATE, URL);
	assert_int_equal(answered(h, HTTP_ANSWERED, 302, ""), TURN_DEAD_LETTER);
	assert_int_equal(harness_count(h, NULL), 0);
	harness_free(h);
}

static void what_may_pass_is_tried_again(void **state)
{
	struct harness *h = given();

	(void)state;
	want(h, FETCH_CERTIFICATE, URL);
	assert_int_equal(answered(h, HTTP_ANSWERED, 503, ""), TURN_RETRY);
	want(h, FETCH_CERTIFICATE, URL);
	assert_int_equal(answered(h, HTTP_NOT_SENT, 0, ""), TURN_RETRY);
	want(h, FETCH_CERTIFICATE, URL);
	assert_int_equal(harness_result(h, NULL, CLAIM_NONE), TURN_RETRY);
	want(h, FETCH_CERTIFICATE, URL);
	assert_int_equal(answered(h, HTTP_UNKNOWN, 0, ""), TURN_RETRY); /* slow, never, or a gigabyte */
	want(h, FETCH_CERTIFICATE, URL);
	assert_int_equal(
		answered(h, HTTP_BARRED, 0, ""), TURN_RETRY); /* its name leads into a private network, for now */
	assert_int_equal(harness_count(h, NULL), 0);
	harness_free(h);
}

static void a_subscription_is_confirmed_and_on_record(void **state)
{
	struct harness *h = given();
	Audit audit;

	(void)state;
	assert_int_equal(want(h, FETCH_SUBSCRIBE,
				 "https://sns.eu-central-1.amazonaws.com/?Action=ConfirmSubscription&TopicArn=" TOPIC
				 "&Token=t"),
		TURN_PENDING);
	assert_int_equal(answered(h, HTTP_ANSWERED, 200, "<ok/>"), TURN_DONE);
	assert_true(harness_said(h, &topic_audit, 0, &audit, NULL));
	assert_string_equal(audit.action, "sns_subscribed");
	assert_string_equal(audit.grounds, TOPIC);
	harness_free(h);
}

static void no_address_but_of_sns_is_fetched_whoever_asks(void **state)
{
	struct harness *h = given();

	(void)state;
	assert_int_equal(want(h, FETCH_CERTIFICATE, "https://evil.example/a.pem"), TURN_DEAD_LETTER);
	assert_int_equal(want(h, FETCH_SUBSCRIBE, URL), TURN_DEAD_LETTER);
	assert_int_equal(want(h, FETCH_SUBSCRIBE, "https://169.254.169.254/"), TURN_DEAD_LETTER);
	harness_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_signed_address_tells_shop_shopper_and_cart),
		cmocka_unit_test(the_message_id_of_a_mail_of_ours_tells_them_too),
		cmocka_unit_test(where_a_shop_has_tags_a_bounce_needs_one_and_elsewhere_the_message_id_is_enough),
		cmocka_unit_test(a_name_that_anybody_can_compute_proves_nothing),
		cmocka_unit_test(an_old_mail_is_proven_by_its_own_link_as_long_as_that_verifies),
		cmocka_unit_test(an_old_tag_is_proof_as_long_as_its_key_verifies),
		cmocka_unit_test(a_report_that_proves_nothing_is_about_nobody),
		cmocka_unit_test(a_certificate_that_holds_is_said_and_any_other_is_not),
		cmocka_unit_test(what_is_no_certificate_is_never_one),
		cmocka_unit_test(what_may_pass_is_tried_again),
		cmocka_unit_test(a_subscription_is_confirmed_and_on_record),
		cmocka_unit_test(no_address_but_of_sns_is_fetched_whoever_asks),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
