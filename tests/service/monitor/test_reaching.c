/* test_reaching.c: failures that are facts, alarms that do not arrive, and the broker that is away */
#include "bus/actor/sim/harness.h"
#include "bus/base/clock.h"
#include "bus/base/file.h"
#include "bus/base/text.h"
#include "proto/platform_topics.h"
#include "services/kit/mail/message.h"
#include "services/platform/monitor/alarm_state.h"
#include "services/platform/monitor/broker_away.h"
#include "services/platform/monitor/failing.h"
#include "services/platform/monitor/monitor.h"
#include "services/platform/monitor/notify_status.h"
#include "tests/unit/cmocka_all.h"
#include "tests/unit/folder.h"
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define NOW_US (INT64_C(20000) * US_PER_DAY)

/* ---- failures ---- */

static uint32_t given_count(struct harness *h, const char *queue, uint64_t total, int64_t at_us)
{
	QueueFailed failed = { 0 };
	if (failing_news(harness_state(h), queue, total, at_us, &failed))
		GIVEN(h, queue_failed, &failed, .shop = SHOP_OF_ALL, .key = queue);
	return failed.failures;
}

static void each_failure_counts_once_however_often_the_monitor_or_the_broker_is_started(void **state)
{
	struct harness *h = harness_new(&monitor, NOW_US);
	const struct state *folded = harness_state(h);
	(void)state;
	assert_int_equal(given_count(h, "waiter", 2, NOW_US), 2);
	assert_int_equal(
		given_count(h, "waiter", 2, NOW_US), 0); /* the monitor began anew: the state is all that it has */
	assert_int_equal(given_count(h, "sender", 4, NOW_US), 4);
	assert_int_equal(given_count(h, "waiter", 3, NOW_US + 20 * US_PER_MINUTE), 1);
	assert_int_equal(given_count(h, "waiter", 0, NOW_US + 30 * US_PER_MINUTE), 0); /* the broker began anew */
	assert_int_equal(given_count(h, "waiter", 5, NOW_US + 30 * US_PER_MINUTE), 5);
	int64_t now_us = NOW_US + 30 * US_PER_MINUTE;
	assert_int_equal(failing_count(folded, "waiter", now_us, US_PER_HOUR), 8);
	assert_int_equal(failing_count(folded, NULL, now_us, US_PER_HOUR), 12);
	assert_int_equal(failing_count(folded, NULL, now_us, 10 * US_PER_MINUTE), 5);
	assert_int_equal(failing_count(folded, "waiter", NOW_US + 65 * US_PER_MINUTE, US_PER_HOUR), 6);
	assert_int_equal(failing_count(folded, "waiter", NOW_US + 91 * US_PER_MINUTE, US_PER_HOUR), 0);
	harness_free(h);
}

/* ---- alarms that do not arrive ---- */

static const struct channels two_channels = { .mail_count = 1,
	.mails = { "admin@shop.example" },
	.webhook_count = 1,
	.webhooks = { "https://hooks.example/alarm" },
	.from = "bus@shop.example",
	.keys = { .key = { "0123456789abcdef0123456789abcdef" }, .len = { 32 } } };

static void given_due(struct harness *h, const char *way, uint64_t seq, const char *kind)
{
	AlarmDue due = { .alarm_seq = seq, .has_alarm = true, .alarm = { .raised = true, .at_us = NOW_US } };
	TEXT_COPY(due.way, way);
	TEXT_COPY(due.alarm.kind, kind);
	GIVEN(h, alarm_due, &due, .shop = "demo", .key = way);
}

static void given_told(struct harness *h, const char *way, uint64_t seq, const char *kind, bool reached)
{
	AlarmTold told = { .alarm_seq = seq, .raised = true, .reached = reached, .words = "HTTP 404" };
	TEXT_COPY(told.way, way);
	TEXT_COPY(told.kind, kind);
	GIVEN(h, alarm_told, &told, .shop = "demo", .key = way);
}

static int unreached(struct harness *h, const struct channels *channels, int64_t waited_us, const char *words)
{
	struct notify_status_none none = notify_status_none(harness_state(h), channels, NOW_US + waited_us);
	if (none.count && !strstr(none.channels, words))
		fail_msg("\"%s\" does not say \"%s\"", none.channels, words);
	return none.count;
}

