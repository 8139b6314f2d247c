/*
 * delivery.c: handles each mail that comes over LMTP
 *
 * Promises:  a mail is answered with 250 only when the broker has confirmed its message, when it is put aside
 *            on the disk, or when it asks for nothing; until then the answer is 4xx and the mail server keeps
 *            it. A mail that killed the process that read it is put aside too, because it would do so every
 *            time.
 * Fails by:  451 while the broker is away or the disk fails, 452 while there is no room; 550 for a mail that
 *            no route takes.
 * Read next: mailbox.c (finds the route of a mail), reader.c and match.c (reports), routed.c (all other
 *            mails)
 */
#include "services/platform/mailin/delivery.h"
#include "bus/base/cleanup.h"
#include "bus/base/log.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "services/platform/mailin/mailin.h"
#include "services/platform/mailin/match.h"
#include <errno.h>
#include <openssl/sha.h>
#include <stdio.h>
#include <stdlib.h>

#define STRANGER_US US_PER_MINUTE /* a mail may come back before we hear that it was sent */
/* As many as have room aside (quarantine.h), where each takes a block of the disk at least. */
enum { STRANGERS_MOST = QUARANTINE_BYTES_MOST / 4096 };

static const char OK[] = "250 2.0.0 ok", AWAY[] = "451 4.3.0 away from the broker; come again";

struct stranger {
	unsigned char digest[SHA256_DIGEST_LENGTH];
	int64_t first_us; /* boot time */
};

struct deliveries {
	struct delivery_needs needs;
	struct list sayings;
	struct stranger strangers[STRANGERS_MOST]; /* a later one takes the place of the earliest */
	unsigned stranger_count;                   /* so far */
};

struct saying {
	struct list hook;
	struct delivery *delivery; /* NULL: its connection has ended, and the mail server will come again */
	struct buffer mail;
};

/* ---- one mail ---- */

static void answer(struct delivery *delivery, const char *reply)
{
	delivery->answer(delivery->self, reply);
}

static void put_aside(struct delivery *delivery, struct bytes mail, const char *why)
{
	static const char NO_ROOM[] = "452 4.3.1 what nobody could read fills its room: cartbus mailin list";
	struct quarantine_note *note = &delivery->note;

	snprintf(note->why, sizeof(note->why), "%s", why);
	int r = quarantine_write(delivery->all->needs.quarantine, mail, note);
	log_event(r < 0 ? LOG_ERROR : LOG_NOTICE, "a mail over LMTP is put aside: %s%s%s", why, r < 0 ? ": " : "",
		r < 0 ? strerror(-r) : "");
	answer(delivery, r == -EDQUOT ? NO_ROOM : r < 0 ? "451 4.3.1 it cannot be put aside; come again" : OK);
}

static void saying_free(struct saying *saying)
{
	if (saying->delivery)
		saying->delivery->saying = NULL;
	list_remove(&saying->hook);
	buffer_free(&saying->mail);
	free(saying);
}

static void on_said(void *context, enum said_result result, uint64_t seq, const char *reason)
{
	struct saying *saying = context;
	struct delivery *delivery = saying->delivery;

	(void)seq;
	switch (delivery ? result : SAID_UNKNOWN) {
	case SAID_FRESH:
	case SAID_DUPLICATE:
		answer(delivery, OK);
		break;
	case SAID_REFUSED:
		log_event(LOG_ERROR, "the broker refuses for good what a mail says: %s", reason);
		put_aside(delivery, buffer_bytes(&saying->mail), "what it says was refused");
		break;
	case SAID_UNKNOWN:
		if (delivery)
			answer(delivery, AWAY);
		break;
	}
	saying_free(saying);
	if (delivery)
		delivery->wake(delivery->self);
}

static void publish_feedback(
	struct delivery *delivery, const char *shop, const MailFeedback *feedback, struct bytes mail)
{
	struct deliveries *all = delivery->all;
	struct saying *saying = memory_new(sizeof(*saying));

	saying->delivery = delivery;
	delivery->saying = saying;
	buffer_add(&saying->mail, mail.data, mail.len);
	list_append(&all->sayings, &saying->hook);
	if (feedback_publish(all->needs.runtime, shop, feedback, mail, on_said, saying) == 0)
		return;
	saying_free(saying);
	answer(delivery, AWAY);
}

/* A mail that is still unknown after a minute is not ours. */
static bool is_known_stranger(struct deliveries *all, struct bytes mail)
{
	unsigned char digest[SHA256_DIGEST_LENGTH];
	int64_t now_us = clock_boot_us(all->needs.clock);

	SHA256(mail.data, mail.len, digest);
	for (unsigned i = 0; i < all->stranger_count && i < STRANGERS_MOST; i++)
		if (memcmp(all->strangers[i].digest, digest, sizeof(digest)) == 0)
			return now_us - all->strangers[i].first_us >= STRANGER_US;
	struct stranger *stranger = &all->strangers[all->stranger_count++ % STRANGERS_MOST];
	memcpy(stranger->digest, digest, sizeof(digest));
	stranger->first_us = now_us;
	return false;
}

static void take_feedback(struct delivery *delivery, struct bytes mail, const struct report *report)
{
	struct deliveries *all = delivery->all;
	char shop[64];
	MailFeedback feedback;

	if (match_find(runtime_state(all->needs.runtime), all->needs.keys, clock_wall_us(all->needs.clock), report,
		    shop, &feedback)) {
		publish_feedback(delivery, shop, &feedback, mail);
	} else if (is_known_stranger(all, mail)) {
		put_aside(delivery, mail, "it is about a mail that we never sent, or proves nothing");
	} else {
		answer(delivery, "451 4.4.0 it is not known yet which mail this is about; come again");
	}
}

