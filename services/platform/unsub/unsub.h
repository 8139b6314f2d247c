/*
 * unsub.h: the one list of people who must not be mailed, as a service
 */
#ifndef PLATFORM_UNSUB_UNSUB_H
#define PLATFORM_UNSUB_UNSUB_H

#include "bus/actor/service.h"
#include "proto/platform_topics.h"

extern const struct service unsub;

/* ---- onto the list, and off it ---- */

struct listing {
	const char *address_hash;
	OptoutSource source;
	int64_t since_us;
	const char *reason, *who, *cart_id; /* each may be NULL */
};

/* Puts an address on the list, unless it stands there for as good a reason. */
enum verdict list_person(const struct state *state, struct turn *turn, const struct listing *listing);

struct note {
	const char *action, *who, *grounds, *cart_id; /* who NULL or "": system; cart_id may be NULL */
	const char *before, *after;                   /* each may be NULL */
};

void list_audit(struct turn *turn, const char *address_hash, const struct note *note);

/* ---- privacy.c: what storefronts ask for on behalf of a person's rights, until it is done ---- */

enum verdict privacy_hear(const struct state *state, const PrivacyRequest *request, struct turn *turn);
/* One request by its id, or all of one person. */
enum verdict privacy_settle(const struct state *state, const AdminAction *action, struct turn *turn);
void privacy_remember(struct state *state, const struct message_meta *said, const PrivacyState *fact);

#endif
