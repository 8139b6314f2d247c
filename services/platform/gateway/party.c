/* party.c: several messages of one request, let in together and answered once */
#include "services/platform/gateway/party.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include <stdlib.h>

struct party {
	int left;
	enum door_end worst;
	uint64_t seq;
	char why[200];
	door_fn *answer;
	void *context;
};

/* DUPLICATE is the best: it was all there before. */
static int badness(enum door_end end)
{
	static const int order[] = {
		[DOOR_DUPLICATE] = 0, [DOOR_ACCEPTED] = 1, [DOOR_SPOOLED] = 2, [DOOR_REFUSED] = 3
	};
	return order[end];
}

static void on_one(void *context, enum door_end end, uint64_t seq, const char *why)
{
	struct party *party = context;

	if (badness(end) >= badness(party->worst)) {
		party->worst = end;
		party->seq = seq;
		TEXT_COPY(party->why, why ? why : "");
	}
	if (--party->left > 0)
		return;
	party->answer(party->context, party->worst, party->seq, party->why);
	free(party);
}

void party_knock(struct door *door, struct wish *wish, door_fn *answer, void *context)
{
	struct party *party;
	int count = wish->more_count;

	if (count == 0) {
		door_knock(door, &wish->message, wish->stop, answer, context);
		return;
	}
	party = memory_new(sizeof(*party));
	*party = (struct party){ .left = count + 1, .worst = DOOR_DUPLICATE, .answer = answer, .context = context };
	/* answered from door_work or runtime_work alone: not before the last of these */
	door_knock(door, &wish->message, wish->stop, on_one, party);
	for (int i = 0; i < count; i++)
		door_knock(door, &wish->more[i], wish->stop, on_one, party);
}

void party_clear(struct wish *wish)
{
	buffer_free(&wish->message);
	for (int i = 0; i < wish->more_count; i++)
		buffer_free(&wish->more[i]);
	free(wish->more);
	wish->more = NULL;
	wish->more_count = 0;
}
