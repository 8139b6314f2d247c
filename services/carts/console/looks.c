/*
 * looks.c: folds the timers of carts and the reminders that wait for the sender, and predicts the next mail from them
 *
 * Owns:      the tables of looks.h, and page.handed (cart id -> struct handed_row).
 * Promises:  a row follows from the newest message about its timer, so a newly folded store equals a kept one.
 * Read next: services/carts/rehearsal/forecast.c (the same for the command, from the log)
 */
#include "services/carts/console/looks.h"
#include "bus/base/text.h"
#include "services/carts/policy/sends.h"
#include "services/carts/waiter/waiter.h"
#include <inttypes.h>
#include <pb_decode.h>
#include <stdio.h>

/* The last reminder.due of a cart. */
struct handed_row {
	uint64_t seq, cause;
	int64_t at_us;
	uint64_t step;
};
STATE_STRUCTS(handed, "page.handed", struct handed_row);

static const char timer_prefix[] = "cart/";

/* NULL: it is no cart's timer. */
static const char *cart_of(const char *timer_name)
{
	return text_starts(timer_name, timer_prefix) ? timer_name + strlen(timer_prefix) : NULL;
}

static const char *due_key(int64_t due_us, const char *cart_id, char ret[LOOK_KEY_MAX])
{
	snprintf(ret, LOOK_KEY_MAX, "%016" PRIx64 "/%s", (uint64_t)due_us, cart_id);
	return ret;
}

static void put(struct state *state, const char *shop, const char *cart_id, const struct cart_look *now)
{
	struct cart_look old;
	char key[LOOK_KEY_MAX];

	if (STATE_GET(state, cart_looks, shop, cart_id, &old) && !old.ended && old.version)
		STATE_DELETE(state, looks_by_due, shop, due_key(old.due_us, cart_id, key));
	STATE_PUT(state, cart_looks, shop, cart_id, now);
	if (!now->ended)
		STATE_PUT_STRING(state, looks_by_due, shop, due_key(now->due_us, cart_id, key), BYTES("", 0));
}

static uint64_t known_version(const struct state *state, const char *shop, const char *cart_id)
{
	struct cart_look look;

	STATE_GET(state, cart_looks, shop, cart_id, &look);
	return look.version;
}

void looks_remember_set(struct state *state, const struct message_meta *said, const TimerSet *timer)
{
	const char *cart_id = cart_of(timer->name);
	pb_istream_t stream = pb_istream_from_buffer(timer->payload.bytes, timer->payload.size);
	CartWake wake = { 0 };
	struct cart_look look;

	if (!cart_id || known_version(state, said->shop, cart_id) > timer->version ||
		!pb_decode(&stream, &CartWake_msg, &wake))
		return;
	memset(&look, 0, sizeof(look));
	look.version = timer->version;
	look.seq = said->seq;
	look.cause = said->cause;
	look.due_us = timer->due_us;
	look.revision = wake.revision;
	look.would_us = wake.would_us;
	look.would_step = wake.would_step;
	put(state, said->shop, cart_id, &look);
}

static void end(struct state *state, const struct message_meta *said, const char *name, uint64_t version)
{
	const char *cart_id = cart_of(name);
	struct cart_look look;

	if (!cart_id || known_version(state, said->shop, cart_id) > version)
		return;
	memset(&look, 0, sizeof(look));
	look.version = version;
	look.seq = said->seq;
	look.cause = said->cause;
	look.ended = 1;
	put(state, said->shop, cart_id, &look);
}

void looks_remember_cancel(struct state *state, const struct message_meta *said, const TimerCancel *timer)
{
	end(state, said, timer->name, timer->version);
}

void looks_remember_fired(struct state *state, const struct message_meta *said, const TimerFired *timer)
{
	end(state, said, timer->name, timer->version);
}

void looks_remember_due(struct state *state, const struct message_meta *said, const ReminderDue *due)
{
	struct handed_row row;

	memset(&row, 0, sizeof(row));
	row.seq = said->seq;
	row.cause = said->cause;
	row.at_us = due->decided_us;
	row.step = due->step;
	STATE_PUT(state, handed, said->shop, due->cart.ids.cart_id, &row);
}

/*
 * Is the last reminder still with the sender? Not if it has an outcome. Nor if another turn than the reminder's set the timer after it:
 * then the sender has deferred it, or the cart has changed.
 */
static bool is_with_sender(const struct state *state, const char *shop, const char *cart_id,
	const struct cart_look *look, const struct handed_row *row)
{
	struct send send = sends_own(state, shop, cart_id, (int)row->step);
	bool has_ended = send_is_spent(send.phase) && send.phase != SEND_CLAIMED && send.at_us >= row->at_us;

	return !has_ended && !(look->seq > row->seq && look->cause != row->cause);
}

bool look_foresee(
	const struct state *state, const char *shop, const char *cart_id, int64_t now_us, struct foreseen *ret)
{
	CartWake wake = { 0 };
	struct cart_look look;
	struct handed_row row;

	*ret = (struct foreseen){ 0 };
	STATE_GET(state, cart_looks, shop, cart_id, &look);
	if (!look.version || look.ended)
		return false;
	TEXT_COPY(wake.cart_id, cart_id);
	wake.revision = look.revision;
	wake.due_us = look.due_us;
	wake.would_step = look.would_step;
	wake.would_us = look.would_us;
	if (!waiter_plan(state, shop, &wake, look.due_us, now_us, &ret->plan))
		return false;
	if (STATE_GET(state, handed, shop, cart_id, &row) && is_with_sender(state, shop, cart_id, &look, &row)) {
		ret->with_sender = (int)row.step;
		ret->since_us = row.at_us;
	}
	return true;
}
