/*
 * reminder_mail.c: sets up the sender's context, writes the mail of a reminder, and lists the running mails
 *
 * Owns:      the list of the mails that a sender works on.
 * Promises:  the same reminder, facts and time give the same bytes; the unsubscribe link is signed for this
 *            shopper and shop alone.
 * Fails by:  -EINVAL with the reason in words.
 * Read next: services/kit/mail/message.h, services/kit/web/signed_link.h
 */
#include "services/carts/sender/reminder_mail.h"
#include "bus/base/cleanup.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "services/carts/letter/voice.h"
#include "services/kit/documents/docs.h"
#include "services/kit/keys/keyring.h"
#include "services/kit/mail/bounce_tag.h"
#include "services/kit/web/signed_link.h"
#include <assert.h>
#include <errno.h>

static void take_bounce_key(struct sender *ret, const struct sender_setup *setup)
{
	char derived[65];
	struct bytes key = setup->bounce_key;
	if (!key.len) {
		bounce_key_derive(setup->link_key, derived);
		key = bytes_of(derived);
	}
	assert(key.len <= sizeof(ret->bounce_key));
	memcpy(ret->bounce_key, key.data, key.len);
	ret->bounce_key_len = key.len;
}

void sender_set_up(struct sender *ret, const struct sender_setup *setup)
{
	assert(setup->link_key.len > 0 && setup->link_key.len <= sizeof(ret->link_key));
	TEXT_COPY(ret->public_url, setup->public_url);
	size_t len = strlen(ret->public_url);
	if (len && ret->public_url[len - 1] == '/')
		ret->public_url[len - 1] = 0;
	memcpy(ret->link_key, setup->link_key.data, setup->link_key.len);
	ret->link_key_len = setup->link_key.len;
	take_bounce_key(ret, setup);
	ret->polish = setup->polish;
	ret->clock_rate = setup->clock_rate > 0 ? setup->clock_rate : 1;
	ret->most_a_minute = setup->most_a_minute;
	ret->most_a_day = setup->most_a_day;
	if (!ret->under_way)
		list_init(&ret->reminder_mails);
	ret->under_way = &ret->reminder_mails;
}

uint32_t reminder_mails_under_way(const struct sender *context, const char *shop)
{
	uint32_t count = 0;
	LIST_EACH (hook, context->under_way) {
		const struct reminder_mail *reminder_mail = LIST_ENTRY(hook, struct reminder_mail, hook);
		count += !reminder_mail->claimed && (!shop || strcmp(reminder_mail->attempt.shop, shop) == 0);
	}
	return count;
}

/*
 * The functions that decide on an effect get its request as const. The note that it was claimed is the
 * sender's own, so it is written all the same.
 */
void reminder_mail_claimed(const struct reminder_mail *reminder_mail)
{
	((struct reminder_mail *)reminder_mail)->claimed = true;
}

int64_t sender_boot_us(const struct state *state, int64_t wall_us)
{
	return (int64_t)((double)wall_us / sender_context(state)->clock_rate);
}

static int unsubscribe_url(const struct sender *context, const char *shop, const ReminderDue *due, char ret[700])
{
	char token[400];
	struct signed_link link = { .purpose = LINK_UNSUBSCRIBE, .step = (int)due->step };
	assert(context->link_key_len > 0); /* sender_set_up comes first */
	TEXT_COPY(link.shop, shop);
	TEXT_COPY(link.address_hash, due->cart.ids.email_hash);
	TEXT_COPY(link.cart_id, due->cart.ids.cart_id);
	int r = signed_link_make(BYTES(context->link_key, context->link_key_len), &link, token);
	if (r == 0)
		snprintf(ret, 700, "%s/u/%s", context->public_url, token);
	return r;
}

/*
 * The link back through the gateway, which counts the click. NULL: the mail has the storefront's own link. So
 * has the owner's copy, because a click of the owner is not a shopper's.
 */
