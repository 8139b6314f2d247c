/*
 * reception.h: from a request to what it means: an answer at once, or a message that has to be let in first
 */
#ifndef PLATFORM_GATEWAY_RECEPTION_H
#define PLATFORM_GATEWAY_RECEPTION_H

#include "bus/base/clock.h"
#include "services/kit/web/admin_link.h"
#include "services/kit/web/request.h"
#include "services/platform/gateway/counters.h"
#include "services/platform/gateway/door.h"
#include "services/platform/gateway/page_texts.h"
#include "services/platform/gateway/secrets.h"
#include "services/platform/gateway/seen.h"

struct reception {
	struct secrets *secrets;
	const struct clock *clock;
	struct counters *counters;
	const char *shops_folder, *rejected_folder;
	const struct runtime *runtime; /* what was folded; NULL: nothing */
	struct seen *seen;             /* NULL: nobody is told */
	struct event *event;           /* room for one: it is large */
	struct warnings {
		int64_t last_us; /* boot time */
		uint64_t swallowed;
	} of_strangers, of_shops;
	int64_t certificate_asked_us; /* boot time: a certificate of SNS was asked for */
};

struct wish {
	struct buffer message; /* encoded */
	struct buffer *more;   /* further ones (party.h) */
	int more_count;
	const char *come_again; /* said or not: the answer is 503, with these words; a constant */
	bool stop;              /* as of door_knock */
	enum wish_of {
		WISH_WEBHOOK,
		WISH_OPTOUT,
		WISH_TAKE_BACK,
		WISH_ACTION
	} of;                           /* all but the first are answered with a page */
	const struct page_texts *texts; /* of an opt-out and of taking it back */
	int64_t undo_us;                /* as of page.h */
	struct admin_link link;         /* of an action */
	const char *doubt;              /* of a webhook: what in it counts as a no, as a constant; NULL: nothing */
	bool is_answered;     /* of a webhook: the answer is there already, unless the message is not let in */
	const char *location; /* the browser that asked goes on to there, also if the message is not taken; borrowed */
	char shop[64];
	char address_hash[40]; /* of an opt-out */
};

/* At the head, before a byte of the body is taken. false: `answer` is complete. *body_most is lowered to what such a request may have. */
bool reception_judge_head(
	struct reception *reception, const struct request *request, struct answer *answer, size_t *body_most);
/* true: `wish` is to be let in, and reception_finish makes the answer; false: `answer` is complete. */
bool reception_receive(
	struct reception *reception, const struct request *request, struct answer *answer, struct wish *wish);
void reception_finish(struct reception *reception, const struct wish *wish, enum door_end end, uint64_t seq,
	const char *why, struct answer *answer);

#endif
