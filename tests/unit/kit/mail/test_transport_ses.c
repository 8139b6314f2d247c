/*
 * test_transport_ses.c: the request that SES gets. The test's own server receives it, all but the last byte, which waits for the claim.
 */
#include "bus/base/bytes.h"
#include "bus/base/file.h"
#include "bus/base/text.h"
#include "services/kit/mail/transport.h"
#include "tests/unit/cmocka_all.h"
#include "tests/unit/effect_stand_in.h"
#include "tests/unit/folder.h"
#include <jansson.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

enum { LOOK_MS = 2, LOOKS_MOST = 10000 };

struct post {
	struct folder folder;
	struct clock clock;
	int listener, peer;
	struct effect_driver *driver;
	struct effect effect;
	struct mail *mail;
	char heard[8000];
	size_t heard_len;
};

static void post_new(struct post *post, const char *configuration_set, const char *message_id)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(at);
	char path[200], endpoint[60], why[160];

	*post = (struct post){ .folder = folder_new(), .clock = clock_system(), .peer = -1 };
	FOLDER_PATH(path, post->folder, "ses.key");
	assert_int_equal(file_write_durably(path, bytes_of("AKIDEXAMPLE:secret\n"), 0600), 0);
	post->listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(post->listener, (struct sockaddr *)&at, len), 0);
	assert_int_equal(listen(post->listener, 5), 0);
	getsockname(post->listener, (struct sockaddr *)&at, &len);
	snprintf(endpoint, sizeof(endpoint), "http://127.0.0.1:%d", (int)ntohs(at.sin_port));
	post->driver = transport_ses_new(&(struct ses_settings){ .region = "eu-central-1",
		.endpoint = endpoint,
		.configuration_set = configuration_set,
		.http = { .clock = &post->clock, .secrets = post->folder.path } });
	assert_int_equal(
		mail_note("shop@shop.example", "anna@mail.example", "s", "text\n", message_id, 0, &post->mail, why), 0);
	post->mail->claim = true;
}

static void post_free(struct post *post)
{
	post->driver->close(post->driver->self);
	mail_free(post->mail);
	if (post->peer >= 0)
		close(post->peer);
	close(post->listener);
	folder_remove(&post->folder);
}

static void hear(struct post *post)
{
	if (post->peer < 0)
		post->peer = accept4(post->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	ssize_t n = post->peer < 0
		? -1
		: recv(post->peer, post->heard + post->heard_len, sizeof(post->heard) - post->heard_len - 1, 0);
	post->heard_len += n > 0 ? (size_t)n : 0;
}

static void work(struct post *post)
{
	struct pollfd polled = { .fd = post->driver->fd(post->driver->self), .events = POLLIN };

	poll(&polled, 1, LOOK_MS);
	post->driver->work(post->driver->self);
	hear(post);
}

/* The driver holds the last byte back until its claim is answered: the test adds it. */
static json_t *body_of(struct post *post)
{
	const char *length, *body = NULL;

	post->driver->start(post->driver->self, &post->effect, post->mail);
	for (int i = 0; i < LOOKS_MOST && !post->effect.ends; i++) {
		work(post);
		length = strcasestr(post->heard, "\r\nContent-Length: ");
		body = strstr(post->heard, "\r\n\r\n");
		if (post->effect.claims && length && body &&
			strlen(body + 4) + 1 == (size_t)strtol(length + strlen("\r\nContent-Length: "), NULL, 10))
			break;
	}
	assert_int_equal(post->effect.ends, 0);
	assert_non_null(body);
	post->heard[post->heard_len] = '}';
	return json_loads(body + 4, 0, NULL);
}

static const char *text_at(const json_t *json, const char *name)
{
	return json_string_value(json_object_get(json, name));
}

static void a_mail_goes_to_its_envelope_with_what_names_it(void **state)
{
	struct post post;
	json_t *body, *tag;

	(void)state;
	post_new(&post, "reminders", "2.0123456789abcdef0123456789abcdef@shop.example");
	body = body_of(&post);
	assert_non_null(body);
	assert_memory_equal(post.heard, "POST /v2/email/outbound-emails ", 31);
	assert_string_equal(text_at(body, "ConfigurationSetName"), "reminders");
	assert_string_equal(json_string_value(json_array_get(
				    json_object_get(json_object_get(body, "Destination"), "ToAddresses"), 0)),
		"anna@mail.example");
	assert_non_null(text_at(json_object_get(json_object_get(body, "Content"), "Raw"), "Data"));
	tag = json_array_get(json_object_get(body, "EmailTags"), 0);
	assert_string_equal(text_at(tag, "Value"), "2-0123456789abcdef0123456789abcdef");
	json_decref(body);
	post_free(&post);
}

/* SES refuses a name that is empty. */
static void a_request_has_no_configuration_set_and_no_tag_where_there_is_none(void **state)
{
	static const char *const none[] = { NULL, "" };

	(void)state;
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		struct post post;
		json_t *body;

		post_new(&post, none[i], "note@shop.example");
		body = body_of(&post);
		assert_non_null(body);
		assert_null(json_object_get(body, "ConfigurationSetName"));
		assert_null(json_object_get(body, "EmailTags"));
		assert_non_null(json_object_get(body, "Content"));
		json_decref(body);
		post_free(&post);
	}
}

