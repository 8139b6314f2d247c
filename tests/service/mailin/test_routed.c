/* test_routed.c: a mail that a route says a message about: the blob, the message, and what is left when something fails */
#include "bus/base/text.h"
#include "given.h"
#include "proto/platform_topics.h"
#include "services/kit/documents/docs.h"
#include "services/kit/keys/keyring.h"
#include "services/platform/mailin/folder.h"
#include "services/platform/mailin/routed.h"
#include "tests/unit/cmocka_all.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LARGE = 3 * 1024 * 1024, ROOM = 8 * 1024 * 1024, PART = 32 * 1024, TEXT_LEN = 2 * 1024 * 1024 };

static const size_t names[] = { offsetof(Document, digest), TOPIC_NOWHERE };
TOPIC_DECLARE(raw_mail, Document);
TOPIC_DEFINE_NAMING(raw_mail, "test.mail", Document, RETAIN_RAW, NULL, names);

/* a topic that mailin has no right to say */
TOPIC_DECLARE(foreign_mail, Document);
TOPIC_DEFINE_NAMING(foreign_mail, "test.foreign", Document, RETAIN_RAW, NULL, names);

/* ---- a system that takes mails ---- */

static bool is_closed; /* whatever comes */
static char long_text[TEXT_LEN];

static const char *write_mail(const struct inbound_mail *mail, void *ret_message, char ret_key[MAIL_ROUTE_KEY_MAX + 1])
{
	Document *message = ret_message;

	if (strcmp(mail->detail, "refused") == 0 || is_closed)
		return "this form is closed";
	snprintf(message->digest, sizeof(message->digest), "%s", mail->blob);
	snprintf(message->kind, sizeof(message->kind), "mail");
	message->version = mail->size;
	if (strcmp(mail->detail, "long") == 0)
		message->long_text = BYTES(long_text, sizeof(long_text));
	snprintf(ret_key, MAIL_ROUTE_KEY_MAX + 1, "%s", *mail->detail ? mail->detail : "any");
	return NULL;
}

static const struct blob_use use = { .name = "forms", .blob_bytes = ROOM, .kept_us = 30 * US_PER_DAY };
static const struct mail_route routes[] = {
	{ .name = "forms",
		.local = "forms",
		.bytes_most = ROOM,
		.use = &use,
		.topic = &topic_raw_mail,
		.write = write_mail },
	{ .name = "notes", .local = "notes", .bytes_most = 1000, .topic = &topic_raw_mail, .write = write_mail },
	{ .name = "foreign",
		.local = "foreign",
		.bytes_most = ROOM,
		.use = &use,
		.topic = &topic_foreign_mail,
		.write = write_mail },
	{ .name = NULL },
};
static const struct mail_route *const tables[] = { routes, NULL };

static enum verdict hear_mail(const struct state *state, const Document *mail, struct turn *turn)
{
	(void)state, (void)mail, (void)turn;
	return TURN_DONE;
}

static const struct service postbox = {
	.name = "mailin",
	.remembers = REMEMBERING(REMEMBERS(document, docs_remember)),
	.says = SAYING(SAYS(raw_mail)),
};
static const struct service reader = { .name = "forms",
	.hears = HEARING(HEARS(raw_mail, hear_mail), HEARS(foreign_mail, hear_mail)) };
static const struct service *const services[] = { &postbox, &reader, NULL };

/* ---- the world ---- */

static struct world {
	struct sim *sim;
	struct blob_uses *uses;
	struct routing routing;
	enum routed_end end;
	int ends;
	char why[100];
} world;

static void begin(uint64_t shop_bytes)
{
	static Document document;

	given_begin(NULL);
	world = (struct world){ .sim = sim_new(services, INT64_C(20000) * US_PER_DAY, 1) };
	sim_start(world.sim, "mailin", &postbox, NULL);
	sim_start(world.sim, "forms", &reader, NULL);
	document = (Document){ .kind = "shop", .version = 1 };
	TEXT_COPY(document.text,
		"[shop]\ntime-zone = UTC\ncurrency = EUR\nlocale = de-DE\ntitle = T\nurl = https://s.example\n[mail]\n"
		"from = shop@shop.example\nbounce = bounces+*@shop.example\n");
	assert_int_equal(
		SIM_SAY(world.sim, document, &document, .shop = "demo", .key = "shop", .version = 1), SAID_FRESH);
	sim_run_until_idle(world.sim);
	world.uses = blob_uses_new(&(struct blob_uses_settings){
		.root = given.path, .process = "mailin", .shop_bytes = shop_bytes, .clock = sim_clock(world.sim) });
	assert_int_equal(blob_uses_add(world.uses, &use, 30 * US_PER_DAY), 0);
	routing_init(&world.routing, tables, world.uses, sim_runtime(world.sim, "mailin"), sim_clock(world.sim));
}

