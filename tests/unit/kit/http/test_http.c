/* test_http.c: requests over HTTP to a server of the test's: what is asked, what comes back, and when there is nothing to do */
#include "bus/base/text.h"
#include "services/kit/http/http.h"
#include "tests/unit/cmocka_all.h"
#include <errno.h>
#include <netinet/in.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>
#include <poll.h>
#include <stdio.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PATIENCE_MS = 10000, LOOK_MS = 5 };

static struct clock now;
static struct effect_driver *driver;
static int listener = -1, peer = -1;
static char url[60], heard[2000];
static struct http_request request;
static struct http_answer answer;
static int answers;

/* ---- both ends ---- */

static int setup(void **state)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(at);

	(void)state;
	listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	assert_int_equal(bind(listener, (struct sockaddr *)&at, len), 0);
	assert_int_equal(listen(listener, 5), 0);
	assert_int_equal(getsockname(listener, (struct sockaddr *)&at, &len), 0);
	snprintf(url, sizeof(url), "http://127.0.0.1:%d/a/b", ntohs(at.sin_port));
	now = clock_system();
	driver = http_driver_new("http", &(struct http_settings){ .clock = &now });
	request = (struct http_request){ 0 };
	assert_int_equal(http_request_init(&request, "POST", "%s", url), 0);
	request.reach = HTTP_REACH_ADMIN;
	buffer_add_text(&request.body, "a body");
	heard[0] = '\0';
	answers = 0;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	driver->close(driver->self);
	http_request_clear(&request);
	close(listener);
	if (peer >= 0)
		close(peer);
	peer = -1;
	return 0;
}

static void on_end(const void *result, void *context)
{
	(void)context;
	answer = *(const struct http_answer *)result;
	answer.body = BYTES("", 0); /* borrowed for the call */
	answers++;
}

/* The driver works when it says that there is something to do, and not otherwise. */
static void work(void)
{
	struct pollfd ready = { .fd = driver->fd(driver->self), .events = POLLIN };
	int64_t wait_us = driver->wait_us(driver->self);

	if (poll(&ready, 1, wait_us >= 0 && wait_us < LOOK_MS * US_PER_MS ? (int)(wait_us / US_PER_MS) : LOOK_MS) > 0 ||
		(wait_us >= 0 && wait_us < LOOK_MS * US_PER_MS))
		driver->work(driver->self);
}

/* Until the request is here as far as `wanted`. */
static void hear(const char *wanted)
{
	size_t len = strlen(heard);

	for (int i = 0; i < PATIENCE_MS / LOOK_MS && !strstr(heard, wanted); i++) {
		work();
		if (peer < 0)
			peer = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
		ssize_t n = peer < 0 ? 0 : recv(peer, heard + len, sizeof(heard) - len - 1, 0);
		len += n > 0 ? (size_t)n : 0;
		heard[len] = '\0';
	}
	assert_non_null(strstr(heard, wanted));
}

