/* test_feedback.c: what SES tells by way of SNS, from its head to its answer, in front of a bus */
#include "bus/actor/runtime/state_layers.h"
#include "scene.h"
#include <jansson.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <stdlib.h>

#define CERTIFICATE_URL "https://sns.eu-central-1.amazonaws.com/SimpleNotificationService-01.pem"

static EVP_PKEY *key_of_sns;

static int make_key_of_sns(void **state)
{
	(void)state;
	key_of_sns = EVP_RSA_gen(2048U);
	return key_of_sns ? 0 : -1;
}

static int free_key_of_sns(void **state)
{
	(void)state;
	EVP_PKEY_free(key_of_sns);
	return 0;
}

/* As mailin has fetched it. */
static void let_certificate_be_known(int64_t from_us, int64_t until_us)
{
	static FeedbackCertificate fact;
	X509 *certificate = X509_new();
	BIO *bio = BIO_new(BIO_s_mem());
	unsigned char digest[32];
	char name[65];

	ASN1_TIME_set(X509_getm_notBefore(certificate), (time_t)(from_us / US_PER_S));
	ASN1_TIME_set(X509_getm_notAfter(certificate), (time_t)(until_us / US_PER_S));
	X509_set_pubkey(certificate, key_of_sns);
	X509_sign(certificate, key_of_sns, EVP_sha256());
	PEM_write_bio_X509(bio, certificate);
	memset(&fact, 0, sizeof(fact));
	assert_true(BIO_read(bio, fact.pem, sizeof(fact.pem) - 1) > 0);
	BIO_free(bio);
	X509_free(certificate);
	TEXT_COPY(fact.url, CERTIFICATE_URL);
	assert_true(EVP_Digest(CERTIFICATE_URL, strlen(CERTIFICATE_URL), digest, NULL, EVP_sha256(), NULL) == 1);
	text_hex(digest, 16, name);
	assert_int_equal(
		SIM_SAY(scene.sim, feedback_certificate, &fact, .shop = SHOP_OF_ALL, .key = name, .version = 1),
		SAID_FRESH);
	sim_run_until_idle(scene.sim);
}

struct posted {
	const char *message, *timestamp, *topic, *type_header;
	const char *type;    /* NULL: Notification */
	const char *version; /* of the signature */
	bool is_forged;
};

static void sign_as_sns(const char *covered, bool by_sha1, char ret[400])
{
	unsigned char signature[256];
	size_t len = sizeof(signature);
	EVP_MD_CTX *context = EVP_MD_CTX_new();

	assert_int_equal(EVP_DigestSignInit(context, NULL, by_sha1 ? EVP_sha1() : EVP_sha256(), NULL, key_of_sns), 1);
	assert_int_equal(EVP_DigestSign(context, signature, &len, (const unsigned char *)covered, strlen(covered)), 1);
	EVP_MD_CTX_free(context);
	EVP_EncodeBlock((unsigned char *)ret, signature, (int)len);
}

#define SUBSCRIBE_URL "https://sns.eu-central-1.amazonaws.com/?Action=ConfirmSubscription&TopicArn=" TOPIC "&Token=t"

static bool come_from_sns(const char *topic, const char *type, const char *body)
{
	return come((struct request){ .method = "POST",
		.path = "/feedback/ses/sns",
		.headers = { { "x-amz-sns-topic-arn", topic }, { type ? "x-amz-sns-message-type" : NULL, type } },
		.body = bytes_of(body) });
}

