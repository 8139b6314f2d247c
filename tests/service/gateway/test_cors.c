/* test_cors.c: scripts of other origins: what a system's row says is on every answer, and on no answer of another row */
#include "served.h"
#include "services/kit/endpoint/endpoint.h"
#include "services/platform/gateway/gateway.h"

#define ORIGIN "https://shop.example"
#define NAMED "\r\nAccess-Control-Allow-Origin: " ORIGIN "\r\n"

/* ---- a system that is registered in this test alone ---- */

static bool allows(const struct submission *submission, const char *origin)
{
	if (submission->names[0][0] && strcmp(submission->names[0], "demo") != 0)
		return false;
	return cors_origin_is_listed("https://www.shop.example, " ORIGIN, origin);
}

static bool prove_form(struct submission *submission)
{
	if (strcmp(submission->names[1], "closed") != 0)
		return true;
	answer_json_error(submission->answer, 429, "too many");
	return false;
}

static bool read_form(struct submission *submission)
{
	answer_json_error(submission->answer, submission->request->body.len > 0 ? 422 : 400, "this form");
	return false;
}

static void answer_form(struct submission *submission)
{
	submission_answer_json(submission, NULL);
}

static const struct cors cors = { .allows = allows, .headers = "Content-Type" };
static const struct endpoint forms[] = {
	{ "/f/<shop>/<form>", ENDPOINT_POST, 100, .prove = prove_form, .read = read_form, .answer = answer_form,
		.cors = &cors },
	{ "/plain", ENDPOINT_POST, 100, .read = read_form, .answer = answer_form },
	{ 0 },
};
const struct endpoint *const registered_endpoints[] = { health_endpoints, forms, NULL };

/* ---- tests ---- */

static const char *from(const char *origin, const char *method, const char *path, const char *more, const char *body)
{
	char head[600];

	snprintf(head, sizeof(head), "%s %s HTTP/1.1\r\nHost: x\r\n%s%s%s%sContent-Length: %zu\r\n\r\n", method, path,
		origin ? "Origin: " : "", origin ? origin : "", origin ? "\r\n" : "", more, strlen(body));
	return ask(head, bytes_of(body));
}

static void every_answer_of_its_row_may_be_read_by_a_listed_origin(void **state)
{
	static char large[200];
	static const struct {
		const char *method, *path, *more, *body, *status;
	} cases[] = {
		{ "POST", "/f/demo/kontakt", "", "x=1", "422" },
		{ "POST", "/f/demo/kontakt", "", "", "400" },
		{ "POST", "/f/demo/closed", "", "", "429" },
		{ "POST", "/f/demo", "", "", "404" },
		{ "POST", "/f/demo/kontakt/more", "", "", "404" },
		{ "POST", "/f/", "", "", "404" },
		{ "PUT", "/f/demo/kontakt", "", "", "405" },
		{ "POST", "/f/demo/kontakt", "", large, "413" },
	};

	(void)state;
	memset(large, 'x', sizeof(large) - 1);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *answer = from(ORIGIN, cases[i].method, cases[i].path, cases[i].more, cases[i].body);

		must_answer(answer, cases[i].status, NAMED);
		must_answer(answer, cases[i].status, "\r\nVary: Origin\r\n");
		assert_null(strstr(answer, "Credentials"));
		answer = from("https://evil.example", cases[i].method, cases[i].path, cases[i].more, cases[i].body);
		must_answer(answer, cases[i].status, "\r\nVary: Origin\r\n");
		assert_null(strstr(answer, "Access-Control"));
	}
}

