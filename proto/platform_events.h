/*
 * platform_events.h: events about storefronts, shops and mails, each kind with an id that stays: the journal's MESSAGE_ID
 *
 * X(name, id, title). Never change an id: admins have written it into their searches. A process that says a message tells the event
 * that has the name of the message's topic (platform_topics.h: PLATFORM_LOG_ROWS). deploy/journal/cartbus.catalog says for each event what it
 * means and what to do.
 */
#ifndef PROTO_PLATFORM_EVENTS_H
#define PROTO_PLATFORM_EVENTS_H

#include "bus/base/log.h"

#define PLATFORM_EVENTS(X)                                                                                             \
	X(cart_changed, "f9a5c25f93ff4a6085393e0911cd8438", "a storefront told of a cart")                             \
	X(cart_checkout, "a3e94342477748208226141f09659767", "a storefront told of an order")                          \
	X(audit, "457a9e2afa39452bbc834babd40ccea4", "it was decided what becomes of a cart, a shopper, or a shop")    \
	X(optout_request, "23b1511e7a0f4a67ad07ad37ad1c2f4f", "a shopper said no")                                     \
	X(mail_feedback, "c9463e741f5f418caab216a9ec1b48af", "a mail came back: a bounce or a complaint")              \
	X(admin_action, "aaececae5e57424195d0f9efd2e4bda4", "the owner acted on a cart or a shopper")                  \
	X(privacy_request, "fe2db3283b8945ecadf36aac0a9c7761",                                                         \
		"a storefront asks to erase somebody, or to tell what is known")                                       \
	X(link_clicked, "9460f9d20640426fb2063ccd0feda166", "a return link was followed")                              \
	X(suppression, "62c8cde726ed42b598b39fe7574dd358", "the list of who is not mailed changed")                    \
	X(shop_status, "236b96115c544130afb31d19faaa126a", "a shop's mode changed")                                    \
	X(webhook_refused, "cc59e99698ab4881a7fc4efcec48fd1f",                                                         \
		"a request was not from the shop it named, or cannot be taken")                                        \
	X(webhook_unreadable, "58762ee371544176be0a151c844be3ba", "an authentic webhook cannot be read")               \
	X(spool_used, "eb849e4bd4c249beb89c68ecf657f321",                                                              \
		"the broker is away: what comes in is kept in the gateway's spool")                                    \
	X(spool_drained, "030718998a2848b6bd4a4f3835df1059", "the gateway's spool has drained")                        \
	X(text_refused, "b59daaffd8dd46f1ab762d08973cdf0c", "an edit of the owner's texts was refused")                \
	X(alarm_raised, "0b654bfc05924383859f519c2e2e97a8", "an alarm was raised")                                     \
	X(alarm_over, "14a04759390d4b9e8052136d0cb21730", "an alarm is over")

PLATFORM_EVENTS(LOG_EVENT_DECLARE)

#endif
