/*
 * desk.c: a broker on the desk; see desk.h
 */
#include "desk.h"
#include "bus/base/cleanup.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "bus/broker/verify/verify.h"
#include "tests/unit/folder.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

const char desk_topology[] =
	"[topic raw]\nretention = raw\n"
	"[topic work]\nretention = fact\n"
	"[topic fact]\nretention = fact\n"
	"[topic row]\nretention = fact\ngroup = row\n"
	"[topic row.end]\nretention = fact\ngroup = row\n"
	"[topic claim]\nretention = claim\n"
	"[topic lonely]\nretention = raw\n"
	"[topic diary]\nretention = keep\n"
	"[peer door]\ngateway = yes\nsays = raw\nsays = work\nsays = lonely\n"
	"[peer worker]\nhears = raw\nhears = work\nremembers = fact\nsays = fact\nsays = claim\n"
	"lease = 10s\n[peer single]\nexclusive = yes\nhears = fact\nremembers = row\nremembers = row.end\n"
	"says = row\nsays = row.end\n"
	"[peer reader]\nremembers = raw\nremembers = work\nremembers = fact\nremembers = row\n"
	"remembers = row.end\nremembers = claim\nremembers = dead.letter\n"
	"[peer talker]\nsays = diary\nsays = raw\nsays = work\nsays = fact\nsays = row\nsays = row.end\nsays = claim\n"
	"[peer half]\nremembers = row\n"
	"[peer admin]\noperator = yes\n";

static struct peer *peer_of_epoch(struct desk *desk, uint64_t epoch)
{
	for (int i = 0; i < desk->peer_count; i++)
		if (desk->peers[i]->epoch == epoch)
			return desk->peers[i];
	return NULL;
}

static int open_mailbox(void *context, uint64_t epoch, const char *who, char ret_endpoint[160])
{
	(void)context;
	(void)who;
	snprintf(ret_endpoint, 160, "desk://%llu", (unsigned long long)epoch);
	return 0;
}

static void close_mailbox(void *context, uint64_t epoch)
{
	struct peer *peer = peer_of_epoch(context, epoch);

	if (peer)
		peer->mailbox_open = false;
}

static void put_on_tray(struct peer *peer, const Down *down, struct bytes body)
{
	struct item *item = calloc(1, sizeof(*item));
	struct bytes payload;

	assert_true(peer->count < TRAY_MAX);
	item->down = *down;
	buffer_add(&item->body, body.data, body.len);
	if (body.len > 0)
		assert_int_equal(message_read(body, &item->envelope, &payload), 0);
	peer->tray[peer->count++] = item;
}

static int push(void *context, uint64_t epoch, struct bytes frame)
{
	struct peer *peer = peer_of_epoch(context, epoch);
	struct frame_reader reader;
	struct bytes body;
	Down down;

	if (!peer || peer->deaf)
		return -EAGAIN;
	assert_int_equal(frame_open(frame, &reader), 0);
	assert_int_equal(reader.head.number, ++peer->down_number);
	while (frame_next(&reader, Down_fields, &down, &body) == 0)
		put_on_tray(peer, &down, body);
	return 0;
}

static void hear_welcome(struct peer *peer, const Welcome *welcome)
{
	peer->rebuild = welcome->rebuild;
	peer->standby = !welcome->active && !welcome->rebuild;
	peer->head = welcome->head;
	peer->opening = welcome->opening;
	if (!welcome->active)
		return;
	peer->welcomed = true;
	peer->epoch = welcome->epoch;
	peer->mailbox_open = true;
	peer->number = peer->down_number = peer->pings = 0;
	peer->credit = (UpCredit){ 0 };
}

static void hear_answer(struct peer *peer, const Answer *answer)
{
	buffer_add_text(&peer->answer, answer->text);
	peer->answer_ok = answer->ok;
	peer->answered = !answer->more;
}

