/*
 * topics.h: every topic of cart recovery, with the message it carries
 *
 * X(name, "topic", Message, retention class, compaction group)
 *
 * Retention class: raw (what storefronts and shoppers sent, with personal payloads: 30 days), fact (what was decided: as long
 * as a cart is remembered), keep (for ever). What stops a mail is kept, from every sender: it names nobody but by keyed hashes and
 * the storefront's numbers, and must outlive the longest chase. A row whose last message is a tombstone has come to its end and is
 * forgotten as a fact is; one that stands, stays. A compaction group names the rows of which only the one with the highest version
 * is kept for newcomers, per (shop, key); topics that end each other's rows share one. NULL: not compacted.
 *
 * Read next: cart.proto, bus/actor/topic.h
 */
#ifndef PROTO_TOPICS_H
#define PROTO_TOPICS_H

#include "bus/actor/topic.h"
#include "cart.pb.h"

#define CART_TOPICS(X)                                                                                                 \
	X(cart_changed, "cart.changed", CartChanged, RETAIN_RAW, NULL)                                                 \
	X(cart_checkout, "cart.checkout", CartCheckout, RETAIN_KEEP, NULL)                                             \
	X(cart_closed, "cart.closed", CartClosed, RETAIN_FACT, NULL)                                                   \
	X(cart_state, "cart.state", CartState, RETAIN_FACT, "cart.state")                                              \
	X(cart_wake, "cart.wake", CartWake, RETAIN_FACT, NULL)                                                         \
	X(timer_set, "timer.set", TimerSet, RETAIN_FACT, "timer")                                                      \
	X(timer_cancel, "timer.cancel", TimerCancel, RETAIN_FACT, "timer")                                             \
	X(timer_fired, "timer.fired", TimerFired, RETAIN_FACT, "timer")                                                \
	X(tick_nightly, "tick.nightly", Tick, RETAIN_FACT, NULL)                                                       \
	X(tick_monthly, "tick.monthly", Tick, RETAIN_FACT, NULL)                                                       \
	X(tick_weekly, "tick.weekly", Tick, RETAIN_FACT, NULL)                                                         \
	X(reminder_due, "reminder.due", ReminderDue, RETAIN_FACT, NULL)                                                \
	X(send_claim, "send.claim", SendClaim, RETAIN_CLAIM, NULL)                                                     \
	X(send_unused, "send.unused", SendUnused, RETAIN_FACT, NULL)                                                   \
	X(reminder_sent, "reminder.sent", ReminderOutcome, RETAIN_KEEP, NULL)                                          \
	X(reminder_released, "reminder.released", ReminderOutcome, RETAIN_KEEP, NULL)                                  \
	X(reminder_refused, "reminder.refused", ReminderOutcome, RETAIN_KEEP, NULL)                                    \
	X(reminder_ambiguous, "reminder.ambiguous", ReminderOutcome, RETAIN_KEEP, NULL)                                \
	X(reminder_skipped, "reminder.skipped", ReminderOutcome, RETAIN_KEEP, NULL)                                    \
	X(optout_request, "optout.request", OptoutRequest, RETAIN_KEEP, NULL)                                          \
	X(mail_feedback, "mail.feedback", MailFeedback, RETAIN_KEEP, NULL)                                             \
	X(feedback_fetch, "feedback.fetch", FeedbackFetch, RETAIN_RAW, NULL)                                           \
	X(feedback_certificate, "feedback.certificate", FeedbackCertificate, RETAIN_FACT, "feedback.certificate")      \
	X(suppression, "suppression", Suppression, RETAIN_KEEP, "suppression")                                         \
	X(admin_action, "admin.action", AdminAction, RETAIN_KEEP, NULL)                                                \
	X(privacy_request, "privacy.request", PrivacyRequest, RETAIN_KEEP, NULL)                                       \
	X(privacy_state, "privacy.state", PrivacyState, RETAIN_KEEP, "privacy")                                        \
	X(link_clicked, "link.clicked", LinkClicked, RETAIN_FACT, NULL)                                                \
	X(shop_status, "shop.status", ShopStatus, RETAIN_KEEP, "shop.status")                                          \
	X(document, "document", Document, RETAIN_KEEP, "document")                                                     \
	X(gateway_away, "gateway.away", GatewayAway, RETAIN_KEEP, "gateway.away")                                      \
	X(storefront_task, "storefront.task", StorefrontTask, RETAIN_RAW, NULL)                                        \
	X(audit, "audit", Audit, RETAIN_KEEP, NULL)                                                                    \
	X(export_done, "export.done", ExportDone, RETAIN_FACT, NULL)                                                   \
	X(summary_done, "summary.done", SummaryDone, RETAIN_FACT, NULL)                                                \
	X(summary_due, "summary.due", SummaryDue, RETAIN_FACT, NULL)                                                   \
	X(summary_claim, "summary.claim", SummaryClaim, RETAIN_CLAIM, NULL)                                            \
	X(summary_mailed, "summary.mailed", SummaryMailed, RETAIN_FACT, NULL)                                          \
	X(sheet_due, "sheet.due", SheetDue, RETAIN_FACT, NULL)                                                         \
	X(sheet_claim, "sheet.claim", SheetClaim, RETAIN_CLAIM, NULL)                                                  \
	X(sheet_done, "sheet.done", SheetDone, RETAIN_FACT, NULL)                                                      \
	X(model_used, "model.used", ModelUsed, RETAIN_FACT, NULL)                                                      \
	X(alarm, "alarm", Alarm, RETAIN_FACT, "alarm")                                                                 \
	X(alarm_due, "alarm.due", AlarmDue, RETAIN_FACT, NULL)                                                         \
	X(alarm_told, "alarm.told", AlarmTold, RETAIN_FACT, NULL)                                                      \
	X(gateway_seen, "gateway.seen", GatewaySeen, RETAIN_FACT, NULL)                                                \
	X(queue_failed, "queue.failed", QueueFailed, RETAIN_FACT, NULL)