static void end(void)
{
	routing_clear(&world.routing);
	blob_uses_free(world.uses);
	sim_free(world.sim);
	given_end();
}

static void on_end(void *context, enum routed_end how, const char *why)
{
	(void)context;
	world.end = how;
	world.ends++;
	snprintf(world.why, sizeof(world.why), "%s", why);
}

static struct mailbox mailbox_of(const char *recipient)
{
	struct mailbox mailbox;

	assert_true(mailbox_find(tables, runtime_state(sim_runtime(world.sim, "mailin")), recipient, &mailbox));
	return mailbox;
}

static enum routed_end deliver(const char *recipient, size_t size, char fill)
{
	static char part[PART];
	char to[1][ADDRESS_MAX + 1];
	const struct mailbox mailbox = mailbox_of(recipient);
	struct routed *routed = routed_new(&world.routing, &mailbox);
	int before = world.ends;

	memset(part, fill, sizeof(part));
	snprintf(to[0], sizeof(to[0]), "%s", recipient);
	for (size_t left = size; left > 0; left -= left < PART ? left : PART)
		routed_add(routed, BYTES(part, left < PART ? left : PART));
	assert_true(!mailbox.route->use || routed_memory(routed) == 0);
	routed_finish(routed, "", to, 1, on_end, NULL);
	sim_run_until_idle(world.sim);
	assert_int_equal(world.ends, before + 1);
	return world.end;
}

struct told {
	int count;
	Document last;
	char owner[BLOB_OWNER_MAX + 1];
};

static void note(const struct message_meta *said, struct bytes payload, void *context)
{
	struct told *told = context;

	if (strcmp(said->topic, topic_raw_mail.name) != 0)
		return;
	assert_true(topic_read(&topic_raw_mail, payload, &told->last));
	told->count++;
	assert_int_equal(blob_owner_text(said->topic, said->idem, told->owner), 0);
}

static int messages(void)
{
	struct told told = { 0 };

	sim_log(world.sim, note, &told);
	return told.count;
}

static int add_blob(void *context, const char *name, uint64_t bytes)
{
	struct blob_counts *sum = context;

	(void)name;
	sum->files++;
	sum->bytes += bytes;
	return 0;
}

static int add_store(void *context, const struct blob_place *place)
{
	struct blob_store *store = NULL;

	assert_int_equal(blob_store_open_to_read(place->path, &store), 0);
	assert_int_equal(blob_each(store, add_blob, context), 0);
	blob_store_close(store);
	return 0;
}

static uint64_t blobs(void)
{
	struct blob_counts sum = { 0 };

	assert_int_equal(blob_places_each(given.path, add_store, &sum), 0);
	return sum.files;
}

/* ---- */

static void a_large_mail_is_a_blob_and_a_message(void **state)
{
	(void)state;
	begin(0);
	assert_int_equal(deliver("forms+contact@shop.example", LARGE, 'a'), ROUTED_SAID);
	assert_int_equal(blobs(), 1);
	assert_int_equal(messages(), 1);
	end();
}

static void a_mail_that_is_delivered_twice_is_one_blob_and_one_message(void **state)
{
	(void)state;
	begin(0);
	for (int i = 0; i < 2; i++)
		assert_int_equal(deliver("forms+contact@shop.example", LARGE, 'a'), ROUTED_SAID);
	assert_int_equal(blobs(), 1);
	assert_int_equal(messages(), 1);
	/* To another address it is another message, which names the same blob. */
	assert_int_equal(deliver("forms+jobs@shop.example", LARGE, 'a'), ROUTED_SAID);
	assert_int_equal(blobs(), 1);
	assert_int_equal(messages(), 2);
	end();
}

static void a_mail_without_room_is_kept_by_its_mail_server(void **state)
{
	(void)state;
	begin(LARGE);
	assert_int_equal(deliver("forms@shop.example", LARGE, 'a'), ROUTED_SAID);
	assert_int_equal(deliver("forms@shop.example", LARGE, 'b'), ROUTED_NO_ROOM);
	assert_true(*world.why);
	assert_int_equal(blobs(), 1);
	assert_int_equal(messages(), 1);
	assert_int_equal(deliver("notes@shop.example", 500, 'b'), ROUTED_SAID); /* it needs no blob */
	end();
}

