/*
 * test_transport_ses.c: the request that SES gets. The test's own server receives it, all but the last byte, which waits for the claim.
 */
#include "bus/base/bytes.h"
#include "bus/base/file.h"
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_mail_goes_to_its_envelope_with_what_names_it),
		cmocka_unit_test(a_request_has_no_configuration_set_and_no_tag_where_there_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
