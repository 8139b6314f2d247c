/*
 * cart_topics.h: the topics of cart recovery, with the message that each carries
 *
 * The lists are as in platform_topics.h, which this header includes.
 * Read next: cart.proto
 */
#ifndef PROTO_CART_TOPICS_H
#define PROTO_CART_TOPICS_H

#include "cart.pb.h"
#include "proto/platform_topics.h"

#define CART_TOPICS(X)                                                                                                 \
	X(cart_closed, "cart.closed", CartClosed, RETAIN_FACT, NULL)                                                   \
	X(cart_state, "cart.state", CartState, RETAIN_FACT, "cart.state")                                              \
	X(cart_wake, "cart.wake", CartWake, RETAIN_FACT, NULL)                                                         \
	X(reminder_due, "reminder.due", ReminderDue, RETAIN_FACT, NULL)                                                \
	X(send_claim, "send.claim", SendClaim, RETAIN_CLAIM, NULL)                                                     \
	X(send_unused, "send.unused", SendUnused, RETAIN_FACT, NULL)                                                   \
	X(reminder_sent, "reminder.sent", ReminderOutcome, RETAIN_KEEP, NULL)                                          \
	X(reminder_released, "reminder.released", ReminderOutcome, RETAIN_KEEP, NULL)                                  \
	X(reminder_refused, "reminder.refused", ReminderOutcome, RETAIN_KEEP, NULL)                                    \
	X(reminder_ambiguous, "reminder.ambiguous", ReminderOutcome, RETAIN_KEEP, NULL)                                \
	X(reminder_skipped, "reminder.skipped", ReminderOutcome, RETAIN_KEEP, NULL)                                    \
	X(export_done, "export.done", ExportDone, RETAIN_FACT, NULL)                                                   \
	X(summary_done, "summary.done", SummaryDone, RETAIN_FACT, NULL)                                                \
	X(summary_due, "summary.due", SummaryDue, RETAIN_FACT, NULL)                                                   \
	X(summary_claim, "summary.claim", SummaryClaim, RETAIN_CLAIM, NULL)                                            \
	X(summary_mailed, "summary.mailed", SummaryMailed, RETAIN_FACT, NULL)                                          \
	X(sheet_due, "sheet.due", SheetDue, RETAIN_FACT, NULL)                                                         \
	X(sheet_claim, "sheet.claim", SheetClaim, RETAIN_CLAIM, NULL)                                                  \
	X(sheet_done, "sheet.done", SheetDone, RETAIN_FACT, NULL)

/* Of these messages; those of platform.proto that lie in them are shown as PLATFORM_SHOWN says. */
#define CART_SHOWN(X)                                                                                                  \
	X(CartClosed, cart_id)                                                                                         \
	X(CartState, currency)                                                                                         \
	X(CartState, merged_from)                                                                                      \
	X(CartState, merged_into)                                                                                      \
	X(CartState, order_currency)                                                                                   \
	X(CartState, payment_status)                                                                                   \
	X(CartWake, cart_id)                                                                                           \
	X(SendClaim, cart_id)                                                                                          \
	X(SendClaim, address_hash)                                                                                     \
	X(SendClaim, owner)                                                                                            \
	X(SendUnused, owner)                                                                                           \
	X(ReminderOutcome, cart_id)                                                                                    \
	X(ReminderOutcome, address_hash)                                                                               \
	X(ReminderOutcome, transport)                                                                                  \
	X(ReminderOutcome, currency)                                                                                   \
	X(ExportDone, day)                                                                                             \
	X(SummaryDone, month)                                                                                          \
	X(SummaryDue, month)                                                                                           \
	X(SummaryClaim, month)                                                                                         \
	X(SummaryClaim, recipient)                                                                                     \
	X(SummaryClaim, owner)                                                                                         \
	X(SummaryMailed, month)                                                                                        \
	X(SummaryMailed, recipient)                                                                                    \
	X(SheetDue, day)                                                                                               \
	X(SheetClaim, day)                                                                                             \
	X(SheetClaim, owner)                                                                                           \
	X(SheetDone, day)

#define CART_LOG_ROWS(X)                                                                                               \
	X(cart_wake, LOG_ROW_AT(CartWake, cart_id), TOPIC_NOWHERE)                                                     \
	X(reminder_sent, LOG_ROW_AT(ReminderOutcome, cart_id), LOG_ROW_AT(ReminderOutcome, transport))                 \
	X(reminder_released, LOG_ROW_AT(ReminderOutcome, cart_id), LOG_ROW_AT(ReminderOutcome, transport))             \
	X(reminder_refused, LOG_ROW_AT(ReminderOutcome, cart_id), LOG_ROW_AT(ReminderOutcome, transport))              \
	X(reminder_ambiguous, LOG_ROW_AT(ReminderOutcome, cart_id), LOG_ROW_AT(ReminderOutcome, transport))            \
	X(reminder_skipped, LOG_ROW_AT(ReminderOutcome, cart_id), LOG_ROW_AT(ReminderOutcome, transport))
#define CART_KNOWN(X)                                                                                                  \
	X(cart_closed, LOG_ROW_AT(CartClosed, cart_id))                                                                \
	X(cart_state, LOG_ROW_AT(CartState, ids.cart_id))                                                              \
	X(reminder_due, LOG_ROW_AT(ReminderDue, cart.ids.cart_id))                                                     \
	X(send_claim, LOG_ROW_AT(SendClaim, cart_id))

#define CART_TOPIC_DECLARE(name, topic, message, class, group) TOPIC_DECLARE(name, message);
CART_TOPICS(CART_TOPIC_DECLARE)

/* All of them, ended by a NULL: a table of the face `topics`. */
extern const struct topic *const cart_topics[];

#endif