static void a_way_that_refuses_or_is_silent_is_told_until_something_arrives(void **state)
{
	struct harness *h = harness_new(&monitor, NOW_US);
	const struct channels no_webhook = { .mail_count = 1 };
	(void)state;
	given_due(h, "webhook 1", 7, "disk");
	assert_int_equal(unreached(h, &two_channels, 0, ""), 0);
	assert_int_equal(unreached(h, &two_channels, 1, "webhook 1 (no answer yet)"), 1);
	assert_int_equal(unreached(h, &no_webhook, 1, ""), 0);
	given_told(h, "webhook 1", 7, "disk", false);
	assert_int_equal(unreached(h, &two_channels, 0, "webhook 1 (HTTP 404)"), 1);
	given_due(h, "mail 1", 7, "disk");
	given_told(h, "mail 1", 7, "disk", true);
	given_told(h, "mail 1", 8, ALARM_TEST, false); /* who asked for it was told */
	assert_int_equal(unreached(h, &two_channels, 1, "webhook 1"), 1);
	given_told(h, "webhook 1", 9, ALARM_TEST, true);
	assert_int_equal(unreached(h, &two_channels, 1, ""), 0);
	harness_free(h);
}

/* ---- the broker is away ---- */

struct post_office { /* a driver that holds what it is given until the test says how it ended */
	struct effect_driver driver;
	struct effect *effect;
	int started, stopped;
	char id[200], text[2000];
};

static void note_mail(struct post_office *office, const struct mail *mail)
{
	TEXT_COPY(office->id, mail->message_id);
	snprintf(office->text, sizeof(office->text), "%.*s", (int)mail->mime.len, (const char *)mail->mime.data);
}

static void note_post(struct post_office *office, const struct http_request *request)
{
	snprintf(
		office->id, sizeof(office->id), "%.*s", (int)request->headers.len, (const char *)request->headers.data);
	snprintf(office->text, sizeof(office->text), "%.*s", (int)request->body.len, (const char *)request->body.data);
}

static void office_start(void *self, struct effect *effect, const void *request)
{
	struct post_office *office = self;
	office->effect = effect;
	office->started++;
	if (strcmp(office->driver.name, "mail") == 0)
		note_mail(office, request);
	else
		note_post(office, request);
}

static void office_stop(void *self, struct effect *effect)
{
	struct post_office *office = self;
	assert_ptr_equal(effect, office->effect);
	office->effect = NULL;
	office->stopped++;
}

struct scene {
	struct folder folder;
	struct clock clock;
	struct post_office mail, http;
	struct broker_away *away;
};

static void begin(struct scene *scene)
{
	struct broker_away_settings settings = { .channels = &two_channels,
		.mail = &scene->mail.driver,
		.http = &scene->http.driver,
		.clock = &scene->clock,
		.patience_us = US_PER_MINUTE };
	FOLDER_PATH(settings.path, scene->folder, "broker-away.json");
	scene->away = broker_away_new(&settings);
}

static void set_scene(struct scene *scene)
{
	static const struct effect_driver driver = { .start = office_start, .stop = office_stop };
	*scene = (struct scene){ .folder = folder_new(), .clock = clock_virtual(NOW_US) };
	scene->mail.driver = scene->http.driver = driver;
	scene->mail.driver.name = "mail";
	scene->mail.driver.self = &scene->mail;
	scene->http.driver.name = "http";
	scene->http.driver.self = &scene->http;
	begin(scene);
}

static void end(struct scene *scene)
{
	broker_away_free(scene->away);
	folder_remove(&scene->folder);
}

static void killed_and_started_again(struct scene *scene)
{
	broker_away_free(scene->away);
	scene->mail.effect = scene->http.effect = NULL;
	begin(scene);
}

static void later(struct scene *scene, int64_t us, enum runtime_phase phase)
{
	scene->clock.virtual_us += us;
	broker_away_look(scene->away, phase, "connection refused");
}

