/* which page sent a request */
#include "services/console/origin.h"
#include "tests/unit/cmocka_all.h"
#include <stdio.h>

static const char ours[] = "http://127.0.0.1:8410";

/* `fields` are header lines, each with its CRLF. */
static const char *judge(const char *method, const char *fields)
{
	static char head[1024];
	struct request request;
	const char *why;

	snprintf(head, sizeof(head), "%s /s/demo/stop HTTP/1.1\r\nHost: 127.0.0.1:8410\r\n%s\r\n", method, fields);
	assert_int_equal(request_parse(head, strlen(head), &request, &why), 0);
	return origin_trouble(&request, ours);
}

static void our_own_forms_and_links_pass(void **state)
{
	(void)state;
	assert_null(judge("POST", "Sec-Fetch-Site: same-origin\r\nOrigin: http://127.0.0.1:8410\r\n"));
	assert_null(judge("POST", "Origin: http://127.0.0.1:8410\r\n"));
	assert_null(judge("POST", "Referer: http://127.0.0.1:8410/s/demo/\r\n"));
	assert_null(judge("GET", "Sec-Fetch-Site: same-origin\r\n"));
	assert_null(judge("GET", "Sec-Fetch-Site: none\r\n"));
	assert_null(judge("GET", ""));
}

static void a_link_of_a_mail_leads_to_a_page(void **state)
{
	(void)state;
	assert_null(
		judge("GET", "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\n"));
}

static void no_other_page_acts(void **state)
{
	static const char *const forged[] = {
		"Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\nOrigin: https://evil.example\r\n",
		"Sec-Fetch-Site: same-site\r\nOrigin: http://127.0.0.1:8420\r\n",
		"Sec-Fetch-Site: same-origin\r\nOrigin: http://127.0.0.1:8420\r\n",
		"Sec-Fetch-Site: none\r\n",
		"Origin: null\r\n",
		"Origin: http://127.0.0.1:84100\r\n",
		"Origin: http://127.0.0.1:8410.evil.example\r\n",
		"Origin: https://127.0.0.1:8410\r\n",
		"Origin: http://127.0.0.1:8410\r\nOrigin: https://evil.example\r\n",
		"Referer: http://127.0.0.1:8410.evil.example/\r\n",
		"Referer: https://evil.example/http://127.0.0.1:8410/\r\n",
		"",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(forged) / sizeof(forged[0]); i++)
		assert_non_null(judge("POST", forged[i]));
}

static void no_other_page_reads_or_frames(void **state)
{
	static const char *const from[] = {
		"Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors\r\nSec-Fetch-Dest: image\r\n",
		"Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: iframe\r\n",
		"Sec-Fetch-Site: same-site\r\nSec-Fetch-Mode: cors\r\nSec-Fetch-Dest: empty\r\n",
		"Sec-Fetch-Site: nonsense\r\n"
	};

	(void)state;
	for (size_t i = 0; i < sizeof(from) / sizeof(from[0]); i++)
		assert_non_null(judge("GET", from[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(our_own_forms_and_links_pass),
		cmocka_unit_test(a_link_of_a_mail_leads_to_a_page),
		cmocka_unit_test(no_other_page_acts),
		cmocka_unit_test(no_other_page_reads_or_frames),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
