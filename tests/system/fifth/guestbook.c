/* guestbook.c: an entry sets a timer; the timer leads to a file (an effect); the file is put on record */
#include "bus/base/clock.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "guest.h"
#include "proto/platform_topics.h"
#include "services/kit/documents/docs.h"
#include "services/kit/effect/file_driver.h"
#include <pb_encode.h>
#include <stdio.h>

STATE_NUMBERS(shown, "shown"); /* how often, by the entry's id */

static void remember_shown(struct state *state, const struct message_meta *said, const GuestEntry *entry)
{
	STATE_PUT_NUMBER(state, shown, said->shop, entry->id, STATE_NUMBER(state, shown, said->shop, entry->id) + 1);
}

static enum verdict hear_wrote(const struct state *state, const GuestEntry *entry, struct turn *turn)
{
	const struct message_meta *said = turn_message(turn);
	const int64_t *seconds = docs_read(state, said->shop, "guestbook", &guestbook_document.reading, "", NULL);
	TimerSet set = { .version = 1 };
	pb_ostream_t payload = pb_ostream_from_buffer(set.payload.bytes, sizeof(set.payload.bytes));

	if (!seconds)
		return turn_dead_letter(turn, "the shop has no guestbook.txt");
	set.due_us = turn_now_us(turn) + *seconds * US_PER_S;
	pb_encode(&payload, &GuestEntry_msg, entry); /* it always fits */
	set.payload.size = (pb_size_t)payload.bytes_written;
	snprintf(set.name, sizeof(set.name), "guest.%s", entry->id);
	TEXT_COPY(set.topic, topic_guest_due.name);
	TEXT_COPY(set.key, entry->id);
	SAY(turn, timer_set, &set, .shop = said->shop, .key = set.name, .version = set.version);
	return TURN_DONE;
}

static enum verdict decide_shown(const struct state *state, const void *message, const void *request,
	const void *result, enum claim_answer claimed, struct turn *turn)
{
	(void)state, (void)request, (void)claimed;
	if (!result || *(const int *)result < 0)
		return turn_failed(turn, 0, "the file cannot be written");
	SAY(turn, guest_shown, (const GuestEntry *)message, .shop = turn_message(turn)->shop,
		.key = turn_message(turn)->key);
	return TURN_DONE;
}

static const struct effect_kind file = {
	.name = "file", .request_free = file_request_free, .deadline_us = 30 * US_PER_S, .decide = decide_shown
};

static enum verdict hear_due(const struct state *state, const GuestEntry *entry, struct turn *turn)
{
	struct file_request *request = memory_new(sizeof(*request));

	snprintf(request->path, sizeof(request->path), "%s/%s/%s.txt", guestbook_context(state)->folder,
		turn_message(turn)->shop, entry->id);
	buffer_printf(&request->content, "%s\n", entry->words);
	return turn_effect(turn, &file, (void **)&request);
}

const struct service guestbook = { .name = "guestbook",
	.hears = HEARING(HEARS(guest_wrote, hear_wrote), HEARS(guest_due, hear_due)),
	.remembers = REMEMBERING(REMEMBERS(document, docs_remember), REMEMBERS(guest_shown, remember_shown)),
	.says = SAYING(SAYS(timer_set), SAYS(guest_shown)),
	.effects = RUNNING(&file) };
