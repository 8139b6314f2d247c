/*
 * suppressions.h: the shoppers who must not be mailed, as a service has folded them
 *
 * There is one row for each (shop, address hash). Lifted rows stay, with `lifted` set.
 */
#ifndef KIT_SUPPRESSION_SUPPRESSIONS_H
#define KIT_SUPPRESSION_SUPPRESSIONS_H

#include "bus/actor/service.h"
#include "bus/actor/state.h"
#include "platform.pb.h"
#include "proto/platform_topics.h"

STATE_TABLE(suppressions, "suppressed", Suppression);

/* The fold. A row with an older version than the known row changes nothing. */
void suppressions_remember(struct state *state, const struct message_meta *said, const Suppression *row);

/* false: there is no row of this address. *ret is then all zero. */
bool suppressions_get(const struct state *state, const char *shop, const char *address_hash, Suppression *ret);
/* The version of the newest row of this address; 0: there is none. */
uint64_t suppressions_version_of(const struct state *state, const char *shop, const char *address_hash);

/* ---- the ways onto the list of suppressed shoppers, in words ---- */

enum { OPTOUT_LINE_MAX = 120 };

/* the name for lists and options, such as "one-click"; never NULL */
const char *optout_name(OptoutSource source);
int optout_named(const char *name, OptoutSource *ret); /* -EINVAL */
const char *optout_words(OptoutSource source);         /* in words: "the shopper reported a mail as spam" */
const char *optout_who(OptoutSource source);           /* who asked for it, if no person is named */
/* Writes "listed: page, since 2026-11-21 10:00 UTC"; `row` NULL: "not listed". */
const char *optout_line(const Suppression *row, char ret[OPTOUT_LINE_MAX]);

/*
 * The privacy requests of storefronts, as unsub folds them
 *
 * There is one row for each (shop, request id). A restore reads the rows of a copied state
 * (services/cartbus/backup/recall_stops.c).
 */

STATE_TABLE(privacy_rows, "privacy", PrivacyState);

#endif
