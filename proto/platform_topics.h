/*
 * platform_topics.h: the topics of the platform and of the storefronts, with the message that each carries
 *
 * X(name, "topic", Message, retention class, compaction group)
 *
 * Retention class: raw (messages of storefronts and shoppers, with personal payloads: 30 days), fact (decisions: as long as a cart is
 * remembered), keep (for ever). Messages that stop a mail are kept, from every sender: they name nobody but by keyed hashes and the
 * storefront's numbers, and must outlive the longest chase. A row whose last message is a tombstone has come to its end and is
 * forgotten as a fact is; one that stands, stays. A compaction group names the rows of which only the one with the highest version
 * is kept for newcomers, per (shop, key); topics that end each other's rows share one. NULL: not compacted.
 *
 * Every system may include this header. A system's own topics stand beside it (cart_topics.h).
 * Read next: platform.proto, bus/actor/topic.h
 */
#ifndef PROTO_PLATFORM_TOPICS_H
#define PROTO_PLATFORM_TOPICS_H

#include "bus/actor/topic.h"
#include "platform.pb.h"

#define PLATFORM_TOPICS(X)                                                                                             \
	X(cart_changed, "cart.changed", CartChanged, RETAIN_RAW, NULL)                                                 \
	X(cart_checkout, "cart.checkout", CartCheckout, RETAIN_KEEP, NULL)                                             \
	X(timer_set, "timer.set", TimerSet, RETAIN_FACT, "timer")                                                      \
	X(timer_cancel, "timer.cancel", TimerCancel, RETAIN_FACT, "timer")                                             \
	X(timer_fired, "timer.fired", TimerFired, RETAIN_FACT, "timer")                                                \
	X(tick_nightly, "tick.nightly", Tick, RETAIN_FACT, NULL)                                                       \
	X(tick_monthly, "tick.monthly", Tick, RETAIN_FACT, NULL)                                                       \
	X(tick_weekly, "tick.weekly", Tick, RETAIN_FACT, NULL)                                                         \
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
#define PLATFORM_STOPS(X)                                                                                              \
	X(cart_checkout)                                                                                               \
	X(optout_request)                                                                                              \
	X(mail_feedback)                                                                                               \
	X(admin_action)                                                                                                \
	X(privacy_request)                                                                                             \
	X(privacy_state)                                                                                               \
	X(suppression)                                                                                                 \
	X(shop_status)

/*
 * X(Message, field): the strings that a tap shows to a peer without the right to see payloads in clear. All others are masked, also a new
 * one until it is listed here. A string may be listed only if it neither names nor describes a person, tells nothing that the person bought, and
 * lets nobody act as the person.
 */
#define PLATFORM_SHOWN(X)                                                                                              \
	X(CartIds, cart_id)                                                                                            \
	X(CartIds, email_hash)                                                                                         \
	X(CartChanged, platform_topic)                                                                                 \
	X(CartChanged, currency)                                                                                       \
	X(CartCheckout, platform_topic)                                                                                \
	X(CartCheckout, currency)                                                                                      \
	X(CartCheckout, payment_status)                                                                                \
	X(TimerSet, name)                                                                                              \
	X(TimerSet, cron)                                                                                              \
	X(TimerSet, zone)                                                                                              \
	X(TimerSet, topic)                                                                                             \
	X(TimerCancel, name)                                                                                           \
	X(TimerFired, name)                                                                                            \
	X(TimerFired, topic)                                                                                           \
	X(Tick, name)                                                                                                  \
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
 * X(topic, cart, word): the process that says such a message tells the journal so, under the id of platform_events.h that has the same name:
 * with the cart, and with a word of the message that PLATFORM_SHOWN lists. A topic of PLATFORM_KNOWN names a cart, and is told of when a
 * process fails at it.
 */
#define LOG_ROW_AT(message, member) offsetof(message, member)
#define PLATFORM_LOG_ROWS(X)                                                                                           \
	X(cart_changed, LOG_ROW_AT(CartChanged, ids.cart_id), LOG_ROW_AT(CartChanged, platform_topic))                 \
	X(cart_checkout, LOG_ROW_AT(CartCheckout, ids.cart_id), LOG_ROW_AT(CartCheckout, platform_topic))              \
	X(audit, LOG_ROW_AT(Audit, cart_id), LOG_ROW_AT(Audit, action))                                                \
	X(optout_request, LOG_ROW_AT(OptoutRequest, cart_id), TOPIC_NOWHERE)                                           \
	X(mail_feedback, LOG_ROW_AT(MailFeedback, cart_id), TOPIC_NOWHERE)                                             \
	X(admin_action, LOG_ROW_AT(AdminAction, cart_id), TOPIC_NOWHERE)                                               \
	X(privacy_request, TOPIC_NOWHERE, LOG_ROW_AT(PrivacyRequest, platform_topic))                                  \
	X(link_clicked, LOG_ROW_AT(LinkClicked, cart_id), TOPIC_NOWHERE)                                               \
	X(suppression, TOPIC_NOWHERE, TOPIC_NOWHERE)                                                                   \
	X(shop_status, TOPIC_NOWHERE, TOPIC_NOWHERE)
#define PLATFORM_KNOWN(X) X(model_used, LOG_ROW_AT(ModelUsed, cart_id))

/* Every message names a shop; what is about the installation as a whole names this one. No shop may be called so. */
#define SHOP_OF_ALL "cartbus"

#define PLATFORM_TOPIC_DECLARE(name, topic, message, class, group) TOPIC_DECLARE(name, message);
PLATFORM_TOPICS(PLATFORM_TOPIC_DECLARE)

/* All of them, ended by a NULL: a table of the face `topics` (services/systems.cmake). */
extern const struct topic *const platform_topics[];

#endif
