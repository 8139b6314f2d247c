/*
 * routed.h: a mail on its way to a route that says a message about it
 */
#ifndef PLATFORM_MAILIN_ROUTED_H
#define PLATFORM_MAILIN_ROUTED_H

#include "bus/actor/runtime/runtime.h"
#include "bus/base/list.h"
#include "services/platform/mailin/mailbox.h"

/* What all mails share; borrowed for as long as one is under way. */
struct routing {
	const struct mail_route *const *tables;
	struct blob_uses *uses;
	struct runtime *runtime;
	const struct clock *clock;
	struct list said; /* whose messages are not answered yet */
};

void routing_init(struct routing *routing, const struct mail_route *const *tables, struct blob_uses *uses,
	struct runtime *runtime, const struct clock *clock);
void routing_clear(struct routing *routing); /* the runtime may not call back after this */

enum routed_end {
	ROUTED_SAID,    /* confirmed, or it was before */
	ROUTED_AWAY,    /* the broker is away: come again */
	ROUTED_NO_ROOM, /* the disk or the shop's room is full: come again */
	ROUTED_FAILED, /* the disk fails, or the broker refuses the message: a fault of this installation; come again */
	ROUTED_REFUSED /* by the route, for good */
};
typedef void routed_fn(void *context, enum routed_end end, const char *why); /* why: in words; "" */

struct routed;

struct routed *routed_new(struct routing *routing, const struct mailbox *mailbox);
void routed_free(struct routed *routed); /* before routed_finish, or to have no answer. Takes NULL */
void routed_add(struct routed *routed, struct bytes part);
void routed_fail(struct routed *routed, int r);    /* its source failed, with this negative errno */
size_t routed_memory(const struct routed *routed); /* bytes of the mail that it holds in memory; NULL: 0 */
/*
 * All of it is there. Answers once, perhaps from inside; then it is freed. The mail is on the disk before the message is said. Strings are
 * borrowed for the call.
 */
void routed_finish(struct routed *routed, const char *sender, const char (*recipients)[ADDRESS_MAX + 1], int count,
	routed_fn *answer, void *context);

#endif