/*
 * X(topic): what forbids a mail, and the rows it comes to: the broker writes these to the side log as well, from which a restore learns
 * what the backup does not know. None of them names anybody but by keyed hashes and the storefront's numbers.
 */
#define CART_STOPS(X)                                                                                                  \
	X(cart_checkout)                                                                                               \
	X(optout_request)                                                                                              \
	X(mail_feedback)                                                                                               \
	X(admin_action)                                                                                                \
	X(privacy_request)                                                                                             \
	X(privacy_state)                                                                                               \
	X(suppression)                                                                                                 \
	X(shop_status)

/*
 * X(Message, field): the strings that a tap shows to who has no right to see payloads in clear. All others are masked, a new one as
 * well until it is listed here: nothing that names or describes a person, what he bought, or what lets somebody act as him.
 */
#define CART_SHOWN(X)                                                                                                  \
	X(CartIds, cart_id)                                                                                            \
	X(CartIds, email_hash)                                                                                         \
	X(CartChanged, platform_topic)                                                                                 \
	X(CartChanged, currency)                                                                                       \
	X(CartCheckout, platform_topic)                                                                                \
	X(CartCheckout, currency)                                                                                      \
	X(CartCheckout, payment_status)                                                                                \
	X(CartClosed, cart_id)                                                                                         \
	X(CartState, currency)                                                                                         \
	X(CartState, merged_from)                                                                                      \
	X(CartState, merged_into)                                                                                      \
	X(CartState, order_currency)                                                                                   \
	X(CartState, payment_status)                                                                                   \
	X(TimerSet, name)                                                                                              \
	X(TimerSet, cron)                                                                                              \
	X(TimerSet, zone)                                                                                              \
	X(TimerSet, topic)                                                                                             \
	X(TimerCancel, name)                                                                                           \
	X(TimerFired, name)                                                                                            \
	X(TimerFired, topic)                                                                                           \
	X(CartWake, cart_id)                                                                                           \
	X(Tick, name)                                                                                                  \
	X(SendClaim, cart_id)                                                                                          \
	X(SendClaim, address_hash)                                                                                     \
	X(SendClaim, owner)                                                                                            \
	X(SendUnused, owner)                                                                                           \
	X(ReminderOutcome, cart_id)                                                                                    \
	X(ReminderOutcome, address_hash)                                                                               \
	X(ReminderOutcome, transport)                                                                                  \
	X(ReminderOutcome, currency)                                                                                   \
	X(OptoutRequest, address_hash)                                                                                 \
	X(OptoutRequest, cart_id)                                                                                      \
	X(MailFeedback, address_hash)                                                                                  \
	X(MailFeedback, cart_id)                                                                                       \
	X(MailFeedback, message_id)                                                                                    \
	X(FeedbackFetch, topic_arn)                                                                                    \
	X(FeedbackCertificate, url)                                                                                    \
	X(Suppression, address_hash)                                                                                   \
	X(AdminAction, cart_id)                                                                                        \
	X(AdminAction, address_hash)                                                                                   \
	X(AdminAction, link_id)                                                                                        \
	X(AdminAction, request_id)                                                                                     \
	X(PrivacyRequest, request_id)                                                                                  \
	X(PrivacyRequest, address_hash)                                                                                \
	X(PrivacyRequest, platform_topic)                                                                              \
	X(LinkClicked, cart_id)                                                                                        \
	X(Document, kind)                                                                                              \
	X(Document, digest)                                                                                            \
	X(Audit, action)                                                                                               \
	X(Audit, cart_id)                                                                                              \
	X(Audit, address_hash)                                                                                         \
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
	X(SheetDone, day)                                                                                              \
	X(GatewayAway, gateway)                                                                                        \
	X(ModelUsed, purpose)                                                                                          \
	X(ModelUsed, outcome)                                                                                          \
	X(ModelUsed, cart_id)                                                                                          \
	X(Alarm, kind)                                                                                                 \
	X(Alarm, text)                                                                                                 \
	X(Alarm, remedy)                                                                                               \
	X(AlarmDue, way)                                                                                               \
	X(AlarmTold, way)                                                                                              \
	X(AlarmTold, kind)                                                                                             \
	X(QueueFailed, queue)                                                                                          \
	X(GatewaySeen, gateway)                                                                                        \
	X(TopicSeen, topic)                                                                                            \
	X(StorefrontTask, id)                                                                                          \
	X(StorefrontTask, platform_topic)

