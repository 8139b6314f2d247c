/*
 * desk_tray.c: what a peer has got; see desk.h
 */
#include "bus/base/text.h"
#include "desk.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

/* Taken items stay in memory until the tray is cleared: pointers to them stay good for a test. */
static struct item *take(struct peer *peer, pb_size_t kind)
{
	for (int i = 0; i < peer->count; i++) {
		struct item *item = peer->tray[i];

		if (item->down.which_what != kind)
			continue;
		item->down.which_what |= 0x80;
		return item;
	}
	return NULL;
}

struct item *peer_delivery(struct peer *peer)
{
	return take(peer, Down_delivery_tag);
}

struct item *peer_projection(struct peer *peer)
{
	return take(peer, Down_projection_tag);
}

const Progress *peer_progress(struct peer *peer)
{
	const Progress *last = NULL;

	for (struct item *item; (item = take(peer, Down_progress_tag));)
		last = &item->down.what.progress;
	return last;
}

bool peer_confirm(struct peer *peer, uint64_t request, Confirm *ret)
{
	for (int i = 0; i < peer->count; i++) {
		const Down *down = &peer->tray[i]->down;

		if (down->which_what == Down_confirm_tag && down->what.confirm.request == request) {
			*ret = down->what.confirm;
			return true;
		}
	}
	return false;
}

int peer_count(const struct peer *peer, pb_size_t kind)
{
	int count = 0;

	for (int i = 0; i < peer->count; i++)
		count += peer->tray[i]->down.which_what == kind;
	return count;
}

json_t *peer_ask(struct peer *peer, const char *verb, const char *argument)
{
	Control *said = calloc(1, sizeof(*said));

	said->which_what = Control_question_tag;
	said->what.question.id = 7;
	TEXT_COPY(said->what.question.verb, verb);
	TEXT_COPY(said->what.question.argument, argument);
	buffer_clear(&peer->answer);
	peer->answered = false;
	peer_control(peer, said);
	desk_work(peer->desk);
	free(said);
	assert_true(peer->answered);
	return peer->answer_ok ? json_loads(buffer_text(&peer->answer), 0, NULL) : NULL;
}

uint64_t status_refused(struct desk *desk, const char *what)
{
	struct peer *admin = peer_new(desk, "admin", "counter");
	json_t *status;
	json_int_t count;

	peer_hello(admin, "run", 0);
	status = peer_ask(admin, "status", "");
	assert_non_null(status);
	count = json_integer_value(json_object_get(json_object_get(status, "refused"), what));
	json_decref(status);
	return (uint64_t)count;
}
