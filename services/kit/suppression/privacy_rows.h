/*
 * privacy_rows.h: what storefronts asked for on behalf of a person's rights, as unsub folds it
 *
 * One row for each (shop, request id). A restore reads the rows of a copied state (services/cartbus/backup/recall.c).
 */
#ifndef KIT_SUPPRESSION_PRIVACY_ROWS_H
#define KIT_SUPPRESSION_PRIVACY_ROWS_H

#include "bus/actor/state.h"
#include "platform.pb.h"

STATE_TABLE(privacy_rows, "privacy", PrivacyState);

#endif
