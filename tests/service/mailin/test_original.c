/* test_original.c: where the mail that came back begins in the text of a bounce */
#include "services/platform/mailin/plain.h"
#include "tests/unit/cmocka_all.h"
#include <string.h>

#define WORDS "Sorry, it could not be delivered.\n\n<ada@mail.example>: user unknown\n\n"

static void its_headers_or_the_line_that_announces_it_begin_it(void **state)
{
	static const char *const begins[] = {
		"Received: from mx.example\n",
		"return-path: <x@shop.example>\n",
		"Message-ID: <1@shop.example>\n",
		"DKIM-Signature: v=1\n",
		"Delivered-To: ada@mail.example\n",
		"X-Originating-IP: 192.0.2.1\n",
		"Authentication-Results: mx\n",
		"> Received: from mx\n",
		"  | Message-ID: <1@x>\n",
		">> > Return-Path: <>\n",
		"----- Original message -----\n",
		"--- Below this line is a copy of the message.\n",
		"Original message\n",
		"The original message follows:\n",
		"Message header follows:\n",
		"   ***** returned message *****\n",
		"======= Transcript of message =======\n",
		"__ Undelivered message\n",
		"#### start of mail\n",
		"++ Headers of the mail:\n",
	};
	static const char *const begin_nothing[] = {
		"Received the mail\n",
		"Subject: Your cart\n",
		"From: shop@shop.example\n",
		"    Received: from mx.example (in a list of what it tried)\n",
		"the returned message is kept\n",
		"a copy of the message is below\n",
		"-- below is received at mx\n",
		"original\n",
		"-below is\n",
		"Message-IDs differ\n",
		"",
	};
	char text[400];

	(void)state;
	for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++) {
		strcpy(text, WORDS);
		strcat(text, begins[i]);
		strcat(text, "Subject: Your cart\n");
		assert_int_equal(plain_original_at(text), strlen(WORDS));
		assert_int_equal(plain_original_at(text + strlen(WORDS)), 0);
	}
	for (size_t i = 0; i < sizeof(begin_nothing) / sizeof(begin_nothing[0]); i++) {
		strcpy(text, WORDS);
		strcat(text, begin_nothing[i]);
		assert_int_equal(plain_original_at(text), strlen(text));
	}
	assert_int_equal(plain_original_at(""), 0);
	assert_int_equal(plain_original_at("no line end"), strlen("no line end"));
}

static void the_marks_in_front_of_its_first_header_are_none_of_it(void **state)
{
	static const struct {
		const char *original, *rest;
	} cases[] = {
		{ "Received: from mx\nSubject: s\n", "Received: from mx\nSubject: s\n" },
		{ "--- Original message ---\n\nMessage-ID: <1@x>\n", "Message-ID: <1@x>\n" },
		{ "> > Return-Path: <>\n> > Subject: s\n", "Return-Path: <>\n> > Subject: s\n" },
		{ "--- Original message ---\n\n> | Received: by mx\n", "Received: by mx\n" },
		{ "--- Original message ---\nHello", "" },
		{ "", "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(plain_skip_quotes(cases[i].original), cases[i].rest);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(its_headers_or_the_line_that_announces_it_begin_it),
		cmocka_unit_test(the_marks_in_front_of_its_first_header_are_none_of_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