static bool post_as_sns(struct posted posted)
{
	const char *type = posted.type ? posted.type : "Notification";
	char covered[3000], signature[400];

	if (posted.type)
		snprintf(covered, sizeof(covered),
			"Message\n%s\nMessageId\nid-1\nSubscribeURL\n%s\nTimestamp\n%s\nToken\nt\nTopicArn\n%s\nType\n%"
			"s\n",
			posted.message, SUBSCRIBE_URL, posted.timestamp, posted.topic, type);
	else
		snprintf(covered, sizeof(covered),
			"Message\n%s\nMessageId\nid-1\nTimestamp\n%s\nTopicArn\n%s\nType\nNotification\n",
			posted.message, posted.timestamp, posted.topic);
	sign_as_sns(covered, strcmp(posted.version, "1") == 0, signature);
	if (posted.is_forged)
		signature[10] = signature[10] == 'A' ? 'B' : 'A'; /* base64 still */
	json_t *json = json_pack("{s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:s}", "Type", type, "MessageId", "id-1",
		"TopicArn", posted.topic, "Message", posted.message, "Timestamp", posted.timestamp, "SignatureVersion",
		posted.version, "Signature", signature, "SigningCertURL", CERTIFICATE_URL, "SubscribeURL",
		SUBSCRIBE_URL, "Token", "t");
	char *body = json_dumps(json, 0);
	bool ret = come_from_sns(posted.topic, posted.type_header, body);

	free(body);
	json_decref(json);
	return ret;
}

/* Sent when the simulated world begins. */
static const struct posted a_bounce = {
	.message = "{\"notificationType\":\"Bounce\",\"bounce\":{\"bounceType\":\"Permanent\",\"bouncedRecipients\":["
		   "{\"emailAddress\":\"Ada <ada@mail.example>\",\"status\":\"5.1.1\"},"
		   "{\"emailAddress\":\"no address\"},{\"emailAddress\":\"bob@mail.example\"}]}}",
	.timestamp = "2024-10-04T00:00:00.000Z",
	.topic = TOPIC,
	.type_header = "Notification",
	.version = "2"
};

static void a_bounce_of_ses_is_believed_for_its_signature_alone(void **state)
{
	struct posted posted = a_bounce;

	(void)state;
	assert_true(post_as_sns(posted)); /* mailin is asked for the certificate */
	assert_false(scene.answer.proven);
	finish(SUBMISSION_REFUSED, 0, "the broker is away");
	assert_answer(503, "is being fetched");
	assert_int_equal(scene.counters.refused, 1);
	buffer_clear(&scene.answer.body);
	finish(SUBMISSION_ACCEPTED, 1, NULL);
	assert_answer(503, "is being fetched");
	assert_int_equal(scene.counters.refused, 1);
	assert_false(post_as_sns(posted)); /* it was asked for just now */
	assert_answer(503, "is being fetched");
	let_certificate_be_known(START_US - US_PER_DAY, START_US + 30 * US_PER_DAY);
	for (int i = 0; i < 2; i++) {
		posted.version = i == 0 ? "2" : "1";
		assert_true(post_as_sns(posted));
		assert_true(scene.answer.proven);
		assert_true(scene.submission->stop);
		assert_int_equal(scene.submission->message_count, 2);
		assert_string_equal(said_envelope()->shop, "ses");
		assert_true(text_starts(said_envelope()->idem, "sns:id-1:"));
		assert_int_equal(scene.counters.feedback, 2 * (i + 1));
	}
	posted.is_forged = true;
	assert_false(post_as_sns(posted));
	assert_answer(403, "not signed by SNS");
	assert_false(scene.answer.proven);
	assert_int_equal(scene.counters.feedback_refused, 1);
	assert_int_equal(scene.counters.feedback, 4);
}

static void a_subscription_is_confirmed_and_its_end_is_told(void **state)
{
	static FeedbackFetch fetch;
	static Envelope envelope;
	struct posted posted = a_bounce;
	struct bytes payload;

	(void)state;
	let_certificate_be_known(START_US - US_PER_DAY, START_US + 30 * US_PER_DAY);
	posted.type = posted.type_header = "SubscriptionConfirmation";
	assert_true(post_as_sns(posted));
	assert_true(scene.answer.proven);
	assert_int_equal(message_read(said(), &envelope, &payload), 0);
	assert_string_equal(envelope.topic, "feedback.fetch");
	assert_string_equal(envelope.shop, "ses");
	assert_string_equal(envelope.idem, "sns:id-1");
	assert_string_equal(said_envelope()->shop, "ses");
	assert_true(state_row(payload, &FeedbackFetch_msg, &fetch));
	assert_int_equal(fetch.kind, FETCH_SUBSCRIBE);
	assert_string_equal(fetch.url, SUBSCRIBE_URL);
	assert_string_equal(fetch.topic_arn, TOPIC);
	posted.type = posted.type_header = "UnsubscribeConfirmation";
	assert_false(post_as_sns(posted));
	assert_true(scene.answer.proven);
	assert_answer(200, "the end of a subscription");
	assert_int_equal(scene.counters.ignored, 1);
	posted.is_forged = true;
	assert_false(post_as_sns(posted));
	assert_answer(403, "not signed by SNS");
}