static void control(void *context, struct bytes routing, struct bytes message)
{
	struct desk *desk = context;
	Control *heard = calloc(1, sizeof(*heard));
	struct peer *peer = NULL;

	assert_int_equal(control_decode(message, heard), 0);
	for (int i = 0; i < desk->peer_count; i++)
		if (bytes_equal(routing, bytes_of(desk->peers[i]->routing)))
			peer = desk->peers[i];
	assert_non_null(peer);
	if (heard->which_what == Control_welcome_tag) {
		hear_welcome(peer, &heard->what.welcome);
	} else if (heard->which_what == Control_refusal_tag) {
		peer->refused = true;
		peer->refused_final = heard->what.refusal.final;
		TEXT_COPY(peer->reason, heard->what.refusal.reason);
	} else if (heard->which_what == Control_heartbeat_answer_tag) {
		peer->lost = heard->what.heartbeat_answer.lost;
		peer->pings = heard->what.heartbeat_answer.ping;
	} else if (heard->which_what == Control_answer_tag) {
		hear_answer(peer, &heard->what.answer);
	}
	free(heard);
}

static void tap(void *context, const char *topic, const char *shop, struct bytes tapped, struct bytes message,
	struct bytes masked)
{
	struct desk *desk = context;

	(void)topic;
	(void)shop;
	(void)masked;
	(void)tapped;
	(void)message;
	desk->tapped++;
}

/* DESK_FAR: so many topics, and a fifth as many peers, are declared before the test's own, which get the higher numbers. */
static void add_fillers(struct buffer *ret)
{
	const char *far = getenv("DESK_FAR");
	int count = far ? atoi(far) : 0;

	for (int i = 0; i < count; i++)
		buffer_printf(ret, "[topic filler.%d]\nretention = fact\n", i);
	for (int i = 0; i < count / 5; i++)
		buffer_printf(ret, "[peer filler-%d]\n", i);
}

int desk_start(struct desk *desk, const char *topology)
{
	struct broker_out out = { .context = desk,
		.open_mailbox = open_mailbox,
		.close_mailbox = close_mailbox,
		.push = push,
		.control = control,
		.tap = tap };
	_cleanup_(buffer_free) struct buffer text = { 0 };
	struct config_error error;
	struct store *store;

	add_fillers(&text);
	buffer_add_text(&text, topology);
	topology_free(&desk->topology);
	if (topology_parse(buffer_text(&text), "topology", &desk->topology, &error) < 0)
		fail_msg("%s", error.text);
	if (desk->path[0])
		assert_int_equal(store_open(desk->path, &broker_store_options, &store, desk->why), 0);
	else
		assert_int_equal(store_open_memory(&broker_store_options, &store), 0);
	desk->store = store;
	return broker_open(&store, &desk->topology, &desk->settings, &desk->clock, &out, &desk->broker, desk->why);
}

static struct desk *open_desk(const char *path)
{
	struct desk *desk = calloc(1, sizeof(*desk));

	TEXT_COPY(desk->path, path);
	desk->clock = clock_virtual(INT64_C(1700000000) * US_PER_S);
	desk->settings = broker_settings_default;
	assert_int_equal(desk_start(desk, desk_topology), 0);
	return desk;
}

struct desk *desk_open(void)
{
	return open_desk("");
}

struct desk *desk_open_disk(void)
{
	char path[] = "/tmp/broker-desk-XXXXXX";

	folder_make(path);
	return open_desk(path);
}

static void clear_tray(struct peer *peer)
{
	for (int i = 0; i < peer->count; i++) {
		if (!peer->tray[i])
			continue;
		buffer_free(&peer->tray[i]->body);
		free(peer->tray[i]);
	}
	peer->count = peer->taken = 0;
}

void desk_crash(struct desk *desk)
{
	for (int i = 0; i < desk->peer_count; i++) {
		clear_tray(desk->peers[i]);
		desk->peers[i]->epoch = 0;
		desk->peers[i]->welcomed = false;
	}
	broker_close(desk->broker);
	desk->broker = NULL;
}

