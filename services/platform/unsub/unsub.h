/* unsub.h: the service that keeps the list of shoppers who must not be mailed */
#ifndef PLATFORM_UNSUB_UNSUB_H
#define PLATFORM_UNSUB_UNSUB_H

#include "bus/actor/service.h"
#include "proto/platform_topics.h"

extern const struct service unsub;

/* ---- adding to the list, and lifting ---- */

struct listing {
	const char *address_hash;
	OptoutSource source;
	int64_t since_us;
	const char *reason, *who, *cart_id; /* each may be NULL */
};

/* Puts an address on the list, unless it is there already for an equally strong reason. */
enum verdict list_person(const struct state *state, struct turn *turn, const struct listing *listing);

struct note {
	/* who: NULL or "" means the system; cart_id may be NULL */
	const char *action, *who, *grounds, *cart_id;
	const char *before, *after; /* each may be NULL */
};

void list_audit(struct turn *turn, const char *address_hash, const struct note *note);

/* ---- privacy.c: privacy requests of storefronts, until they are done ---- */

enum verdict privacy_hear(const struct state *state, const PrivacyRequest *request, struct turn *turn);
/* Settles one request by its id, or all requests of one person. */
enum verdict privacy_settle(const struct state *state, const AdminAction *action, struct turn *turn);
void privacy_remember(struct state *state, const struct message_meta *said, const PrivacyState *fact);

#endif
