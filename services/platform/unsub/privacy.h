/*
 * privacy.h: what storefronts ask for on behalf of a person's rights, until it is done
 */
#ifndef PLATFORM_UNSUB_PRIVACY_H
#define PLATFORM_UNSUB_PRIVACY_H

#include "bus/actor/service.h"
#include "proto/platform_topics.h"

enum verdict privacy_hear(const struct state *state, const PrivacyRequest *request, struct turn *turn);
/* One request by its id, or all of one person. */
enum verdict privacy_settle(const struct state *state, const AdminAction *action, struct turn *turn);
void privacy_remember(struct state *state, const struct message_meta *said, const PrivacyState *fact);

#endif