static void mail_ends(struct scene *scene, enum mail_end how)
{
	struct effect *effect = scene->mail.effect;
	assert_non_null(effect);
	scene->mail.effect = NULL;
	effect_done(effect, &(struct mail_result){ .end = how, .words = "so it ended" });
}

static void post_ends(struct scene *scene, long status)
{
	struct effect *effect = scene->http.effect;
	assert_non_null(effect);
	scene->http.effect = NULL;
	effect_done(effect, &(struct http_answer){ .end = HTTP_ANSWERED, .status = status, .words = "HTTP" });
}

static void assert_started(const struct scene *scene, int mails, int posts)
{
	assert_int_equal(scene->mail.started, mails);
	assert_int_equal(scene->http.started, posts);
}

static bool is_remembered(const struct scene *scene)
{
	char path[200];
	struct stat found;
	FOLDER_PATH(path, scene->folder, "broker-away.json");
	return stat(path, &found) == 0;
}

static void a_broker_that_is_away_is_told_once_on_each_way_and_once_that_it_is_back(void **state)
{
	struct scene scene;
	(void)state;
	set_scene(&scene);
	later(&scene, US_PER_HOUR, RUNTIME_READY);
	later(&scene, 0, RUNTIME_AWAY);
	later(&scene, US_PER_MINUTE - 1, RUNTIME_AWAY);
	later(&scene, 0, RUNTIME_READY); /* a restart is no alarm */
	later(&scene, 0, RUNTIME_AWAY);
	later(&scene, US_PER_MINUTE - 1, RUNTIME_AWAY);
	assert_started(&scene, 0, 0);
	later(&scene, 1, RUNTIME_AWAY);
	assert_started(&scene, 1, 1);
	assert_non_null(strstr(scene.mail.text, "connection refused"));
	assert_non_null(strstr(scene.http.text, "\"alarm.raised\""));
	mail_ends(&scene, MAIL_SENT);
	post_ends(&scene, 200);
	later(&scene, US_PER_HOUR, RUNTIME_AWAY);
	killed_and_started_again(&scene);
	later(&scene, US_PER_HOUR, RUNTIME_AWAY);
	assert_started(&scene, 1, 1);
	later(&scene, 0, RUNTIME_CATCHING_UP);
	assert_started(&scene, 1, 1);
	later(&scene, 0, RUNTIME_READY);
	assert_started(&scene, 2, 2);
	assert_non_null(strstr(scene.mail.id, ".over@"));
	assert_non_null(strstr(scene.http.text, "\"alarm.over\""));
	mail_ends(&scene, MAIL_SENT);
	post_ends(&scene, 204);
	assert_false(is_remembered(&scene));
	later(&scene, US_PER_DAY, RUNTIME_READY);
	assert_started(&scene, 2, 2);
	end(&scene);
}

static void a_notice_is_owed_until_it_has_arrived_and_keeps_its_id(void **state)
{
	struct scene scene;
	char id[200];
	(void)state;
	set_scene(&scene);
	later(&scene, 0, RUNTIME_AWAY);
	later(&scene, US_PER_MINUTE, RUNTIME_AWAY);
	TEXT_COPY(id, scene.mail.id);
	mail_ends(&scene, MAIL_NOT_SENT);
	post_ends(&scene, 200);
	later(&scene, 9 * US_PER_S, RUNTIME_AWAY);
	assert_started(&scene, 1, 1);
	later(&scene, US_PER_S, RUNTIME_AWAY);
	assert_started(&scene, 2, 1);
	killed_and_started_again(&scene); /* while it is on its way */
	assert_int_equal(scene.mail.stopped, 1);
	later(&scene, 0, RUNTIME_AWAY);
	assert_started(&scene, 3, 1);
	assert_string_equal(scene.mail.id, id);
	later(&scene, 30 * US_PER_MINUTE, RUNTIME_AWAY); /* no answer at all */
	assert_int_equal(scene.mail.stopped, 2);
	later(&scene, 0, RUNTIME_READY); /* what was not told yet is told before that it is over */
	post_ends(&scene, 200);
	later(&scene, US_PER_HOUR, RUNTIME_READY);
	assert_string_equal(scene.mail.id, id);
	mail_ends(&scene, MAIL_REFUSED); /* not even that is a reason to be silent */
	later(&scene, US_PER_HOUR, RUNTIME_READY);
	assert_string_equal(scene.mail.id, id);
	mail_ends(&scene, MAIL_SENT);
	later(&scene, 0, RUNTIME_READY);
	assert_non_null(strstr(scene.mail.id, ".over@"));
	mail_ends(&scene, MAIL_SENT);
	assert_int_equal(scene.http.started, 2);
	assert_false(is_remembered(&scene));
	end(&scene);
}

