/*
 * notes.c: the runtime's side of notes about claims
 *
 * Promises:  what an earlier run of this instance certainly did not use is said before anything is decided, is seen by every
 *            decision from the first one on, and is said until it is confirmed.
 * Read next: claim_notes.h, effects.c (when a note is crossed out)
 */
#include "bus/actor/runtime/runtime_inside.h"
#include "bus/base/text.h"
#include "bus/wire/message.h"

static void say_one(const struct claim_note *note, void *context)
{
	static const struct message_meta nothing = {
		.topic = "", .shop = "", .key = "", .idem = "", .trace = "", .said_by = ""
	};
	struct runtime *runtime = context;
	struct turn turn = runtime_open_turn(runtime, &nothing);

	runtime->service->unused(&turn, note);
	turn_say_outcomes(runtime, &turn);
}

void notes_say_unused(struct runtime *runtime)
{
	if (runtime->notes)
		claim_notes_each(runtime->notes, say_one, runtime);
}

int notes_add(struct runtime *runtime, uint64_t seq, struct bytes claim)
{
	struct claim_note note = { .seq = seq };
	Envelope envelope;
	struct bytes payload;

	if (!runtime->notes || message_read(claim, &envelope, &payload) < 0)
		return -1;
	TEXT_COPY(note.run, runtime->run);
	note.version = envelope.version;
	return claim_notes_add(runtime->notes, &note);
}