/* A few bytes of brackets and commas would make thousands of parts in memory; in a text they are nothing but characters. */
static void a_body_of_more_parts_than_sns_writes_is_not_even_read(void **state)
{
	static const char part[] = "{[,", *const beside[] = { "", "x", "xx", "\\\"", "x\\\"", "\\\\" };
	char body[600], text[700];

	(void)state;
	for (size_t i = 0; i < sizeof(part) - 1; i++) {
		memset(body, part[i], 129);
		body[129] = '\0';
		assert_false(come_from_sns(TOPIC, "Notification", body));
		assert_answer(400, "too many parts");
		body[128] = '\0';
		assert_false(come_from_sns(TOPIC, "Notification", body));
		assert_null(strstr(buffer_text(&scene.answer.body), "too many parts"));
	}
	memset(body, ',', 500);
	body[500] = '\0';
	for (size_t i = 0; i < sizeof(beside) / sizeof(beside[0]); i++) {
		snprintf(text, sizeof(text), "[\"%s\",\"%s%s\"]", beside[i], beside[i], body);
		assert_false(come_from_sns(TOPIC, "Notification", text));
		assert_null(strstr(buffer_text(&scene.answer.body), "too many parts"));
		snprintf(text, sizeof(text), "[\"%s\"%s", beside[i], body);
		assert_false(come_from_sns(TOPIC, "Notification", text));
		assert_answer(400, "too many parts");
	}
}

static void what_is_not_for_us_to_believe_is_refused_before_its_signature(void **state)
{
	static const struct {
		const char *timestamp, *topic, *type_header;
		unsigned status;
		const char *words;
	} cases[] = { { "2024-10-03T00:00:01Z", TOPIC, "Notification", 0, "" },
		{ "2024-10-02T23:59:58Z", TOPIC, "Notification", 403, "too long ago" },
		{ "2024-10-04T00:14:59Z", TOPIC, "Notification", 0, "" },
		{ "2024-10-04T00:15:02Z", TOPIC, "Notification", 403, "yet to be sent" },
		{ "2024-10-04T00:00:00Z", TOPIC "2", "Notification", 403, "not among the shop's" },
		{ "2024-10-04T00:00:00Z", TOPIC, "SubscriptionConfirmation", 400, "another type" },
		{ "2024-10-04T00:00:00Z", TOPIC, NULL, 400, "header of its type" },
		{ "soon", TOPIC, "Notification", 400, "when it was sent" } };

	(void)state;
	let_certificate_be_known(START_US - US_PER_DAY, START_US + 30 * US_PER_DAY);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct posted posted = a_bounce;

		posted.timestamp = cases[i].timestamp;
		posted.topic = cases[i].topic;
		posted.type_header = cases[i].type_header;
		assert_int_equal(post_as_sns(posted), cases[i].status == 0);
		if (cases[i].status) {
			assert_answer(cases[i].status, cases[i].words);
			continue;
		}
	}
	assert_int_equal(scene.counters.feedback_refused, 3);
	assert_int_equal(scene.counters.malformed, 3);
	assert_false(come((struct request){ .method = "POST", .path = "/feedback/nobody/sns" }));
	assert_answer(404, "no such shop");
	assert_int_equal(scene.counters.malformed, 4);
	write_file("shops/plain/shop.conf", SHOP_CONF(""));
	assert_false(come((struct request){ .method = "POST", .path = "/feedback/plain/sns" }));
	assert_answer(404, "no topics of SNS");
}

