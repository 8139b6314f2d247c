/* guest.c: the topics and the text of the guestbook, and what it brings to the processes that all systems share */
#include "guest.h"
#include "bus/base/text.h"
#include "proto/topics.h"
#include "services/kit/documents/kinds.h"
#include "services/kit/time/timer_setter.h"
#include "services/kit/words/names.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static const size_t blobs[] = { offsetof(GuestEntry, blob), TOPIC_NOWHERE };
TOPIC_DEFINE_NAMING(guest_wrote, "guest.wrote", GuestEntry, RETAIN_RAW, NULL, blobs);
TOPIC_DEFINE_NAMING(guest_due, "guest.due", GuestEntry, RETAIN_RAW, NULL, blobs);
TOPIC_DEFINE_NAMING(guest_shown, "guest.shown", GuestEntry, RETAIN_RAW, NULL, blobs);

/* NULL: it does not say after how many seconds. */
static void *parse(const struct document_text *text, const char *with)
{
	int64_t *seconds = malloc(sizeof(*seconds));
	char end = '\0';

	(void)with;
	if (seconds && sscanf(text->text, "show after %4" SCNd64 " seconds%c", seconds, &end) == 2 && *seconds >= 0)
		return seconds;
	free(seconds);
	return NULL;
}

static void judge(const struct document_text *text, struct document_opinion *ret)
{
	void *parsed = parse(text, "");

	TEXT_COPY(ret->wrong, parsed ? "" : "line 1: expected \"show after N seconds\"");
	free(parsed);
}

const struct document_kind guestbook_document = { "guestbook", ".txt", .bytes_max = 1000, .is_optional = true,
	.without = "nothing is shown", .reading = { parse, free }, .judge = judge };

NAMES_FIELDS(GuestEntry)
static const struct message_names messages[] = { NAMES_ROW(GuestEntry){ NULL, NULL } };
static const struct enum_names enums[] = { { NULL, 0, NULL } };
const struct names guest_names[] = { { messages, enums }, { NULL, NULL } };
const struct topic *const guest_topics[] = { &topic_guest_wrote, &topic_guest_due, &topic_guest_shown, NULL };
const struct topic *const guest_timers[] = { &topic_guest_due, NULL };
const struct topic *const guest_said[] = { &topic_guest_wrote, NULL };
const struct timer_setter guest_timer_setters[] = { { "guestbook", &topic_guest_due }, { NULL, NULL } };
const struct document_kind *const guest_documents[] = { &guestbook_document, NULL };
