/*
 * unused.c: claims of a sender that was killed, of which it is known that their last byte did not go
 *
 * Owns:      the table unused (run/message/attempt -> nothing) of the service's state; a row goes when the log forgets it as a fact.
 * Promises:  said again it changes nothing; it is about one claim of one run alone.
 * Read next: bus/actor/runtime/claim_notes.h (how it is known), sender.c (what follows)
 */
#include "services/carts/sender/unused.h"
#include "bus/base/text.h"
#include <inttypes.h>
#include <stdio.h>

STATE_NUMBERS(unused, "unused");

enum { KEY_MAX = 96 };

static const char *key_of(char ret[KEY_MAX], const char *owner, uint64_t due_seq, uint32_t attempt)
{
	snprintf(ret, KEY_MAX, "%.40s/%" PRIu64 "/%u", owner, due_seq, (unsigned)attempt);
	return ret;
}

void unused_say(struct turn *turn, const struct claim_note *claim)
{
	SendUnused unused = { .due_seq = claim->seq, .attempt = (uint32_t)claim->version, .at_us = turn_now_us(turn) };
	char key[KEY_MAX], idem[KEY_MAX + 16];

	TEXT_COPY(unused.owner, claim->run);
	snprintf(idem, sizeof(idem), "unused/%s", key_of(key, unused.owner, unused.due_seq, unused.attempt));
	SAY(turn, send_unused, &unused, .shop = SHOP_OF_ALL, .key = unused.owner, .idem = idem);
}

void unused_remember(struct state *state, const struct message_meta *said, const SendUnused *unused)
{
	char key[KEY_MAX];

	STATE_PUT_NUMBER(state, unused, said->shop, key_of(key, unused->owner, unused->due_seq, unused->attempt),
		(uint64_t)unused->at_us);
}

bool unused_is(const struct state *state, const struct claim_row *claim)
{
	char key[KEY_MAX];

	return STATE_HAS(state, unused, SHOP_OF_ALL, key_of(key, claim->owner, claim->asked_seq, claim->attempt));
}
