/*
 * cartbus.c: the operator's rights on the bus
 *
 * Hears:     nothing; it asks on the control socket
 * Remembers: nothing
 * Says:      shop.status, admin.action, optout.request, audit, reminder.sent, reminder.refused, reminder.ambiguous, reminder.skipped,
 *            alarm, storefront.task, cart.checkout, mail.feedback, privacy.request
 * Read next: client.h (how it says and asks), subcommand.h (the tables of subcommands)
 */
#include "services/cartbus/core/cartbus.h"

#include "proto/cart_topics.h"

const struct service cartbus = {
	.name = "cartbus",
	.operator_ = true,
	.says = SAYING(SAYS(shop_status), SAYS(admin_action), SAYS(optout_request), SAYS(audit), SAYS(reminder_sent),
		SAYS(reminder_refused), SAYS(reminder_ambiguous), SAYS(reminder_skipped), SAYS(alarm),
		SAYS(storefront_task), SAYS(cart_checkout), SAYS(mail_feedback), SAYS(privacy_request)),
};
