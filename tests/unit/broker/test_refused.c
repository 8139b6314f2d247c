/* bad input is refused, counted, and told with who sent it; and the bus goes on */
#include "bus/base/text.h"
#include "bus/broker/broker.h"
#include "desk.h"
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

/* What is told goes to standard error: it is caught while something is done. */
struct caught {
	int before, file;
	char text[16384];
};

static void catch_words(struct caught *caught)
{
	char path[] = "/tmp/cartbus-refused-XXXXXX";

	caught->before = dup(STDERR_FILENO);
	caught->file = mkstemp(path);
	assert_true(caught->before >= 0 && caught->file >= 0);
	unlink(path);
	dup2(caught->file, STDERR_FILENO);
}

static void let_go(struct caught *caught)
{
	ssize_t len;

	dup2(caught->before, STDERR_FILENO);
	close(caught->before);
	len = pread(caught->file, caught->text, sizeof(caught->text) - 1, 0);
	assert_true(len >= 0);
	caught->text[len] = '\0';
	close(caught->file);
}

static int count_lines(const char *text, const char *with)
{
	int count = 0;

	while ((text = strstr(text, with))) {
		count++;
		text++;
	}
	return count;
}

struct scene {
	struct desk *desk;
	struct peer *talker, *worker, *thief, *good;
	Receipt receipt;
};

static struct scene set_scene(void)
{
	struct scene scene = { .desk = desk_open() };

	scene.talker = peer_new(scene.desk, "talker", "t");
	scene.worker = peer_new(scene.desk, "worker", "w");
	scene.thief = peer_new(scene.desk, "worker", "thief");
	scene.good = peer_new(scene.desk, "talker", "good");
	TEXT_COPY(scene.thief->who, "uid:666");
	peer_hello(scene.talker, "run", 0);
	peer_hello(scene.worker, "run", 0);
	SAID(scene.talker, .topic = "work", .key = "a");
	scene.receipt = peer_delivery(scene.worker)->down.what.delivery.receipt;
	peer_hello(scene.thief, "run", 0);
	peer_hello(scene.good, "run", 0);
	return scene;
}

static void push_frame(struct scene *scene, uint64_t epoch, uint64_t number, const Up *up, struct bytes body)
{
	struct frame_writer writer = { 0 };
	struct buffer frame = { 0 };

	if (up)
		frame_add(&writer, Up_fields, up, body);
	frame_finish(&writer, epoch, number, &frame);
	broker_hear_frame(scene->desk->broker, scene->thief->who, buffer_bytes(&frame));
	buffer_free(&frame);
	frame_writer_free(&writer);
	desk_work(scene->desk);
}

static void garbage(struct scene *scene)
{
	broker_hear_frame(scene->desk->broker, scene->thief->who, bytes_of("GET / HTTP/1.1"));
}

static void several_parts(struct scene *scene) /* as the hub hands them over */
{
	broker_hear_frame(scene->desk->broker, scene->thief->who, BYTES(NULL, 0));
}

static void too_large(struct scene *scene)
{
	uint8_t *frame = calloc(1, FRAME_BYTES_MAX + 1);

	broker_hear_frame(scene->desk->broker, scene->thief->who, BYTES(frame, FRAME_BYTES_MAX + 1));
	free(frame);
}

static void nobodys_epoch(struct scene *scene)
{
	push_frame(scene, 12345, 1, NULL, BYTES(NULL, 0));
}

static void anothers_epoch(struct scene *scene)
{
	push_frame(scene, scene->talker->epoch, scene->talker->number + 1, NULL, BYTES(NULL, 0));
}

static void number_used_again(struct scene *scene)
{
	Up up = { .which_what = Up_publish_tag };
	struct buffer message = { 0 };

	words_write(&(struct words){ .topic = "fact", .text = "another" }, &message);
	push_frame(scene, scene->thief->epoch, scene->thief->number, &up, buffer_bytes(&message));
	buffer_free(&message);
}

static void number_left_out(struct scene *scene)
{
	push_frame(scene, scene->thief->epoch, scene->thief->number + 2, NULL, BYTES(NULL, 0));
}

static void item_of_another_version(struct scene *scene)
{
	Up up = { .which_what = 0 }; /* what a tag that is not known is read as */

	push_frame(scene, scene->thief->epoch, scene->thief->number + 1, &up, BYTES(NULL, 0));
}