/* Its answer is the server's own: nobody but the server knows that the body is late. */
static void so_may_the_answer_to_a_body_that_does_not_come(void **state)
{
	static const char head[] =
		"POST /f/demo/kontakt HTTP/1.1\r\nHost: x\r\nOrigin: " ORIGIN "\r\nContent-Length: 9\r\n\r\nabc";
	struct pollfd there = { .fd = come(), .events = POLLIN };
	size_t len = 0;
	ssize_t n = -1;

	(void)state;
	assert_int_equal(send(there.fd, head, strlen(head), MSG_NOSIGNAL), strlen(head));
	for (int i = 0; i < PATIENCE && n != 0; i++) {
		turn();
		poll(&there, 1, 1);
		n = recv(there.fd, heard + len, sizeof(heard) - len - 1, MSG_DONTWAIT);
		len += n > 0 ? (size_t)n : 0;
	}
	heard[len] = '\0';
	must_answer(heard, "408", NAMED);
	close(there.fd);
}

static void a_preflight_is_answered_by_the_table(void **state)
{
	static const char asks[] =
		"Access-Control-Request-Method: POST\r\nAccess-Control-Request-Headers: content-type\r\n";
	const char *answer = from(ORIGIN, "OPTIONS", "/f/demo/kontakt", asks, "");

	(void)state;
	must_answer(answer, "204", NAMED);
	must_answer(answer, "204", "\r\nAccess-Control-Allow-Methods: POST, OPTIONS\r\n");
	must_answer(answer, "204", "\r\nAccess-Control-Allow-Headers: Content-Type\r\n");
	must_answer(answer, "204", "\r\nAccess-Control-Max-Age: 7200\r\n");
	must_answer(answer, "204", "\r\nAllow: POST, OPTIONS\r\n");
	must_answer(answer, "204", "\r\nVary: Origin\r\n");
	assert_null(strstr(answer, "Content-Length"));
	answer = from("https://evil.example", "OPTIONS", "/f/demo/kontakt", asks, "");
	must_answer(answer, "204", "\r\nAllow: POST, OPTIONS\r\n");
	assert_null(strstr(answer, "Access-Control"));
	answer = from(NULL, "OPTIONS", "/f/demo/kontakt", "", "");
	must_answer(answer, "204", "\r\nVary: Origin\r\n");
	assert_null(strstr(answer, "Access-Control"));
	must_answer(from(ORIGIN, "OPTIONS", "/f/demo", asks, ""), "404", NAMED);
}

static void an_origin_that_is_doubtful_gets_no_header(void **state)
{
	static const char *const origins[] = { "null", "", "*", "https://shop.example.evil", "https://shop.exampl",
		"http://shop.example", "https://shop.example:443", "HTTPS://SHOP.EXAMPLE",
		ORIGIN "\r\nOrigin: https://evil.example", ORIGIN " " ORIGIN };

	(void)state;
	for (size_t i = 0; i < sizeof(origins) / sizeof(origins[0]); i++) {
		const char *answer = from(origins[i], "POST", "/f/demo/kontakt", "", "x");

		must_answer(answer, "422", "\r\nVary: Origin\r\n");
		assert_null(strstr(answer, "Access-Control"));
	}
	assert_null(strstr(from(ORIGIN, "POST", "/f/other/kontakt", "", "x"), "Access-Control")); /* by the shop */
}

static void a_row_without_it_is_as_it_was(void **state)
{
	const char *answer = from(ORIGIN, "OPTIONS", "/plain", "Access-Control-Request-Method: POST\r\n", "");

	(void)state;
	must_answer(answer, "405", "\r\nAllow: POST\r\n");
	assert_null(strstr(answer, "Access-Control"));
	assert_null(strstr(answer, "Vary"));
	assert_null(strstr(from(ORIGIN, "POST", "/plain", "", "x"), "Vary"));
	assert_null(strstr(from(ORIGIN, "GET", "/healthz", "", ""), "Vary"));
	assert_null(strstr(from(ORIGIN, "GET", "/elsewhere", "", ""), "Vary"));
	must_answer(from(ORIGIN, "OPTIONS", "*", "", ""), "404", "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_answer_of_its_row_may_be_read_by_a_listed_origin),
		cmocka_unit_test(so_may_the_answer_to_a_body_that_does_not_come),
		cmocka_unit_test(a_preflight_is_answered_by_the_table),
		cmocka_unit_test(an_origin_that_is_doubtful_gets_no_header),
		cmocka_unit_test(a_row_without_it_is_as_it_was),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