void desk_close(struct desk *desk)
{
	char command[128];

	desk_crash(desk);
	topology_free(&desk->topology);
	for (int i = 0; i < desk->peer_count; i++) {
		buffer_free(&desk->peers[i]->answer);
		free(desk->peers[i]);
	}
	if (desk->path[0]) {
		snprintf(command, sizeof(command), "rm -rf '%s'", desk->path);
		assert_int_equal(system(command), 0);
	}
	free(desk);
}

void desk_work(struct desk *desk)
{
	for (int i = 0; i < 1000; i++) {
		desk->commit_result = broker_commit(desk->broker);
		if (desk->commit_result < 0 || broker_tick(desk->broker) > 0)
			return;
	}
	fail_msg("the broker never comes to rest");
}

static void pass(struct desk *desk, int64_t us, bool heartbeats)
{
	int64_t end_us = desk->clock.virtual_us + us;

	while (desk->clock.virtual_us < end_us) {
		int64_t left_us = end_us - desk->clock.virtual_us;

		desk->clock.virtual_us += left_us < desk->settings.heartbeat_us ? left_us : desk->settings.heartbeat_us;
		for (int i = 0; heartbeats && i < desk->peer_count; i++)
			if (desk->peers[i]->mailbox_open)
				peer_heartbeat(desk->peers[i], 0);
		desk_work(desk);
	}
}

void desk_pass(struct desk *desk, int64_t us)
{
	pass(desk, us, true);
}

void desk_pass_silent(struct desk *desk, int64_t us)
{
	pass(desk, us, false);
}

struct peer *peer_new(struct desk *desk, const char *service, const char *instance)
{
	struct peer *peer = calloc(1, sizeof(*peer));

	peer->desk = desk;
	TEXT_COPY(peer->service, service);
	TEXT_COPY(peer->instance, instance);
	TEXT_COPY(peer->who, "uid:1000");
	snprintf(peer->routing, sizeof(peer->routing), "r%d", desk->peer_count);
	desk->peers[desk->peer_count++] = peer;
	return peer;
}

void peer_control(struct peer *peer, const Control *said)
{
	_cleanup_(buffer_free) struct buffer message = { 0 };

	assert_int_equal(control_encode(said, &message), 0);
	broker_hear_control(peer->desk->broker, bytes_of(peer->routing), peer->who, buffer_bytes(&message));
}

void peer_say_hello(struct peer *peer, const Hello *hello)
{
	Control *said = calloc(1, sizeof(*said));

	said->which_what = Control_hello_tag;
	said->what.hello = *hello;
	TEXT_COPY(said->what.hello.service, peer->service);
	TEXT_COPY(said->what.hello.instance, peer->instance);
	peer->refused = peer->standby = false;
	clear_tray(peer);
	peer_control(peer, said);
	desk_work(peer->desk);
	free(said);
}

void peer_hello(struct peer *peer, const char *run, uint64_t cursor)
{
	Hello *hello = calloc(1, sizeof(*hello));

	TEXT_COPY(hello->run, run);
	hello->cursor = cursor;
	peer_say_hello(peer, hello);
	free(hello);
	if (peer->mailbox_open)
		peer_credit(peer, 1000, 100000);
	desk_work(peer->desk);
}

void peer_push(struct peer *peer, struct frame_writer *writer)
{
	_cleanup_(buffer_free) struct buffer frame = { 0 };

	frame_finish(writer, peer->epoch, ++peer->number, &frame);
	broker_hear_frame(peer->desk->broker, peer->who, buffer_bytes(&frame));
	frame_writer_free(writer);
}

void peer_credit(struct peer *peer, uint64_t deliveries, uint64_t projections)
{
	struct frame_writer writer = { 0 };
	Up up = { .which_what = Up_credit_tag };

	peer->credit.delivery_messages += deliveries;
	peer->credit.projection_messages += projections;
	peer->credit.delivery_bytes = peer->credit.projection_bytes = UINT64_C(1) << 40;
	up.what.credit = peer->credit;
	frame_add(&writer, Up_fields, &up, BYTES(NULL, 0));
	peer_push(peer, &writer);
}

