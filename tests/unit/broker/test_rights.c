/*
 * who may do what: the topology that the services declare, every service with every topic; and identities with fewer rights
 */
#include "bus/base/file.h"
#include "bus/wire/registry.h"
#include "desk.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { TOPOLOGY_MAX = 1 << 20 };

struct cast {
	struct desk *desk;
	struct peer *peers[DESK_PEERS_MAX]; /* one of each service, as in the topology */
};

static struct cast open_shipped(void)
{
	struct cast cast = { .desk = desk_open_disk() };
	struct buffer text = { 0 };

	assert_int_equal(file_read(CARTBUS_TOPOLOGY, TOPOLOGY_MAX, &text), 0);
	desk_crash(cast.desk);
	assert_int_equal(desk_start(cast.desk, buffer_text(&text)), 0);
	for (int i = 0; i < cast.desk->topology.peer_count; i++) {
		const char *name = cast.desk->topology.peers[i].name;

		cast.peers[i] = peer_new(cast.desk, name, name);
		peer_hello(cast.peers[i], "run", 0);
		assert_true(cast.peers[i]->mailbox_open);
	}
	buffer_free(&text);
	return cast;
}

static bool is_heard(const struct topology *topology, int topic)
{
	bool heard = topology->topics[topic].retention != 0; /* the operator reads what is kept */

	for (int i = 0; i < topology->peer_count; i++)
		heard = heard || topic_set_has(&topology->peers[i].hears, topic) ||
			topic_set_has(&topology->peers[i].remembers, topic);
	return heard;
}

static void check_trays(const struct cast *cast, int topic, bool was_said)
{
	const struct topology *topology = &cast->desk->topology;

	for (int i = 0; i < topology->peer_count; i++) {
		struct item *delivery = peer_delivery(cast->peers[i]), *projection = peer_projection(cast->peers[i]);

		assert_int_equal(delivery != NULL, was_said && topic_set_has(&topology->peers[i].hears, topic));
		assert_int_equal(projection != NULL, was_said && topic_set_has(&topology->peers[i].remembers, topic));
		assert_null(peer_delivery(cast->peers[i]));
		assert_null(peer_projection(cast->peers[i]));
	}
}

static void every_service_says_hears_and_folds_what_it_declares_and_nothing_else(void **state)
{
	struct cast cast = open_shipped();
	const struct topology *topology = &cast.desk->topology;
	int said = 0, refused = 0;
	char key[64];

	(void)state;
	for (int peer = 0; peer < topology->peer_count; peer++) {
		for (int topic = 0; topic < topology->topic_count; topic++) {
			bool may = topic_set_has(&topology->peers[peer].says, topic) && is_heard(topology, topic) &&
				!topology->topics[topic].claim; /* which is said as none here */
			Confirm confirm;

			snprintf(key, sizeof(key), "%d-%d", peer, topic);
			confirm = SAID(cast.peers[peer], .topic = topology->topics[topic].name, .key = key);
			assert_int_equal(confirm.kind, may ? CONFIRM_FRESH : CONFIRM_REFUSED);
			check_trays(&cast, topic, may);
			said += may;
			refused += !may;
		}
	}
	assert_true(said > 30 && refused > 200);
	assert_int_equal(broker_head(cast.desk->broker), said);
	desk_close(cast.desk);
}

static void only_what_is_declared_an_operator_asks(void **state)
{
	struct cast cast = open_shipped();
	const struct topology *topology = &cast.desk->topology;

	(void)state;
	for (int i = 0; i < topology->peer_count; i++) {
		json_t *answer = peer_ask(cast.peers[i], "queues", "{}");

		assert_int_equal(answer != NULL, topology->peers[i].operator_);
		json_decref(answer);
	}
	desk_close(cast.desk);
}

/* --- identities --- */

