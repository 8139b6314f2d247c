/* large messages: one of 256 KB, and one as large as a message can be, go every way that a message goes */
#include "bus/base/file.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "bus/broker/core.h"
#include "bus/broker/log/sidelog.h"
#include "bus/broker/queue/queue.h"
#include "bus/broker/verify/verify.h"
#include "bus/wire/sidelog_file.h"
#include "desk.h"
#include "tests/unit/cmocka_all.h"
#include "tests/unit/folder.h"
#include <stdlib.h>

static const char topology[] = "[topic large]\nretention = fact\nsidelog = yes\n"
			       "[peer talker]\nsays = large\n"
			       "[peer worker]\nhears = large\nremembers = large\n";

struct scene {
	struct folder folder;
	struct desk *desk;
	struct peer *talker, *worker;
};

static void start(struct scene *scene, const char *run)
{
	desk_crash(scene->desk);
	if (desk_start(scene->desk, topology) < 0)
		fail_msg("%s", scene->desk->why);
	peer_hello(scene->talker, run, 0);
	peer_hello(scene->worker, run, 0);
}

static void open_scene(struct scene *scene)
{
	*scene = (struct scene){ .folder = folder_new(), .desk = desk_open_disk() };
	scene->desk->settings.sidelog = scene->folder.path; /* borrowed */
	scene->talker = peer_new(scene->desk, "talker", "t");
	scene->worker = peer_new(scene->desk, "worker", "w");
	start(scene, "first");
}

static void close_scene(struct scene *scene)
{
	desk_close(scene->desk);
	folder_remove(&scene->folder);
}

/* A text with which the whole message has so many bytes. */
static char *text_for(size_t message_bytes)
{
	struct buffer message = { 0 };
	char *text;
	size_t len;

	words_write(&(struct words){ .topic = "large", .text = "" }, &message);
	len = message_bytes - message.len;
	buffer_free(&message);
	text = memory_new(len + 1);
	memset(text, 'x', len);
	return text;
}

static void assert_is_of(const char *what, const struct item *item, const char *text)
{
	struct bytes payload;
	Envelope envelope;

	if (!item)
		fail_msg("%s did not come", what);
	assert_int_equal(message_read(buffer_bytes(&item->body), &envelope, &payload), 0);
	assert_true(bytes_equal(payload, bytes_of(text)));
}

static void assert_sound(const struct scene *scene)
{
	struct verify *verify = memory_new(sizeof(*verify));
	struct sidelog_read reading;
	struct buffer file = { 0 };
	char path[300], words[512] = "";

	verify->store = scene->desk->store;
	verify->topology = &scene->desk->topology;
	verify->idem_window_us = scene->desk->settings.idem_window_us;
	verify->now_us = clock_wall_us(&scene->desk->clock);
	assert_int_equal(verify_log(verify), 0);
	assert_int_equal(verify->problem_count, 0);
	if (!verify_sidelog(verify, scene->folder.path, words))
		fail_msg("%s", words);
	verify_free(verify);
	free(verify);
	snprintf(path, sizeof(path), "%s/" SIDELOG_FILE, scene->folder.path);
	assert_int_equal(file_read(path, SIDELOG_MOST, &file), 0);
	assert_int_equal(sidelog_read(buffer_bytes(&file), NULL, NULL, &reading), 0);
	assert_int_equal(reading.damages, 0);
	assert_false(reading.is_torn);
	assert_int_equal(reading.count, 2);
	buffer_free(&file);
}

static void goes_every_way(size_t bytes)
{
	char *text = text_for(bytes);
	struct scene scene;
	struct item *item;
	uint64_t tapped;

	open_scene(&scene);
	tapped = scene.desk->tapped;
	assert_int_equal(SAID(scene.talker, .topic = "large", .text = text).kind, CONFIRM_FRESH);
	assert_int_equal(SAID(scene.talker, .topic = "large", .key = "small").kind, CONFIRM_FRESH);
	assert_int_equal(scene.desk->tapped - tapped, 2);
	assert_is_of("the first projection", peer_projection(scene.worker), text);
	assert_is_of("the first delivery", peer_delivery(scene.worker), text);
	assert_sound(&scene);
	start(&scene, "second");
	desk_pass(scene.desk, scene.desk->settings.grace_us);
	assert_sound(&scene);
	assert_is_of("the projection of the second session", peer_projection(scene.worker), text);
	item = peer_delivery(scene.worker);
	assert_is_of("the delivery of the second session", item, text);
	TURN(scene.worker, &item->down.what.delivery.receipt, .kind = VERDICT_DEAD, .reason = "too large for it");
	start(&scene, "third");
	assert_sound(&scene);
	assert_true(dead_redrive(scene.desk->broker, scene.desk->broker->queues[1], 1));
	desk_pass(scene.desk, scene.desk->settings.grace_us);
	item = peer_delivery(scene.worker);
	while (item && item->down.what.delivery.receipt.seq != 1)
		item = peer_delivery(scene.worker);
	assert_is_of("the redriven delivery", item, text);
	free(text);
	close_scene(&scene);
}

static void a_message_of_256_kb_goes_every_way(void **state)
{
	(void)state;
	goes_every_way(256 << 10);
}

static void a_message_as_large_as_one_can_be_goes_every_way(void **state)
{
	(void)state;
	goes_every_way(MESSAGE_BYTES_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_message_of_256_kb_goes_every_way),
		cmocka_unit_test(a_message_as_large_as_one_can_be_goes_every_way),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