static const char *return_url(const struct sender *context, const char *shop, const struct finding *finding,
	const ReminderDue *due, struct buffer *ret)
{
	struct signed_link link = { .step = (int)due->step };

	if (finding->to_owner || !finding->shop->count_clicks)
		return NULL;
	TEXT_COPY(link.shop, shop);
	TEXT_COPY(link.cart_id, due->cart.ids.cart_id);
	if (return_link_make(BYTES(context->link_key, context->link_key_len), context->public_url, &link,
		    due->cart.recovery_url, ret) < 0)
		return NULL;
	return buffer_text(ret);
}

/* Bounces of a mail to the owner say nothing about the shopper. */
static int take_bounces(const struct sender *context, const char *shop, const struct finding *finding,
	const ReminderDue *due, struct mail *mail)
{
	if (!finding->to_owner)
		return bounce_address_make(BYTES(context->bounce_key, context->bounce_key_len), finding->shop->bounce,
			shop, mail->message_id, due->cart.ids.email_hash, mail->envelope_from);
	bounce_address_plain(finding->shop->bounce, mail->envelope_from);
	return 0;
}

static void reminder_mail_take(struct reminder_mail *reminder_mail, struct mail **mail)
{
	reminder_mail->mail = **mail;
	reminder_mail->mail.claim = true;
	(*mail)->mime = (struct buffer){ 0 };
	mail_free(*mail);
	*mail = NULL;
}

static struct reminder_mail *reminder_mail_of(const struct sender *context, const struct finding *finding,
	const ReminderDue *due, const struct consulted *consulted, struct mail **mail)
{
	struct reminder_mail *reminder_mail = memory_new(sizeof(*reminder_mail));

	reminder_mail_take(reminder_mail, mail);
	TEXT_COPY(reminder_mail->attempt.shop, finding->shop->name);
	snprintf(reminder_mail->attempt.key, sizeof(reminder_mail->attempt.key), "%s/%u", due->cart.ids.cart_id,
		(unsigned)due->step);
	reminder_mail->attempt.attempt = finding->send.attempt + 1;
	reminder_mail->to_owner = finding->to_owner;
	reminder_mail->was_asked = !consulted->asked.nobody;
	reminder_mail->storefront_end = consulted->asked.end;
	asking_note(&consulted->asked, reminder_mail->note);
	reminder_mail->polished = consulted->polished;
	list_append(context->under_way, &reminder_mail->hook);
	return reminder_mail;
}

int reminder_mail_new(const struct state *state, const struct finding *finding, const ReminderDue *due,
	const struct consulted *consulted, int64_t now_us, struct reminder_mail **ret, char ret_why[160])
{
	const struct sender *context = sender_context(state);
	_cleanup_(buffer_free) struct buffer back = { 0 };
	const char *shop = finding->shop->name, *opening = consulted->polished.line;
	char url[700];
	struct mail *mail;
	if (unsubscribe_url(context, shop, due, url) < 0) {
		snprintf(ret_why, 160, "no unsubscribe link can be made for this cart");
		return -EINVAL;
	}
	int r = mail_reminder(&(struct reminder){ .shop = finding->shop,
				      .speech = speech_of(state, shop, due->cart.locale),
				      .cart = &due->cart,
				      .step = (int)due->step,
				      .now_us = now_us,
				      .id_key = BYTES(context->bounce_key, context->bounce_key_len),
				      .unsubscribe_url = url,
				      .return_url = return_url(context, shop, finding, due, &back),
				      .opening = *opening ? opening : NULL,
				      .to = finding->to_owner ? finding->shop->owner : due->cart.ids.email,
				      .to_owner = finding->to_owner },
		&mail, ret_why);
	if (r < 0)
		return r;
	if (take_bounces(context, shop, finding, due, mail) < 0) {
		mail_free(mail);
		snprintf(ret_why, 160, "no envelope sender can be made for this cart");
		return -EINVAL;
	}
	*ret = reminder_mail_of(context, finding, due, consulted, &mail);
	return 0;
}

void reminder_mail_free(struct reminder_mail *reminder_mail)
{
	if (!reminder_mail)
		return;
	list_remove(&reminder_mail->hook);
	buffer_free(&reminder_mail->mail.mime);
	free(reminder_mail);
}