static const char IDENTITIES[] =
	"[key far]\nservice = talker worker\ninstance = far-*\nrights = publish fold\npublic = "
	"0000000000000000000000000000000000000000000000000000000000000001\n"
	"[key eyes]\nservice = admin\nrights = ask\npublic = "
	"0000000000000000000000000000000000000000000000000000000000000002\n"
	"[key full]\nservice = *\nrights = all\npublic = "
	"0000000000000000000000000000000000000000000000000000000000000003\n";

static struct peer *come(struct desk *desk, int key, const char *service, const char *instance)
{
	struct peer *peer = peer_new(desk, service, instance);

	snprintf(peer->who, sizeof(peer->who), "key:%064d", key);
	peer_hello(peer, "run", 0);
	return peer;
}

static struct registry *know(struct desk *desk, const char *text)
{
	struct registry *registry = NULL;
	struct config_error error;

	assert_int_equal(registry_parse_peers(text, "peers.conf", &registry, &error), 0);
	broker_admit(desk->broker, registry);
	return registry;
}

static void an_identity_is_what_it_was_registered_for_and_nothing_else(void **state)
{
	struct desk *desk = desk_open();
	struct registry *registry = know(desk, IDENTITIES);

	(void)state;
	assert_true(come(desk, 1, "talker", "far-1")->welcomed);
	assert_true(come(desk, 1, "talker", "near-1")->refused_final);
	assert_true(come(desk, 1, "admin", "far-1")->refused_final);
	assert_true(come(desk, 1, "single", "far-1")->refused_final);
	assert_true(come(desk, 2, "talker", "far-2")->refused_final);
	assert_true(come(desk, 4, "talker", "far-3")->refused_final);
	assert_true(come(desk, 3, "single", "any")->welcomed);
	desk_close(desk);
	registry_free(registry);
}

static void an_identity_does_not_do_what_its_rights_leave_out(void **state)
{
	struct desk *desk = desk_open();
	struct registry *registry = know(desk, IDENTITIES);
	struct peer *talker = come(desk, 1, "talker", "far-1"), *worker = come(desk, 1, "worker", "far-2");
	struct peer *eyes = come(desk, 2, "admin", "eyes"), *full = come(desk, 3, "worker", "full");
	json_t *answer = peer_ask(eyes, "status", "{}");

	(void)state;
	assert_int_equal(SAID(talker, .topic = "work").kind, CONFIRM_FRESH);
	assert_int_equal(SAID(talker, .topic = "claim", .idem = "c", .claim = true).kind, CONFIRM_REFUSED);
	assert_null(peer_delivery(worker));
	assert_non_null(peer_delivery(full));
	assert_non_null(answer);
	json_decref(answer);
	assert_null(peer_ask(eyes, "read", "{}"));
	assert_null(peer_ask(eyes, "gateway.strike", "{\"name\":\"d\"}"));
	assert_null(peer_ask(eyes, "rebuild", "{\"service\":\"worker\"}"));
	desk_close(desk);
	registry_free(registry);
}

/* What is shown of the only message of this topic; "": nothing of it. */
static void assert_shown(struct peer *peer, const char *topic, const char *base64)
{
	char argument[100];
	json_t *page, *message;

	snprintf(argument, sizeof(argument), "{\"topic\":\"%s\",\"masked\":true}", topic);
	page = peer_ask(peer, "read", argument);
	assert_int_equal(json_array_size(json_object_get(page, "messages")), 1);
	message = json_array_get(json_object_get(page, "messages"), 0);
	assert_string_equal(json_string_value(json_object_get(message, "payload")), base64);
	json_decref(page);
}