/* --- what an answer of SES means for the mail, before and behind its last byte --- */

static struct http_answer answer_of(long status, const char *error, const char *body)
{
	struct http_answer answer = {
		.end = HTTP_ANSWERED, .status = status, .body = bytes_of(body), .words = "words"
	};

	if (error) {
		answer.headers[0].name = SES_ERROR_HEADER;
		TEXT_COPY(answer.headers[0].value, error);
	}
	return answer;
}

static void an_error_is_the_mails_or_ours_or_of_the_moment(void **state)
{
	static const struct {
		long status;
		const char *error, *body;
		enum mail_end end, before_last_byte;
		bool throttled;
	} cases[] = {
		{ 400, "MessageRejected", "{}", MAIL_REFUSED, MAIL_REFUSED, false },
		{ 400, "BadRequestException:http://x/", "{}", MAIL_REFUSED, MAIL_REFUSED, false },
		{ 400, NULL, "{\"__type\":\"com.amazonaws.ses#MessageRejected\"}", MAIL_REFUSED, MAIL_REFUSED, false },
		{ 400, "TooManyRequestsException", "{\"__type\":\"MessageRejected\"}", MAIL_LATER, MAIL_LATER, true },
		{ 400, "ThrottlingException", "", MAIL_LATER, MAIL_LATER, true },
		{ 400, "Throttling", "", MAIL_LATER, MAIL_LATER, true },
		{ 400, NULL, "{\"__type\":\"x#LimitExceededException:y\"}", MAIL_LATER, MAIL_LATER, true },
		{ 409, "ConcurrentModificationException", "", MAIL_LATER, MAIL_LATER, false },
		{ 500, "ServiceUnavailable", "", MAIL_LATER, MAIL_LATER, false },
		{ 429, NULL, "<html>", MAIL_LATER, MAIL_LATER, true },
		{ 428, NULL, "", MAIL_NOT_SENT, MAIL_NOT_SENT, false },
		{ 503, NULL, "", MAIL_LATER, MAIL_LATER, false },
		{ 400, "AccountSuspendedException", "", MAIL_NOT_SENT, MAIL_NOT_SENT, false },
		{ 403, NULL, "{\"__type\":7}", MAIL_NOT_SENT, MAIL_NOT_SENT, false },
		{ 499, NULL, "", MAIL_NOT_SENT, MAIL_NOT_SENT, false },
		{ 399, NULL, "", MAIL_UNKNOWN, MAIL_NOT_SENT, false },
		{ 500, NULL, "", MAIL_UNKNOWN, MAIL_NOT_SENT, false },
		{ 502, "Rejected", "", MAIL_UNKNOWN, MAIL_NOT_SENT, false },
		{ 201, NULL, "{\"MessageId\":\"m\"}", MAIL_UNKNOWN, MAIL_NOT_SENT, false },
		{ 200, NULL, "{\"MessageId\":\"m\"}", MAIL_SENT, MAIL_NOT_SENT, false },
		{ 200, NULL, "{\"MessageId\":\"\"}", MAIL_UNKNOWN, MAIL_NOT_SENT, false },
		{ 200, NULL, "{\"MessageId\":7}", MAIL_UNKNOWN, MAIL_NOT_SENT, false },
		{ 200, NULL, "", MAIL_UNKNOWN, MAIL_NOT_SENT, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct http_answer answer = answer_of(cases[i].status, cases[i].error, cases[i].body);
		assert_int_equal(ses_result_of(&answer, true).end, cases[i].end);
		assert_int_equal(ses_result_of(&answer, false).end, cases[i].before_last_byte);
		assert_int_equal(ses_is_throttled(&answer), cases[i].throttled);
		assert_string_equal(ses_result_of(&answer, true).transport, "ses");
	}
}

/* Perhaps it has all of it: only behind the last byte. */
static void without_an_answer_the_last_byte_decides(void **state)
{
	static const struct {
		enum http_end end;
		enum mail_end gone, held;
	} cases[] = { { HTTP_UNKNOWN, MAIL_UNKNOWN, MAIL_NOT_SENT }, { HTTP_NOT_SENT, MAIL_NOT_SENT, MAIL_NOT_SENT },
		{ HTTP_BARRED, MAIL_NOT_SENT, MAIL_NOT_SENT } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct http_answer answer = answer_of(429, NULL, "{\"MessageId\":\"m\"}");
		answer.end = cases[i].end;
		assert_int_equal(ses_result_of(&answer, true).end, cases[i].gone);
		assert_int_equal(ses_result_of(&answer, false).end, cases[i].held);
		assert_string_equal(ses_result_of(&answer, true).words, "words");
		assert_string_equal(ses_result_of(&answer, true).transport, "ses");
		assert_false(ses_is_throttled(&answer)); /* it did not say so */
	}
}

static void what_it_said_is_kept_without_addresses(void **state)
{
	struct http_answer answer = answer_of(
		400, "MessageRejected:x", "{\"message\":\"Email address is not verified: ann@buyer.example in EU\"}");

	(void)state;
	assert_string_equal(ses_result_of(&answer, true).words,
		"HTTP 400 MessageRejected Email address is not verified: (address) in EU");
	answer = answer_of(200, NULL, "{\"MessageId\":\"0102-77\"}");
	assert_string_equal(ses_result_of(&answer, true).words, "MessageId 0102-77");
	assert_string_equal(ses_result_of(&answer, false).words, "HTTP 200");
}

static void words_of_a_server_are_printable_and_name_nobody(void **state)
{
	static const struct {
		const char *said, *words;
	} cases[] = { { "", "" }, { "250 ok", "250 ok" }, { "  250  ok  ", "  250  ok" },
		{ "a\r\nb\x7f\x1b c", "ab c" }, { "\xc3\xbc!~", "!~" },
		{ "<ann@b.example>: unknown", "(address) unknown" }, { "@", "(address)" },
		{ "to ann@b.example", "to (address)" } };
	char words[256], said[400];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		mail_words(cases[i].said, strlen(cases[i].said), words);
		assert_string_equal(words, cases[i].words);
	}
	mail_words("250 ok and more", 6, words);
	assert_string_equal(words, "250 ok");
	memset(said, 'x', sizeof(said)); /* what does not fit is left out */
	mail_words(said, sizeof(said), words);
	assert_int_equal(strlen(words), 254);
	memcpy(said + 243, " end", 4); /* no word begins in the last twelve bytes */
	mail_words(said, 247, words);
	assert_int_equal(strlen(words), 243);
	for (size_t i = 0; i < sizeof(said); i += 2)
		memcpy(said + i, "@ ", 2);
	mail_words(said, sizeof(said), words);
	assert_true(strlen(words) < sizeof(words));
	assert_null(strchr(words, '@'));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_mail_goes_to_its_envelope_with_what_names_it),
		cmocka_unit_test(a_request_has_no_configuration_set_and_no_tag_where_there_is_none),
		cmocka_unit_test(an_error_is_the_mails_or_ours_or_of_the_moment),
		cmocka_unit_test(without_an_answer_the_last_byte_decides),
		cmocka_unit_test(what_it_said_is_kept_without_addresses),
		cmocka_unit_test(words_of_a_server_are_printable_and_name_nobody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