void peer_heartbeat(struct peer *peer, uint64_t spooled)
{
	Control said = { .which_what = Control_heartbeat_tag };

	said.what.heartbeat.epoch = peer->epoch;
	said.what.heartbeat.spooled = spooled;
	said.what.heartbeat.echo = peer->pings;
	said.what.heartbeat.received = peer->down_number;
	peer_control(peer, &said);
}

void peer_goodbye(struct peer *peer)
{
	Control said = { .which_what = Control_heartbeat_tag };

	said.what.heartbeat.epoch = peer->epoch;
	said.what.heartbeat.goodbye = true;
	peer_control(peer, &said);
}

void words_write(const struct words *words, struct buffer *ret)
{
	Envelope envelope = { .version = words->version, .tombstone = words->tombstone, .claim = words->claim };
	const char *text = words->text ? words->text : "text";

	TEXT_COPY(envelope.topic, words->topic);
	TEXT_COPY(envelope.shop, words->shop ? words->shop : "s");
	TEXT_COPY(envelope.key, words->key ? words->key : "k");
	TEXT_COPY(envelope.idem, words->idem ? words->idem : "");
	assert_int_equal(message_write(&envelope, bytes_of(text), ret), 0);
}

uint64_t peer_publish(struct peer *peer, const struct words *words)
{
	_cleanup_(buffer_free) struct buffer message = { 0 };
	struct frame_writer writer = { 0 };
	Up up = { .which_what = Up_publish_tag };

	up.what.publish.request = ++peer->requests;
	words_write(words, &message);
	frame_add(&writer, Up_fields, &up, buffer_bytes(&message));
	peer_push(peer, &writer);
	return peer->requests;
}

Confirm peer_said(struct peer *peer, const struct words *words)
{
	uint64_t request = peer_publish(peer, words);
	Confirm confirm;

	desk_work(peer->desk);
	assert_true(peer_confirm(peer, request, &confirm));
	return confirm;
}

static void add_fact(struct frame_writer *writer, uint32_t index, const struct words *words)
{
	_cleanup_(buffer_free) struct buffer message = { 0 };
	Up up = { .which_what = Up_fact_tag };

	up.what.fact.index = index;
	words_write(words, &message);
	frame_add(writer, Up_fields, &up, buffer_bytes(&message));
}

uint64_t peer_turn(struct peer *peer, const Receipt *receipt, const struct verdict_words *how)
{
	struct frame_writer writer = { 0 };
	Up up = { .which_what = Up_turn_tag };

	up.what.turn.request = ++peer->requests;
	up.what.turn.has_receipt = receipt != NULL;
	if (receipt)
		up.what.turn.receipt = *receipt;
	up.what.turn.verdict = how->kind;
	up.what.turn.failed = how->failed;
	up.what.turn.delay_us = how->delay_us;
	TEXT_COPY(up.what.turn.reason, how->reason ? how->reason : "");
	up.what.turn.facts = how->fact_count;
	frame_add(&writer, Up_fields, &up, BYTES(NULL, 0));
	for (uint32_t i = 0; i < how->fact_count; i++)
		add_fact(&writer, i, &how->facts[i]);
	peer_push(peer, &writer);
	return peer->requests;
}

Confirm peer_turned(struct peer *peer, const Receipt *receipt, const struct verdict_words *how)
{
	uint64_t request = peer_turn(peer, receipt, how);
	Confirm confirm;

	desk_work(peer->desk);
	assert_true(peer_confirm(peer, request, &confirm));
	return confirm;
}

json_t *desk_verified(struct desk *desk)
{
	struct verify *verify = memory_new(sizeof(*verify));
	json_t *report;

	verify->store = desk->store;
	verify->topology = &desk->topology;
	verify->idem_window_us = desk->settings.idem_window_us;
	verify->now_us = clock_wall_us(&desk->clock);
	assert_int_equal(verify_log(verify), 0);
	report = verify_report(verify);
	verify_free(verify);
	free(verify);
	return report;
}