static void told_and_back_but_for_the_mail(struct scene *scene)
{
	set_scene(scene);
	later(scene, 0, RUNTIME_AWAY);
	later(scene, US_PER_MINUTE, RUNTIME_AWAY);
	mail_ends(scene, MAIL_SENT);
	post_ends(scene, 200);
	later(scene, 0, RUNTIME_READY);
	mail_ends(scene, MAIL_NOT_SENT);
	post_ends(scene, 200);
	later(scene, 0, RUNTIME_AWAY);
	scene->mail.started = scene->http.started = 0;
}

static void one_that_goes_again_before_its_return_was_told_is_the_same_episode(void **state)
{
	struct scene scene;
	(void)state;
	told_and_back_but_for_the_mail(&scene);
	later(&scene, 2 * US_PER_MINUTE, RUNTIME_AWAY);
	assert_started(&scene, 0, 1); /* by mail it was never back */
	post_ends(&scene, 200);
	later(&scene, 0, RUNTIME_READY);
	assert_non_null(strstr(scene.mail.id, ".over@"));
	assert_non_null(strstr(scene.http.text, "\"alarm.over\""));
	mail_ends(&scene, MAIL_SENT);
	post_ends(&scene, 200);
	assert_false(is_remembered(&scene));
	end(&scene);
}

static void a_return_that_is_on_its_way_when_it_goes_again_is_told_first(void **state)
{
	struct scene scene;
	(void)state;
	told_and_back_but_for_the_mail(&scene);
	later(&scene, 10 * US_PER_S, RUNTIME_AWAY);
	assert_non_null(strstr(scene.mail.id, ".over@"));
	later(&scene, US_PER_MINUTE, RUNTIME_AWAY);
	assert_started(&scene, 1, 1);
	mail_ends(&scene, MAIL_SENT);
	later(&scene, 0, RUNTIME_AWAY);
	assert_started(&scene, 2, 1);
	assert_null(strstr(scene.mail.id, ".over@"));
	mail_ends(&scene, MAIL_SENT);
	later(&scene, US_PER_DAY, RUNTIME_AWAY); /* the post was never answered: once more */
	later(&scene, 10 * US_PER_S, RUNTIME_AWAY);
	assert_started(&scene, 2, 2);
	end(&scene);
}

static void a_memory_that_cannot_be_read_is_none(void **state)
{
	struct scene scene;
	char path[200];
	(void)state;
	set_scene(&scene);
	FOLDER_PATH(path, scene.folder, "broker-away.json");
	for (const char *const *text = (const char *const[]){ "", "{", "[]", "{\"owed\":[]}", NULL }; *text; text++) {
		assert_int_equal(file_write_durably(path, bytes_of(*text), 0640), 0);
		killed_and_started_again(&scene);
		later(&scene, 0, RUNTIME_READY);
		assert_started(&scene, 0, 0);
	}
	end(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_failure_counts_once_however_often_the_monitor_or_the_broker_is_started),
		cmocka_unit_test(a_way_that_refuses_or_is_silent_is_told_until_something_arrives),
		cmocka_unit_test(a_broker_that_is_away_is_told_once_on_each_way_and_once_that_it_is_back),
		cmocka_unit_test(a_notice_is_owed_until_it_has_arrived_and_keeps_its_id),
		cmocka_unit_test(one_that_goes_again_before_its_return_was_told_is_the_same_episode),
		cmocka_unit_test(a_return_that_is_on_its_way_when_it_goes_again_is_told_first),
		cmocka_unit_test(a_memory_that_cannot_be_read_is_none),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