static void verdict_of_another_version(struct scene *scene)
{
	Up up = { .which_what = Up_turn_tag };

	up.what.turn.verdict = (VerdictKind)7;
	push_frame(scene, scene->thief->epoch, scene->thief->number + 1, &up, BYTES(NULL, 0));
}

static void say(struct scene *scene, const struct words *words)
{
	Confirm confirm = peer_said(scene->thief, words);

	assert_int_equal(confirm.kind, CONFIRM_REFUSED);
	assert_true(confirm.reason[0] != '\0');
}

static void garbled_message(struct scene *scene)
{
	Up up = { .which_what = Up_publish_tag };

	push_frame(scene, scene->thief->epoch, ++scene->thief->number, &up, bytes_of("\xff\xff?"));
}

static void unknown_topic(struct scene *scene)
{
	say(scene, &(struct words){ .topic = "no.such" });
}

static void anothers_topic(struct scene *scene)
{
	say(scene, &(struct words){ .topic = "diary" });
}

static void claim_said_as_none(struct scene *scene)
{
	say(scene, &(struct words){ .topic = "claim", .idem = "c" });
}

static void claim_of_what_is_none(struct scene *scene)
{
	say(scene, &(struct words){ .topic = "fact", .idem = "c", .claim = true });
}

static void turn(struct scene *scene, const Receipt *receipt)
{
	const struct words fact = { .topic = "fact" };

	assert_int_equal(TURN(scene->thief, receipt, .facts = &fact, .fact_count = 1).kind, CONFIRM_REFUSED);
}

static void anothers_receipt(struct scene *scene)
{
	turn(scene, &scene->receipt);
}

static void forged_receipt(struct scene *scene)
{
	Receipt receipt = scene->receipt;

	receipt.epoch = scene->thief->epoch;
	turn(scene, &receipt);
}

static void receipt_of_nothing(struct scene *scene)
{
	turn(scene, &(Receipt){ .queue = "worker", .seq = 999, .attempt = 1, .epoch = scene->thief->epoch });
}

static void turn_on_the_clock(struct scene *scene)
{
	turn(scene, &(Receipt){ .queue = "worker" });
}

static void renewal_of_anothers(struct scene *scene)
{
	Up up = { .which_what = Up_renew_tag };

	TEXT_COPY(up.what.renew.queue, "worker");
	up.what.renew.seq = scene->receipt.seq;
	push_frame(scene, scene->thief->epoch, ++scene->thief->number, &up, BYTES(NULL, 0));
}

static void renewal_elsewhere(struct scene *scene)
{
	Up up = { .which_what = Up_renew_tag };

	TEXT_COPY(up.what.renew.queue, "single");
	up.what.renew.seq = 1;
	push_frame(scene, scene->thief->epoch, ++scene->thief->number, &up, BYTES(NULL, 0));
}

static void garbled_control(struct scene *scene)
{
	broker_hear_control(scene->desk->broker, bytes_of("r"), scene->thief->who, bytes_of("\x0a\xff\xff"));
}

static void control_of_another_version(struct scene *scene)
{
	broker_hear_control(scene->desk->broker, bytes_of("r"), scene->thief->who, bytes_of("\xf2\x03\x01x"));
}

static void what_only_a_broker_says(struct scene *scene)
{
	Control control = { .which_what = Control_welcome_tag };

	peer_control(scene->thief, &control);
}

static void unknown_service(struct scene *scene)
{
	Control control = { .which_what = Control_hello_tag };

	TEXT_COPY(control.what.hello.service, "stranger");
	TEXT_COPY(control.what.hello.instance, "s");
	peer_control(scene->thief, &control);
}

static void forged_heartbeat(struct scene *scene)
{
	Control control = { .which_what = Control_heartbeat_tag };

	control.what.heartbeat.epoch = scene->talker->epoch;
	control.what.heartbeat.goodbye = true;
	peer_control(scene->thief, &control);
}

static void question_of_no_operator(struct scene *scene)
{
	assert_null(peer_ask(scene->thief, "status", ""));
}

