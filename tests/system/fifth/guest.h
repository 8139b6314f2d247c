/* guest.h: the guestbook: its topics, its text, its service */
#ifndef FIFTH_GUEST_H
#define FIFTH_GUEST_H

#include "bus/actor/service.h"
#include "guest.pb.h"

TOPIC_DECLARE(guest_wrote, GuestEntry);
TOPIC_DECLARE(guest_due, GuestEntry);
TOPIC_DECLARE(guest_shown, GuestEntry);

extern const struct document_kind guestbook_document; /* read as an int64_t: seconds to wait */
extern const struct service guestbook;
struct guestbook {
	char folder[256]; /* <folder>/SHOP/ID.txt */
};
SERVICE_CONTEXT(guestbook, struct guestbook);

#endif