/*
 * X(topic, cart, word): the process that says such a message tells the journal so, under the id of events.h that is called alike: with the cart,
 * and with a word of the message's that CART_SHOWN lists. A topic of CART_KNOWN names a cart, and is told of when somebody fails at it.
 */
#define TOLD_AT(message, member) offsetof(message, member)
#define CART_TOLD(X)                                                                                                   \
	X(cart_changed, TOLD_AT(CartChanged, ids.cart_id), TOLD_AT(CartChanged, platform_topic))                       \
	X(cart_checkout, TOLD_AT(CartCheckout, ids.cart_id), TOLD_AT(CartCheckout, platform_topic))                    \
	X(cart_wake, TOLD_AT(CartWake, cart_id), TOPIC_NOWHERE)                                                        \
	X(audit, TOLD_AT(Audit, cart_id), TOLD_AT(Audit, action))                                                      \
	X(reminder_sent, TOLD_AT(ReminderOutcome, cart_id), TOLD_AT(ReminderOutcome, transport))                       \
	X(reminder_released, TOLD_AT(ReminderOutcome, cart_id), TOLD_AT(ReminderOutcome, transport))                   \
	X(reminder_refused, TOLD_AT(ReminderOutcome, cart_id), TOLD_AT(ReminderOutcome, transport))                    \
	X(reminder_ambiguous, TOLD_AT(ReminderOutcome, cart_id), TOLD_AT(ReminderOutcome, transport))                  \
	X(reminder_skipped, TOLD_AT(ReminderOutcome, cart_id), TOLD_AT(ReminderOutcome, transport))                    \
	X(optout_request, TOLD_AT(OptoutRequest, cart_id), TOPIC_NOWHERE)                                              \
	X(mail_feedback, TOLD_AT(MailFeedback, cart_id), TOPIC_NOWHERE)                                                \
	X(admin_action, TOLD_AT(AdminAction, cart_id), TOPIC_NOWHERE)                                                  \
	X(privacy_request, TOPIC_NOWHERE, TOLD_AT(PrivacyRequest, platform_topic))                                     \
	X(link_clicked, TOLD_AT(LinkClicked, cart_id), TOPIC_NOWHERE)                                                  \
	X(suppression, TOPIC_NOWHERE, TOPIC_NOWHERE)                                                                   \
	X(shop_status, TOPIC_NOWHERE, TOPIC_NOWHERE)
#define CART_KNOWN(X)                                                                                                  \
	X(cart_closed, TOLD_AT(CartClosed, cart_id))                                                                   \
	X(cart_state, TOLD_AT(CartState, ids.cart_id))                                                                 \
	X(reminder_due, TOLD_AT(ReminderDue, cart.ids.cart_id))                                                        \
	X(send_claim, TOLD_AT(SendClaim, cart_id))                                                                     \
	X(model_used, TOLD_AT(ModelUsed, cart_id))

/* Every message names a shop; what is about the installation as a whole names this one. No shop may be called so. */
#define SHOP_OF_ALL "cartbus"

#define CART_TOPIC_DECLARE(name, topic, message, class, group) TOPIC_DECLARE(name, message);
CART_TOPICS(CART_TOPIC_DECLARE)

/* All of them, NULL at the end: for taps, traces and tools that meet every topic. */
extern const struct topic *const cart_topics[];

#endif