static void a_mail_that_its_route_refuses_leaves_nothing(void **state)
{
	(void)state;
	begin(0);
	assert_int_equal(deliver("forms+refused@shop.example", LARGE, 'a'), ROUTED_REFUSED);
	assert_string_equal(world.why, "this form is closed");
	assert_int_equal(blobs(), 0);
	assert_int_equal(messages(), 0);
	end();
}

/* To come again would change nothing: its mail server is told so, and a file is put aside. */
static void a_mail_whose_message_the_bus_never_takes_leaves_nothing(void **state)
{
	(void)state;
	begin(0);
	assert_int_equal(deliver("foreign@shop.example", LARGE, 'a'), ROUTED_REFUSED);
	assert_string_equal(world.why, "what it says was refused");
	assert_int_equal(blobs(), 0);
	assert_int_equal(deliver("forms+long@shop.example", LARGE, 'a'), ROUTED_REFUSED);
	assert_string_equal(world.why, "it is larger than a message may be");
	assert_int_equal(blobs(), 0);
	assert_int_equal(messages(), 0);
	end();
}

/* A stranger sends one mail that is taken, and the same content again and again to where it is refused. */
static void a_mail_that_its_route_refuses_adds_no_reference_to_what_is_there(void **state)
{
	struct told told = { 0 };
	uint64_t removed, kept;

	(void)state;
	begin(0);
	assert_int_equal(deliver("forms@shop.example", LARGE, 'a'), ROUTED_SAID);
	assert_int_equal(deliver("forms+refused@shop.example", LARGE, 'a'), ROUTED_REFUSED);
	sim_log(world.sim, note, &told);
	assert_int_equal(blob_places_release(given.path, "demo", told.last.digest, told.owner, &removed, &kept), 0);
	assert_int_equal(removed, 1);
	assert_int_equal(kept, 0);
	end();
}

/* Killed, or without an answer, between the blob and the message: the mail server comes again. */
static void a_mail_that_is_refused_when_it_comes_again_leaves_its_first_message_the_blob(void **state)
{
	(void)state;
	begin(0);
	assert_int_equal(deliver("forms@shop.example", LARGE, 'a'), ROUTED_SAID);
	is_closed = true;
	assert_int_equal(deliver("forms@shop.example", LARGE, 'a'), ROUTED_REFUSED);
	is_closed = false;
	assert_int_equal(blobs(), 1);
	end();
}

static void what_was_cut_short_between_blob_and_message_ends_well(void **state)
{
	(void)state;
	begin(0);
	const struct mailbox mailbox = mailbox_of("forms@shop.example");
	struct routed *routed = routed_new(&world.routing, &mailbox);
	char to[1][ADDRESS_MAX + 1] = { "forms@shop.example" };

	routed_add(routed, bytes_of("a mail"));
	routed_finish(routed, "", to, 1, on_end, NULL); /* the blob is there, the message is on its way */
	sim_kill_broker(world.sim);
	sim_run_until(world.sim, sim_now_us(world.sim) + US_PER_MINUTE);
	assert_int_equal(blobs(), 1);
	assert_int_equal(world.end, ROUTED_AWAY);
	sim_restart_broker(world.sim);
	sim_run_until(world.sim, sim_now_us(world.sim) + US_PER_MINUTE);
	routed = routed_new(&world.routing, &mailbox);
	routed_add(routed, bytes_of("a mail"));
	routed_finish(routed, "", to, 1, on_end, NULL);
	sim_run_until_idle(world.sim);
	assert_int_equal(world.end, ROUTED_SAID);
	assert_int_equal(blobs(), 1);
	assert_int_equal(messages(), 1);
	end();
}

static void a_client_that_goes_away_is_not_answered(void **state)
{
	(void)state;
	begin(0);
	const struct mailbox mailbox = mailbox_of("forms@shop.example");
	struct routed *routed = routed_new(&world.routing, &mailbox);
	char to[1][ADDRESS_MAX + 1] = { "forms@shop.example" };

	routed_add(routed, bytes_of("half"));
	routed_free(routed); /* in the middle of its mail */
	assert_int_equal(blobs(), 0);
	routed = routed_new(&world.routing, &mailbox);
	routed_add(routed, bytes_of("whole"));
	routed_finish(routed, "", to, 1, on_end, NULL);
	routed_free(routed); /* before the broker's answer */
	sim_run_until_idle(world.sim);
	assert_int_equal(world.ends, 0);
	assert_int_equal(messages(), 1);
	end();
}

/* ---- a maildir ---- */

static struct folder *folder;
static struct quarantine *quarantine;
static struct keyring keys;

