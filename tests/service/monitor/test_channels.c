/* test_channels.c: an alarm as a mail and as a post, and what each way is called */
#include "bus/base/bytes.h"
#include "bus/base/text.h"
#include "services/platform/monitor/channels.h"
#include "tests/unit/cmocka_all.h"
#include <errno.h>
#include <jansson.h>
#include <string.h>

static const struct channels channels = { .mail_count = 2,
	.webhook_count = 2,
	.mails = { "ada@admin.example", "bob@admin.example" },
	.webhooks = { "https://one.example/hook", "https://two.example/hook" },
	.from = "cartbus@shop.example",
	.ca = "/etc/ca.pem" };

static AlarmDue due_of(const char *about, bool raised)
{
	AlarmDue due = { .has_alarm = true, .alarm = { .kind = "disk", .raised = raised, .at_us = 77 } };

	TEXT_COPY(due.about, about);
	TEXT_COPY(due.alarm.text, "the disk is short");
	TEXT_COPY(due.alarm.remedy, "make room");
	return due;
}

static void ways_are_called_by_kind_and_place(void **state)
{
	static const struct {
		const char *name;
		bool is_mail;
		int index;
	} cases[] = { { "mail 1", true, 0 }, { "mail 2", true, 1 }, { "webhook 1", false, 0 },
		{ "webhook 2", false, 1 } };
	char name[CHANNEL_NAME_MAX];
	bool is_mail;
	int index;

	(void)state;
	assert_int_equal(channels_count(&channels), 4);
	for (int i = 0; i < 4; i++) {
		channels_name(&channels, i, name);
		assert_string_equal(name, cases[i].name);
		assert_true(channels_find(&channels, name, &is_mail, &index));
		assert_int_equal(is_mail, cases[i].is_mail);
		assert_int_equal(index, cases[i].index);
	}
	assert_false(channels_find(&channels, "mail 3", &is_mail, &index)); /* not any more */
	assert_false(channels_find(&channels, "webhook 3", &is_mail, &index));
	assert_false(channels_find(&channels, "mail", &is_mail, &index));
}

/* However often it is delivered, and on whichever way. */
static void an_alarm_has_one_id(void **state)
{
	AlarmDue due = due_of("demo", true);
	char id[CHANNEL_ID_MAX];

	(void)state;
	channels_id(&due, id);
	assert_string_equal(id, "alarm.demo.disk.77.raised");
	due.alarm.raised = false;
	due.alarm_seq = 5;
	channels_id(&due, id);
	assert_string_equal(id, "alarm.demo.disk.77.over");
	TEXT_COPY(due.about, "a b<c>\"@\x7f~!");
	channels_id(&due, id);
	assert_string_equal(id, "alarm.a_b_c____~!.disk.77.over");
}

static const char *mail_of(int index, const AlarmDue *due, struct mail **mail)
{
	char why[160];

	assert_int_equal(channels_mail(&channels, index, due, 1000, mail, why), 0);
	return buffer_text(&(*mail)->mime);
}

static void a_mail_says_what_it_is_about_and_what_to_do(void **state)
{
	AlarmDue due = due_of("demo", true);
	struct mail *mail;
	const char *text = mail_of(1, &due, &mail);

	(void)state;
	assert_string_equal(mail->envelope_to, "bob@admin.example");
	assert_string_equal(mail->envelope_from, "cartbus@shop.example");
	assert_string_equal(mail->message_id, "alarm.demo.disk.77.raised@shop.example");
	assert_false(mail->claim); /* twice is better than never */
	assert_non_null(strstr(text, "Subject: [cartbus] disk, shop demo: the disk is short\r\n"));
	assert_non_null(
		strstr(text, "disk, shop demo\r\n\r\nthe disk is short\r\n\r\nWhat to do: make room\r\n\r\n`cartbus"));
	mail_free(mail);
	due.alarm.remedy[0] = '\0';
	text = mail_of(0, &due, &mail);
	assert_string_equal(mail->envelope_to, "ada@admin.example");
	assert_non_null(strstr(text, "the disk is short\r\n\r\n`cartbus status`"));
	mail_free(mail);
}

static void a_mail_that_it_is_over_asks_for_nothing(void **state)
{
	AlarmDue due = due_of(SHOP_OF_ALL, false);
	struct mail *mail;
	const char *text = mail_of(0, &due, &mail);

	(void)state;
	assert_non_null(strstr(text, "Subject: [cartbus] over: disk: the disk is short\r\n"));
	assert_non_null(strstr(text, "disk: it is over\r\n\r\nthe disk is short\r\n\r\n`cartbus status`"));
	assert_null(strstr(text, "What to do"));
	assert_null(strstr(text, "make room"));
	assert_null(strstr(text, ", shop"));
	mail_free(mail);
}

static void a_post_says_the_same_to_a_program(void **state)
{
	static const struct {
		const char *about, *type, *shop, *remedy;
		bool raised;
	} cases[] = { { "demo", "alarm.raised", "demo", "make room", true },
		{ "demo", "alarm.over", "demo", "", false }, { SHOP_OF_ALL, "alarm.raised", "", "make room", true } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		AlarmDue due = due_of(cases[i].about, cases[i].raised);
		struct http_request request = { 0 };
		assert_int_equal(channels_request(&channels, 1, &due, 1000, &request), 0);
		assert_string_equal(request.url, "https://two.example/hook");
		assert_int_equal(request.reach, HTTP_REACH_ADMIN);
		assert_string_equal(request.ca, "/etc/ca.pem");
		json_t *body = json_loadb((const char *)request.body.data, request.body.len, 0, NULL);
		const json_t *data = json_object_get(body, "data");
		assert_string_equal(json_string_value(json_object_get(body, "type")), cases[i].type);
		assert_int_equal(json_integer_value(json_object_get(body, "timestamp_us")), 77);
		assert_string_equal(json_string_value(json_object_get(data, "kind")), "disk");
		assert_string_equal(json_string_value(json_object_get(data, "shop")), cases[i].shop);
		assert_int_equal(json_is_true(json_object_get(data, "raised")), cases[i].raised);
		assert_string_equal(json_string_value(json_object_get(data, "text")), "the disk is short");
		assert_string_equal(json_string_value(json_object_get(data, "remedy")), cases[i].remedy);
		assert_int_equal(json_integer_value(json_object_get(data, "at_us")), 77);
		json_decref(body);
		http_request_clear(&request);
	}
}

static void a_text_that_is_none_is_not_posted(void **state)
{
	AlarmDue due = due_of("demo", true);
	struct http_request request = { 0 };

	(void)state;
	TEXT_COPY(due.alarm.text, "\xff");
	assert_int_equal(channels_request(&channels, 0, &due, 1000, &request), -EINVAL);
	http_request_clear(&request);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ways_are_called_by_kind_and_place),
		cmocka_unit_test(an_alarm_has_one_id),
		cmocka_unit_test(a_mail_says_what_it_is_about_and_what_to_do),
		cmocka_unit_test(a_mail_that_it_is_over_asks_for_nothing),
		cmocka_unit_test(a_post_says_the_same_to_a_program),
		cmocka_unit_test(a_text_that_is_none_is_not_posted),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