static void say(const char *text)
{
	assert_int_equal(send(peer, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

static void await_answer(void)
{
	for (int i = 0; i < PATIENCE_MS / LOOK_MS && answers == 0; i++)
		work();
	assert_int_equal(answers, 1);
}

/* ---- asking ---- */

static void a_request_is_sent_and_answered(void **state)
{
	(void)state;
	request.wanted[0] = "Retry-After";
	assert_int_equal(http_request_header(&request, "X-One", "1"), 0);
	effect_begin(driver, &request, on_end, NULL);
	hear("\r\n\r\na body");
	assert_int_equal(strncmp(heard, "POST /a/b HTTP/1.1\r\n", 20), 0);
	assert_non_null(strstr(heard, "\r\nX-One: 1\r\n"));
	say("HTTP/1.1 429 Slow\r\nRetry-After: 2.0\r\nContent-Length: 2\r\n\r\nok");
	await_answer();
	assert_int_equal(answer.end, HTTP_ANSWERED);
	assert_int_equal(answer.status, 429);
	assert_true(answer.went);
	assert_string_equal(answer.words, "HTTP 429");
	assert_int_equal(http_answer_retry_us(&answer, 7, US_PER_HOUR), 2 * US_PER_S);
}

/* Of an answer that breaks off nobody knows whether the request has happened. */
static void a_server_that_hangs_up_leaves_it_unknown_and_one_that_is_not_there_does_not(void **state)
{
	(void)state;
	effect_begin(driver, &request, on_end, NULL);
	hear("a body");
	close(peer);
	peer = -1;
	await_answer();
	assert_int_equal(answer.end, HTTP_UNKNOWN);
	close(listener);
	listener = -1;
	answers = 0;
	effect_begin(driver, &request, on_end, NULL);
	await_answer();
	assert_int_equal(answer.end, HTTP_NOT_SENT);
}

/* Its answer comes too late for anybody, and its connection is cut. */
static void a_request_that_was_stopped_ends_at_once_and_tells_nobody(void **state)
{
	struct effect *effect;
	char byte;
	ssize_t n = -1;

	(void)state;
	effect = effect_begin(driver, &request, on_end, NULL);
	hear("a body");
	effect_drop(effect);
	for (int i = 0; i < PATIENCE_MS / LOOK_MS && (n = recv(peer, &byte, 1, 0)) < 0 && errno == EAGAIN; i++)
		work();
	assert_true(n == 0 || errno == ECONNRESET);
	for (int i = 0; i < 10; i++)
		work();
	assert_int_equal(answers, 0);
}

/* As the others of the loop see it: a process without a request sleeps. */
static void nothing_is_to_be_done_while_nothing_runs(void **state)
{
	struct pollfd ready = { .fd = driver->fd(driver->self), .events = POLLIN };

	(void)state;
	assert_int_equal(driver->wait_us(driver->self), -1);
	assert_int_equal(poll(&ready, 1, 0), 0);
	effect_begin(driver, &request, on_end, NULL);
	assert_true(driver->wait_us(driver->self) >= 0);
	hear("a body");
	say("HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n");
	await_answer();
	for (int i = 0; i < 10; i++)
		work();
	assert_int_equal(driver->wait_us(driver->self), -1);
	assert_int_equal(poll(&ready, 1, 0), 0);
}

static void what_must_not_be_asked_ends_without_a_connection(void **state)
{
	(void)state;
	request.reach = HTTP_REACH_PUBLIC;
	effect_begin(driver, &request, on_end, NULL);
	await_answer();
	assert_int_equal(answer.end, HTTP_BARRED);
	assert_int_equal(accept(listener, NULL, NULL), -1);
	answers = 0;
	request.reach = HTTP_REACH_ADMIN;
	request.auth = (struct http_auth){ .kind = HTTP_AUTH_BEARER, .value = "two\r\nlines" };
	effect_begin(driver, &request, on_end, NULL);
	await_answer();
	assert_int_equal(answer.end, HTTP_BARRED);
	assert_int_equal(accept(listener, NULL, NULL), -1);
}

/* ---- signatures ---- */

/* Of a header of the request, up to the end of its line. */
static void value_of(const char *name, char ret[300])
{
	size_t len = strlen(name);

	for (const char *line = heard; (line = strstr(line, "\r\n")); line += 2)
		if (strncasecmp(line + 2, name, len) == 0 && line[2 + len] == ':') {
			snprintf(ret, 300, "%.*s", (int)strcspn(line + len + 4, "\r"), line + len + 4);
			return;
		}
	fail_msg("there is no %s in %s", name, heard);
}

static void hash_of(const char *text, char ret[65])
{
	uint8_t digest[SHA256_DIGEST_LENGTH];

	SHA256((const uint8_t *)text, strlen(text), digest);
	text_hex(digest, sizeof(digest), ret);
}

static void chain(uint8_t key[32], size_t len, const char *text)
{
	uint8_t next[32];

	assert_non_null(HMAC(EVP_sha256(), key, (int)len, (const uint8_t *)text, strlen(text), next, NULL));
	memcpy(key, next, sizeof(next));
}

/* As AWS computes it from what has arrived ("Create a signed AWS API request"); `path`: each of its segments encoded once more. */
static void sign_as_aws(const char *path, char ret[65])
{
	char host[300], agent[300], date[300], sum[300], canonical[1500], hash[65], text[300], scope[] = "........";
	uint8_t key[32] = "AWS4secret/key";

	value_of("Host", host);
	value_of("User-Agent", agent);
	value_of("X-Amz-Date", date);
	value_of("x-amz-content-sha256", sum);
	snprintf(canonical, sizeof(canonical),
		"POST\n%s\n\nhost:%s\nuser-agent:%s\nx-amz-content-sha256:%s\nx-amz-date:%s\n\n"
		"host;user-agent;x-amz-content-sha256;x-amz-date\n%s",
		path, host, agent, sum, date, sum);
	hash_of(canonical, hash);
	memcpy(scope, date, 8);
	snprintf(text, sizeof(text), "AWS4-HMAC-SHA256\n%.16s\n%s/eu-west-1/ses/aws4_request\n%s", date, scope, hash);
	chain(key, strlen("AWS4secret/key"), scope);
	chain(key, 32, "eu-west-1");
	chain(key, 32, "ses");
	chain(key, 32, "aws4_request");
	chain(key, 32, text);
	text_hex(key, sizeof(key), ret);
}

static void a_request_to_aws_is_signed_with_its_whole_path_and_body(void **state)
{
	static const char *const paths[][2] = { { "/", "/" },
		{ "/v2/email/outbound-emails", "/v2/email/outbound-emails" },
		{ "/model/a.b-1%3A0/converse/", "/model/a.b-1%253A0/converse/" } };
	char authorization[300], signature[65], sum[300], hash[65];

	(void)state;
	request.auth = (struct http_auth){
		.kind = HTTP_AUTH_SIGV4, .value = "AKID:secret/key", .region = "eu-west-1", .service = "ses"
	};
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		snprintf(strchr(request.url + strlen("http://"), '/'), 100, "%s", paths[i][0]);
		heard[0] = '\0';
		answers = 0;
		effect_begin(driver, &request, on_end, NULL);
		hear("\r\n\r\na body");
		assert_true(text_starts(heard + strlen("POST "), paths[i][0]));
		value_of("x-amz-content-sha256", sum);
		hash_of("a body", hash);
		assert_string_equal(sum, hash);
		value_of("Authorization", authorization);
		sign_as_aws(paths[i][1], signature);
		if (!strstr(authorization, signature))
			fail_msg("%s is signed by %s and not by %s", paths[i][0], authorization, signature);
		say("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
		await_answer();
		close(peer);
		peer = -1;
	}
}

static void what_cannot_be_signed_is_not_sent(void **state)
{
	static const char *const secrets[] = { "only-one-part", ":key", "id:", "" };

	(void)state;
	request.auth = (struct http_auth){ .kind = HTTP_AUTH_SIGV4, .region = "r", .service = "s" };
	for (size_t i = 0; i <= sizeof(secrets) / sizeof(secrets[0]); i++) {
		bool last = i == sizeof(secrets) / sizeof(secrets[0]);

		request.auth.value = last ? "id:key" : secrets[i];
		if (last)
			strcat(request.url, "?a=b");
		answers = 0;
		effect_begin(driver, &request, on_end, NULL);
		await_answer();
		assert_int_equal(answer.end, HTTP_BARRED);
		assert_null(strstr(answer.words, "only-one-part"));
	}
	assert_int_equal(accept(listener, NULL, NULL), -1);
}

/* ---- secrets ---- */

/* Read for each request: a new one counts at once. */
static void a_secret_goes_as_the_request_asks(void **state)
{
	static const struct {
		struct http_auth auth;
		const char *header;
	} cases[] = {
		{ { .kind = HTTP_AUTH_BEARER, .value = "s3cret" }, "\r\nAuthorization: Bearer s3cret\r\n" },
		{ { .kind = HTTP_AUTH_HEADER, .name = "X-Key", .value = "s3cret" }, "\r\nX-Key: s3cret\r\n" },
		{ { .kind = HTTP_AUTH_BASIC, .value = "ada:s3cret" }, "\r\nAuthorization: Basic YWRhOnMzY3JldA==\r\n" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		request.auth = cases[i].auth;
		heard[0] = '\0';
		answers = 0;
		effect_begin(driver, &request, on_end, NULL);
		hear("\r\n\r\na body");
		assert_non_null(strstr(heard, cases[i].header));
		say("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
		await_answer();
		close(peer);
		peer = -1;
	}
}

/* Its file or its place is named, so that somebody can mend it, and nothing of itself. */
static void what_is_no_secret_bars_the_request_and_says_where_it_is(void **state)
{
	static const struct {
		struct http_auth auth;
		const char *words;
	} cases[] = {
		{ { .kind = HTTP_AUTH_BEARER, .value = "" }, "the secret in memory is empty, or not one line of text" },
		{ { .kind = HTTP_AUTH_BEARER, .value = "a\nb" },
			"the secret in memory is empty, or not one line of text" },
		{ { .kind = HTTP_AUTH_BASIC, .secret = "api/none" }, "the secret api/none: No such file or directory" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		request.auth = cases[i].auth;
		answers = 0;
		effect_begin(driver, &request, on_end, NULL);
		await_answer();
		assert_int_equal(answer.end, HTTP_BARRED);
		assert_string_equal(answer.words, cases[i].words);
	}
	assert_int_equal(accept(listener, NULL, NULL), -1);
}

/* ---- what a request may be ---- */

static void a_request_that_cannot_be_made_is_refused(void **state)
{
	static const char *const names[] = { "", "X Y", "X:", "X\r\n", "ä" },
				 *const values[] = { "a\r\nb", "a\n", "\x01" };
	struct http_request made;
	char longer[HTTP_URL_MAX + 1];

	(void)state;
	memset(longer, 'a', sizeof(longer));
	longer[HTTP_URL_MAX] = '\0';
	assert_int_equal(http_request_init(&made, "GET", "%s", longer), -EINVAL);
	assert_string_equal(made.url, "");
	longer[HTTP_URL_MAX - 1] = '\0';
	assert_int_equal(http_request_init(&made, "GET", "%s", longer), 0);
	assert_string_equal(made.url, longer);
	assert_int_equal(http_request_init(&made, "GE T", "http://x/"), -EINVAL);
	assert_int_equal(
		http_request_init(&made, "PROPPATCH", "http://x/"), -EINVAL); /* longer than any that is used */
	assert_string_equal(made.method, "");
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_int_equal(http_request_header(&made, names[i], "v"), -EINVAL);
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		assert_int_equal(http_request_header(&made, "X", values[i]), -EINVAL);
	assert_int_equal(made.headers.len, 0);
}

static void a_server_is_left_alone_for_as_long_as_it_asks_within_bounds(void **state)
{
	static const struct {
		const char *value;
		int64_t us;
	} cases[] = { { "0", 0 }, { "1", US_PER_S }, { "2.5", 2500 * US_PER_MS }, { "60", US_PER_MINUTE },
		{ "61", US_PER_MINUTE }, { "99999999999999999999", US_PER_MINUTE }, { "", 7 }, { "-1", 7 },
		{ "soon", 7 }, { "1 s", 7 }, { "Fri, 31 Dec 1999 23:59:59 GMT", 7 }, { "nan", 7 } };
	struct http_answer given = { .end = HTTP_ANSWERED };

	(void)state;
	assert_int_equal(http_answer_retry_us(&given, 7, US_PER_MINUTE), 7);
	given.headers[HTTP_WANTED_MAX - 1].name = "Retry-After";
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		TEXT_COPY(given.headers[HTTP_WANTED_MAX - 1].value, cases[i].value);
		assert_string_equal(http_answer_header(&given, "retry-after"), cases[i].value);
		if (http_answer_retry_us(&given, 7, US_PER_MINUTE) != cases[i].us)
			fail_msg("\"%s\" is %lld", cases[i].value,
				(long long)http_answer_retry_us(&given, 7, US_PER_MINUTE));
	}
	assert_null(http_answer_header(&given, "Retry"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_request_is_sent_and_answered),
		TEST(a_server_that_hangs_up_leaves_it_unknown_and_one_that_is_not_there_does_not),
		TEST(a_request_that_was_stopped_ends_at_once_and_tells_nobody),
		TEST(nothing_is_to_be_done_while_nothing_runs),
		TEST(what_must_not_be_asked_ends_without_a_connection),
		TEST(a_request_to_aws_is_signed_with_its_whole_path_and_body),
		TEST(what_cannot_be_signed_is_not_sent),
		TEST(a_secret_goes_as_the_request_asks),
		TEST(what_is_no_secret_bars_the_request_and_says_where_it_is),
		cmocka_unit_test(a_request_that_cannot_be_made_is_refused),
		cmocka_unit_test(a_server_is_left_alone_for_as_long_as_it_asks_within_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