static void a_certificate_that_is_over_is_fetched_anew_and_events_of_no_interest_are_ignored(void **state)
{
	static const char *const ignored[] = { "Successfully validated SNS topic", "{\"eventType\":\"Open\"}",
		"{\"eventType\":\"Complaint\",\"complaint\":{\"complaintFeedbackType\":\"not-spam\"}}" };
	struct posted posted = a_bounce;

	(void)state;
	let_certificate_be_known(START_US - US_PER_DAY, START_US + US_PER_MINUTE);
	for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++) {
		posted.message = ignored[i];
		assert_false(post_as_sns(posted));
		assert_answer(200, "\"ignored\"");
		assert_int_equal(scene.counters.ignored, i + 1);
	}
	posted.message = "{\"eventType\":\"Bounce\",\"bounce\":{\"bouncedRecipients\":[]}}";
	assert_false(post_as_sns(posted));
	assert_answer(400, "it names 0 recipients");
	posted.message = "{\"eventType\":\"Complaint\",\"complaint\":{\"complainedRecipients\":[{\"emailAddress\":"
			 "\"ada@mail.example\"}]}}";
	assert_true(post_as_sns(posted));
	assert_true(scene.submission->stop);
	assert_int_equal(scene.submission->message_count, 1);
	posted.message = "{\"eventType\":\"Bounce\",\"bounce\":{\"bounceType\":\"Transient\",\"bouncedRecipients\":[{"
			 "\"emailAddress\":\"ada@mail.example\"}]}}";
	assert_true(post_as_sns(posted));
	assert_false(scene.submission->stop);
	sim_run_until(scene.sim, START_US + 2 * US_PER_MINUTE);
	assert_true(post_as_sns(posted));
	finish(SUBMISSION_ACCEPTED, 1, NULL);
	assert_answer(503, "is being fetched");
}

static unsigned status_of(const char *path)
{
	come((struct request){ .method = "POST", .path = path });
	return scene.answer.status;
}

/* A folder beside the shops' is none of them because it lies there; and what the owner changes counts from the next request on. */
static void a_shop_is_as_its_shop_conf_is_now(void **state)
{
	static const char with_topic[] = SHOP_CONF("sns-topic = " TOPIC "\n");
	unsigned there;

	(void)state;
	write_file("shops/SES/shop.conf", with_topic);
	assert_int_equal(status_of("/feedback/SES/sns"), 404);
	there = status_of("/feedback/ses/sns"); /* whatever is wrong with an empty request */
	assert_int_not_equal(there, 404);
	write_file("shops/plain/shop.conf", SHOP_CONF(""));
	assert_int_equal(status_of("/feedback/plain/sns"), 404);
	assert_int_equal(status_of("/feedback/ses/sns"), there);
	write_file("shops/plain/shop.conf", with_topic);
	assert_int_equal(status_of("/feedback/plain/sns"), there);
	write_file("shops/plain/shop.conf", "[shop]\n"); /* a slip: until it is mended there is no such shop */
	assert_int_equal(status_of("/feedback/plain/sns"), 404);
	assert_int_equal(status_of("/feedback/plain/sns"), 404);
	assert_int_equal(status_of("/feedback/ses/sns"), there);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_bounce_of_ses_is_believed_for_its_signature_alone),
		TEST(a_subscription_is_confirmed_and_its_end_is_told),
		TEST(a_body_of_more_parts_than_sns_writes_is_not_even_read),
		TEST(what_is_not_for_us_to_believe_is_refused_before_its_signature),
		TEST(a_shop_is_as_its_shop_conf_is_now),
		TEST(a_certificate_that_is_over_is_fetched_anew_and_events_of_no_interest_are_ignored),
	};
	return cmocka_run_group_tests(tests, make_key_of_sns, free_key_of_sns);
}