static void who_may_not_see_payloads_is_shown_what_their_topics_list_and_nothing_of_what_cannot_be_read(void **state)
{
	static const char topology[] = "[topic listed]\nretention = keep\nshown = 1\n"
				       "[topic unlisted]\nretention = keep\n"
				       "[topic broken]\nretention = keep\nshown = 1\n"
				       "[peer talker]\nsays = listed\nsays = unlisted\nsays = broken\n"
				       "[peer admin]\noperator = yes\n";
	static const char anna[] = "\x0a\x04"
				   "anna"; /* 1: "anna" */
	static const char cut[] = "\x0a\x04"
				  "anna\x12\x09"
				  "berta"; /* 1: "anna", 2: of nine bytes, but five are there */
	static const struct {
		const char *topic, *in_clear, *masked;
	} cases[] = { { "listed", "CgRhbm5h", "CgRhbm5h" }, { "unlisted", "CgRhbm5h", "CgQqKioq" },
		{ "broken", "CgRhbm5hEgliZXJ0YQ==", "" }, { "diary", "CgRhbm5h", "" } };
	struct desk *desk = desk_open_disk();
	struct registry *registry = know(desk, IDENTITIES), *again;

	(void)state;
	SAID(come(desk, 3, "talker", "before"), .topic = "diary", .text = anna); /* which is declared no more then */
	desk_crash(desk);
	assert_int_equal(desk_start(desk, topology), 0);
	again = know(desk, IDENTITIES);
	struct peer *talker = come(desk, 3, "talker", "t");
	struct peer *eyes = come(desk, 2, "admin", "eyes"), *full = come(desk, 3, "admin", "full");
	SAID(talker, .topic = "listed", .text = anna);
	SAID(talker, .topic = "unlisted", .text = anna);
	SAID(talker, .topic = "broken", .text = cut);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_shown(full, cases[i].topic, cases[i].in_clear);
		assert_shown(eyes, cases[i].topic, cases[i].masked);
	}
	desk_close(desk);
	registry_free(registry);
	registry_free(again);
}

static void a_session_whose_key_is_struck_off_ends(void **state)
{
	struct desk *desk = desk_open();
	struct registry *registry = know(desk, IDENTITIES), *fewer;
	struct peer *talker = come(desk, 1, "talker", "far-1"), *full = come(desk, 3, "talker", "full");

	(void)state;
	fewer = know(desk, strstr(IDENTITIES, "[key full]"));
	assert_false(talker->mailbox_open);
	assert_true(full->mailbox_open);
	assert_int_equal(SAID(full, .topic = "work").kind, CONFIRM_FRESH);
	desk_close(desk);
	registry_free(registry);
	registry_free(fewer);
}

static void a_list_that_does_not_add_up_is_not_used(void **state)
{
	static const char *const wrong[] = {
		"[key a]\nservice = x\n",
		"[key a]\nservice = x\npublic = 12\n",
		"[key a]\npublic = 0000000000000000000000000000000000000000000000000000000000000001\n",
		"[key a]\nservice = x\nrights = fly\npublic = "
		"0000000000000000000000000000000000000000000000000000000000000001\n",
		"[key a]\nservice = x\npublic = 0000000000000000000000000000000000000000000000000000000000000001\n"
		"[key b]\nservice = y\npublic = 0000000000000000000000000000000000000000000000000000000000000001\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct registry *registry = NULL;
		struct config_error error = { "" };

		assert_true(registry_parse_peers(wrong[i], "peers.conf", &registry, &error) < 0);
		assert_non_null(strstr(error.text, "peers.conf"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_service_says_hears_and_folds_what_it_declares_and_nothing_else),
		cmocka_unit_test(only_what_is_declared_an_operator_asks),
		cmocka_unit_test(an_identity_is_what_it_was_registered_for_and_nothing_else),
		cmocka_unit_test(an_identity_does_not_do_what_its_rights_leave_out),
		cmocka_unit_test(
			who_may_not_see_payloads_is_shown_what_their_topics_list_and_nothing_of_what_cannot_be_read),
		cmocka_unit_test(a_session_whose_key_is_struck_off_ends),
		cmocka_unit_test(a_list_that_does_not_add_up_is_not_used),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
