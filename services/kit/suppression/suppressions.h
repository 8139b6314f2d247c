/*
 * suppressions.h: who must not be mailed, as a service has folded it
 *
 * One row for each (shop, address hash). Rows that were lifted stay, with `lifted`.
 */
#ifndef KIT_SUPPRESSION_SUPPRESSIONS_H
#define KIT_SUPPRESSION_SUPPRESSIONS_H

#include "bus/actor/service.h"
#include "proto/platform_topics.h"

STATE_TABLE(suppressions, "suppressed", Suppression);

/* The fold. A row of an older version than the one that is known changes nothing. */
void suppressions_remember(struct state *state, const struct message_meta *said, const Suppression *row);

/* false: there is no row of this address. *ret is then all zero. */
bool suppressions_get(const struct state *state, const char *shop, const char *address_hash, Suppression *ret);
/* The version of the newest row of this address; 0: there is none. */
uint64_t suppressions_version(const struct state *state, const char *shop, const char *address_hash);

#endif
