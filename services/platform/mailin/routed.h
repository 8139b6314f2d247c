/* routed.h: delivers a mail to a route, which publishes a message about it */
#ifndef PLATFORM_MAILIN_ROUTED_H
#define PLATFORM_MAILIN_ROUTED_H

#include "bus/actor/runtime/runtime.h"
#include "bus/base/list.h"
#include "services/platform/mailin/mailbox.h"

/* Shared by all mails; borrowed while a mail is being delivered. */
struct routing {
	const struct mail_route *const *tables;
	struct blob_uses *uses;
	struct runtime *runtime;
	const struct clock *clock;
	struct list said; /* mails whose messages are not answered yet */
};

void routing_init(struct routing *routing, const struct mail_route *const *tables, struct blob_uses *uses,
	struct runtime *runtime, const struct clock *clock);
void routing_clear(struct routing *routing); /* the runtime may not call back after this */

enum routed_end {
	ROUTED_SAID,    /* the message is confirmed, now or before */
	ROUTED_AWAY,    /* the broker is away: try again */
	ROUTED_NO_ROOM, /* the disk or the shop's limit is full: try again */
	ROUTED_FAILED,  /* the disk fails: try again */
	ROUTED_REFUSED  /* the route refused it for good, or the broker its message */
};
typedef void routed_fn(void *context, enum routed_end end, const char *why); /* `why`: in words; may be "" */

struct routed;

struct routed *routed_new(struct routing *routing, const struct mailbox *mailbox);
/* to be called before routed_finish, or to get no answer; takes NULL */
void routed_free(struct routed *routed);
void routed_add(struct routed *routed, struct bytes part);
void routed_fail(struct routed *routed, int r);      /* its source failed, with this negative errno */
bool routed_has_failed(const struct routed *routed); /* what is added from now on counts for nothing */
size_t routed_memory(const struct routed *routed);   /* bytes of the mail in memory; 0 for NULL */
/*
 * To be called when the mail is complete. `answer` is called once, perhaps inside this call; then `routed` is
 * freed. The mail is on disk before the message is published. Strings are borrowed for the call.
 */
void routed_finish(struct routed *routed, const char *sender, const char (*recipients)[ADDRESS_MAX + 1], int count,
	routed_fn *answer, void *context);

#endif
