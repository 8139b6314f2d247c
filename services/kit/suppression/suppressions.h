/*
 * suppressions.h: who must not be mailed, as a service has folded it
 *
 * One row for each (shop, address hash). Rows that were lifted stay, with `lifted`.
 */
#ifndef KIT_SUPPRESSION_SUPPRESSIONS_H
#define KIT_SUPPRESSION_SUPPRESSIONS_H

#include "bus/actor/service.h"
#include "bus/actor/state.h"
#include "platform.pb.h"
#include "proto/platform_topics.h"

STATE_TABLE(suppressions, "suppressed", Suppression);

/* The fold. A row of an older version than the one that is known changes nothing. */
void suppressions_remember(struct state *state, const struct message_meta *said, const Suppression *row);

/* false: there is no row of this address. *ret is then all zero. */
bool suppressions_get(const struct state *state, const char *shop, const char *address_hash, Suppression *ret);
/* The version of the newest row of this address; 0: there is none. */
uint64_t suppressions_version_of(const struct state *state, const char *shop, const char *address_hash);

/* ---- the ways onto the list of people who must not be mailed, in words ---- */

enum { OPTOUT_LINE_MAX = 120 };

const char *optout_name(OptoutSource source);          /* "one-click": for lists and options; never NULL */
int optout_named(const char *name, OptoutSource *ret); /* -EINVAL */
const char *optout_words(OptoutSource source);         /* "the shopper reported a mail as spam" */
const char *optout_who(OptoutSource source);           /* whose word it is, when nobody else is named */
/* "listed: page, since 2026-11-21 10:00 UTC"; `row` NULL: "not listed". */
const char *optout_line(const Suppression *row, char ret[OPTOUT_LINE_MAX]);

/*
 * What storefronts asked for on behalf of a person's rights, as unsub folds it
 *
 * One row for each (shop, request id). A restore reads the rows of a copied state (services/cartbus/backup/recover_sends.c).
 */

STATE_TABLE(privacy_rows, "privacy", PrivacyState);

#endif