static void open_maildir(void)
{
	static const char *const parts[] = { "", "/new", "/cur", "/tmp" };
	char path[200];

	for (int i = 0; i < 4; i++) {
		snprintf(path, sizeof(path), "%s/maildir%s", given.path, parts[i]);
		assert_int_equal(mkdir(path, 0700), 0);
	}
	snprintf(path, sizeof(path), "%s/maildir", given.path);
	quarantine = quarantine_new(path, sim_clock(world.sim));
	folder = folder_new(path, "new",
		&(struct folder_needs){ .keys = &keys,
			.routing = &world.routing,
			.quarantine = quarantine,
			.runtime = sim_runtime(world.sim, "mailin"),
			.clock = sim_clock(world.sim) });
}

static void close_maildir(void)
{
	folder_free(folder);
	quarantine_free(quarantine);
}

static void lay(const char *name, const char *text, size_t size)
{
	char path[200];

	snprintf(path, sizeof(path), "%s/maildir/new/%s", given.path, name);
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	for (size_t i = 0; i < size / 64; i++)
		fputs("0123456789012345678901234567890123456789012345678901234567890123\n", file);
	assert_int_equal(fclose(file), 0);
}

static bool lies(const char *where, const char *name)
{
	char path[200];

	snprintf(path, sizeof(path), "%s/maildir/%s/%s", given.path, where, name);
	return access(path, F_OK) == 0;
}

static void a_mail_in_a_maildir_goes_the_same_way(void **state)
{
	(void)state;
	begin(0);
	open_maildir();
	lay("1", "X-Original-To: forms+contact@shop.example\nSubject: x\n\n", LARGE);
	folder_look(folder);
	sim_run_until_idle(world.sim);
	assert_int_equal(messages(), 1);
	assert_false(lies("new", "1"));
	close_maildir();
	end();
}

static void a_mail_in_a_maildir_whose_message_the_bus_never_takes_is_put_aside(void **state)
{
	(void)state;
	begin(0);
	open_maildir();
	lay("1", "X-Original-To: foreign@shop.example\nSubject: x\n\n", LARGE);
	folder_look(folder);
	sim_run_until_idle(world.sim);
	assert_false(lies("new", "1"));
	assert_true(lies("aside", "1"));
	/* The next one is read at once. */
	lay("2", "X-Original-To: forms+contact@shop.example\nSubject: x\n\n", LARGE);
	sim_run_until(world.sim, sim_now_us(world.sim) + 2 * US_PER_S);
	folder_look(folder);
	sim_run_until_idle(world.sim);
	assert_int_equal(messages(), 1);
	assert_false(lies("new", "2"));
	close_maildir();
	end();
}

static void a_mail_in_a_maildir_without_room_holds_up_no_other(void **state)
{
	(void)state;
	begin(LARGE);
	open_maildir();
	assert_int_equal(deliver("forms@shop.example", LARGE, 'a'), ROUTED_SAID);
	lay("1", "X-Original-To: forms@shop.example\nSubject: x\n\n", LARGE);
	folder_look(folder);
	sim_run_until_idle(world.sim);
	assert_true(lies("new", "1"));
	lay("2", "X-Original-To: notes@shop.example\nSubject: x\n\n", 0); /* it needs no blob */
	sim_run_until(world.sim, sim_now_us(world.sim) + 2 * US_PER_S);
	folder_look(folder);
	sim_run_until_idle(world.sim);
	assert_int_equal(messages(), 2);
	assert_false(lies("new", "2"));
	assert_true(lies("new", "1"));
	close_maildir();
	end();
}

static int run(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(a_large_mail_is_a_blob_and_a_message),
		cmocka_unit_test(a_mail_that_is_delivered_twice_is_one_blob_and_one_message),
		cmocka_unit_test(a_mail_without_room_is_kept_by_its_mail_server),
		cmocka_unit_test(a_mail_that_its_route_refuses_leaves_nothing),
		cmocka_unit_test(a_mail_whose_message_the_bus_never_takes_leaves_nothing),
		cmocka_unit_test(a_mail_that_its_route_refuses_adds_no_reference_to_what_is_there),
		cmocka_unit_test(a_mail_that_is_refused_when_it_comes_again_leaves_its_first_message_the_blob),
		cmocka_unit_test(what_was_cut_short_between_blob_and_message_ends_well),
		cmocka_unit_test(a_client_that_goes_away_is_not_answered),
		cmocka_unit_test(a_mail_in_a_maildir_goes_the_same_way),
		cmocka_unit_test(a_mail_in_a_maildir_whose_message_the_bus_never_takes_is_put_aside),
		cmocka_unit_test(a_mail_in_a_maildir_without_room_holds_up_no_other) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(int argc, char **argv)
{
	return given_main(argc, argv, run);
}