static const struct attack {
	void (*attack)(struct scene *scene);
	const char *counted, *told;
} attacks[] = {
	{ garbage, "frame", "no frame" },
	{ several_parts, "frame", "in several parts" },
	{ too_large, "frame", "no frame" },
	{ nobodys_epoch, "epoch", "it names no live session" },
	{ anothers_epoch, "epoch", "a session of t, which came otherwise" },
	{ number_used_again, "number", "is next" },
	{ number_left_out, "number", "is next" },
	{ item_of_another_version, "item", "garbled, or of a kind" },
	{ verdict_of_another_version, "item", "garbled, or of a kind" },
	{ garbled_message, "message", "the envelope does not add up" },
	{ unknown_topic, "topic", "topic no.such is not declared" },
	{ anothers_topic, "right", "worker has no right to say diary" },
	{ claim_said_as_none, "message", "claim is a claim, and this was said as none" },
	{ claim_of_what_is_none, "message", "fact is no claim, and this was said as one" },
	{ anothers_receipt, "receipt", "stale receipt: message 1 of queue worker" },
	{ forged_receipt, "receipt", "stale receipt: message 1 of queue worker" },
	{ receipt_of_nothing, "receipt", "stale receipt: message 999" },
	{ turn_on_the_clock, "right", "is not exclusive" },
	{ renewal_of_anothers, "receipt", "is not leased to this session" },
	{ renewal_elsewhere, "receipt", "which is not its own" },
	{ garbled_control, "control", "none that this version knows" },
	{ control_of_another_version, "control", "none that a peer says" },
	{ what_only_a_broker_says, "control", "none that a peer says" },
	{ unknown_service, "hello", "no peer \"stranger\" is declared" },
	{ forged_heartbeat, "epoch", "a heartbeat names the session of t" },
	{ question_of_no_operator, "question", "only a peer that is declared" },
};

static void check(const struct attack *attack)
{
	struct scene scene = set_scene();
	struct caught *caught = calloc(1, sizeof(*caught));
	uint64_t head = broker_head(scene.desk->broker), before = status_refused(scene.desk, attack->counted);

	catch_words(caught);
	attack->attack(&scene);
	desk_work(scene.desk);
	let_go(caught);
	assert_int_equal(status_refused(scene.desk, attack->counted), before + 1);
	if (!strstr(caught->text, attack->told) || !strstr(caught->text, " of uid:666"))
		fail_msg("\"%s\" of uid:666 was not told, but: %s", attack->told, caught->text);
	assert_int_equal(broker_head(scene.desk->broker), head);
	assert_int_equal(SAID(scene.good, .topic = "fact").kind, CONFIRM_FRESH);
	assert_int_equal(TURN(scene.worker, &scene.receipt, .kind = VERDICT_DONE).kind, CONFIRM_FRESH);
	assert_int_equal(SAID(scene.talker, .topic = "fact").kind, CONFIRM_FRESH);
	free(caught);
	desk_close(scene.desk);
}

static void each_is_refused_counted_and_told_and_the_bus_goes_on(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(attacks) / sizeof(attacks[0]); i++)
		check(&attacks[i]);
}

static void whoever_sends_garbage_without_end_fills_no_journal_and_hides_nobody(void **state)
{
	struct desk *desk = desk_open();
	struct caught *caught = calloc(1, sizeof(*caught));
	char who[24];

	(void)state;
	catch_words(caught);
	for (int i = 0; i < 1000; i++)
		broker_hear_frame(desk->broker, "uid:1", bytes_of("?"));
	broker_hear_frame(desk->broker, "uid:2", bytes_of("?"));
	desk_pass_silent(desk, 9 * US_PER_S);
	broker_hear_frame(desk->broker, "uid:1", bytes_of("?"));
	desk_pass_silent(desk, 2 * US_PER_S);
	for (int i = 0; i < 100; i++) {
		snprintf(who, sizeof(who), "uid:%d", 100 + i);
		broker_hear_frame(desk->broker, who, bytes_of("?"));
	}
	let_go(caught);
	assert_int_equal(status_refused(desk, "frame"), 1102);
	assert_int_equal(count_lines(caught->text, "refused a frame of uid:1, number 1 of"), 1);
	assert_int_equal(count_lines(caught->text, "refused a frame of uid:2, number 1001 of"), 1);
	assert_int_equal(count_lines(caught->text, "refused a frame of uid:1, "), 1);
	assert_int_equal(count_lines(caught->text, "refused a frame of uid:1"), 1 + 8); /* 100 and seven more */
	assert_int_equal(count_lines(caught->text, "refused"), 2 + 8);
	free(caught);
	desk_close(desk);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_is_refused_counted_and_told_and_the_bus_goes_on),
		cmocka_unit_test(whoever_sends_garbage_without_end_fills_no_journal_and_hides_nobody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