static void take_report(struct delivery *delivery, const struct report *read)
{
	static struct report report; /* large */
	const struct bytes mail = delivery->reading.mail;

	report = *read;
	report_note_recipients(&report, delivery->note.recipients, delivery->note.count);
	switch (report.kind) {
	case REPORT_NONE:
		put_aside(delivery, mail,
			report.trouble[0] ? report.trouble : "it is no report of a bounce or a complaint");
		break;
	case REPORT_NOTHING:
		answer(delivery, OK);
		break;
	case REPORT_FEEDBACK:
		take_feedback(delivery, mail, &report);
		break;
	}
}

static void on_read(void *context, enum reader_end end, const struct report *report)
{
	struct delivery *delivery = context;

	delivery->is_read = false;
	if (end == READER_DIED)
		put_aside(delivery, delivery->reading.mail, "it ended the process that read it, twice");
	else if (end == READER_AWAY)
		answer(delivery, "451 4.3.0 it cannot be read now; come again");
	else if (runtime_phase(delivery->all->needs.runtime) != RUNTIME_READY)
		answer(delivery, AWAY);
	else
		take_report(delivery, report);
	delivery->wake(delivery->self);
}

/* ---- mails for a route ---- */

static void on_routed(void *context, enum routed_end end, const char *why)
{
	struct delivery *delivery = context;
	const struct mailbox mailbox = delivery->mailbox;
	char words[200];

	delivery->routed = NULL;
	if (end != ROUTED_SAID && end != ROUTED_AWAY)
		log_event(end == ROUTED_REFUSED ? LOG_NOTICE : LOG_ERROR,
			"a mail over LMTP was not taken: route=%s shop=%s %s", mailbox.route->name, mailbox.shop, why);
	switch (end) {
	case ROUTED_SAID:
		answer(delivery, OK);
		break;
	case ROUTED_AWAY:
		answer(delivery, AWAY);
		break;
	case ROUTED_NO_ROOM:
		answer(delivery, "452 4.3.1 there is no room for it now; come again");
		break;
	case ROUTED_FAILED:
		answer(delivery, "451 4.3.0 it cannot be kept now; come again");
		break;
	case ROUTED_REFUSED:
		snprintf(words, sizeof(words), "550 5.6.0 %s", why);
		text_make_plain(words);
		answer(delivery, words);
		break;
	}
	if (!delivery->is_taking)
		delivery->wake(delivery->self);
}

size_t delivery_bytes_most(void *self)
{
	return mailbox_bytes_most(((const struct delivery *)self)->mailbox.route);
}

bool delivery_is_in_parts(void *self)
{
	struct delivery *delivery = self;

	if (!delivery->mailbox.route->topic)
		return false;
	delivery->routed = routed_new(delivery->all->needs.routing, &delivery->mailbox);
	return true;
}

void delivery_take_part(void *self, struct bytes part)
{
	routed_add(((struct delivery *)self)->routed, part);
}

void delivery_begin_anew(void *self)
{
	struct delivery *delivery = self;

	delivery->has_mailbox = false;
	routed_free(TAKE(delivery->routed));
}

static void take_routed(struct delivery *delivery, const struct lmtp_mail *mail)
{
	delivery->is_taking = true;
	routed_finish(delivery->routed, mail->sender, mail->recipients, mail->count, on_routed, delivery);
	delivery->is_taking = false;
}

void delivery_take(void *self, const struct lmtp_mail *mail)
{
	struct delivery *delivery = self;

	if (delivery->routed) {
		take_routed(delivery, mail);
		return;
	}
	if (runtime_phase(delivery->all->needs.runtime) != RUNTIME_READY) {
		answer(delivery, AWAY);
		return;
	}
	delivery->note.count = mail->count;
	memcpy(delivery->note.recipients, mail->recipients, (size_t)mail->count * sizeof(mail->recipients[0]));
	delivery->is_read = true;
	reader_read(delivery->all->needs.reader, &delivery->reading, mail->bytes, on_read, delivery);
}

enum lmtp_knows delivery_knows(void *self, const char *recipient)
{
	struct delivery *delivery = self;
	const struct deliveries *all = delivery->all;
	struct mailbox mailbox;

	if (runtime_phase(all->needs.runtime) != RUNTIME_READY)
		return LMTP_CANNOT_TELL;
	if (!mailbox_find(all->needs.routing->tables, runtime_state(all->needs.runtime), recipient, &mailbox))
		return LMTP_UNKNOWN;
	if (lmtp_size_said(*delivery->lmtp) > mailbox_bytes_most(mailbox.route))
		return LMTP_TOO_LARGE;
	if (delivery->has_mailbox && !mailbox_is_same(&delivery->mailbox, &mailbox))
		return LMTP_ANOTHER;
	if (!delivery->has_mailbox)
		delivery->mailbox = mailbox;
	delivery->has_mailbox = true;
	return LMTP_KNOWN;
}

/* ---- from beginning to end ---- */

struct deliveries *deliveries_new(const struct delivery_needs *needs)
{
	struct deliveries *all = memory_new(sizeof(*all));

	all->needs = *needs;
	list_init(&all->sayings);
	return all;
}

void deliveries_free(struct deliveries *all)
{
	if (!all)
		return;
	LIST_EACH_SAFE (hook, &all->sayings)
		saying_free(LIST_ENTRY(hook, struct saying, hook));
	free(all);
}

void delivery_end(struct delivery *delivery)
{
	if (delivery->saying)
		delivery->saying->delivery = NULL;
	if (delivery->is_read)
		reader_forget(delivery->all->needs.reader, &delivery->reading);
	routed_free(TAKE(delivery->routed));
}
