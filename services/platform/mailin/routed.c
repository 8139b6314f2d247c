/*
 * routed.c: delivers a mail to a route, which publishes a message about it
 *
 * Promises:  memory is bounded by one part for a mail that becomes a blob, and by 1 MiB for any other mail.
 *            The blob is committed before the message that names it is published. The message's idempotency
 *            key is the digest of the mail, the route, the shop and the recipients: a mail that is delivered
 *            again, because an answer was lost, gives the same blob and the same message.
 * Fails by:  an end, with words. A process that is killed between the blob and the message leaves a
 *            reference, which is removed for its age.
 * Read next: delivery.c, folder.c (have mails), services/kit/blobs/blob_uses.c
 */
#include "services/platform/mailin/routed.h"
#include "bus/base/cleanup.h"
#include "bus/base/log.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "services/platform/mailin/report.h"
#include <errno.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>

enum { IDEM_SIZE = 80 };

struct routed {
	struct list hook; /* of routing->said, while is_said */
	struct routing *routing;
	struct mailbox mailbox;
	struct blob_writer *writer; /* NULL: the mail stays in memory */
	struct buffer text;
	EVP_MD_CTX *digest;
	uint64_t size;
	char idem[IDEM_SIZE], blob[BLOB_NAME_SIZE]; /* blob "": the mail is none */
	int error;                                  /* of the disk; the rest of the mail is not taken */
	bool is_said, is_new;                       /* is_new: the reference to the blob was not there before */
	routed_fn *answer;                          /* NULL: the owner needs no answer any more */
	void *context;
};

void routing_init(struct routing *routing, const struct mail_route *const *tables, struct blob_uses *uses,
	struct runtime *runtime, const struct clock *clock)
{
	*routing = (struct routing){ .tables = tables, .uses = uses, .runtime = runtime, .clock = clock };
	list_init(&routing->said);
}

static void digest_text(struct routed *routed, const char *text)
{
	EVP_DigestUpdate(routed->digest, text, strlen(text) + 1);
}

struct routed *routed_new(struct routing *routing, const struct mailbox *mailbox)
{
	struct routed *routed = memory_new(sizeof(*routed));

	routed->routing = routing;
	routed->mailbox = *mailbox;
	routed->digest = EVP_MD_CTX_new();
	if (!routed->digest || EVP_DigestInit_ex(routed->digest, EVP_sha256(), NULL) != 1)
		routed->error = -ENOMEM;
	if (mailbox->route->use && routed->error == 0)
		routed->error = blob_uses_begin(routing->uses, mailbox->route->use, mailbox->shop, &routed->writer);
	return routed;
}

static void clear(struct routed *routed)
{
	blob_abandon(TAKE(routed->writer));
	buffer_free(&routed->text);
	EVP_MD_CTX_free(TAKE(routed->digest));
}

void routed_free(struct routed *routed)
{
	if (!routed)
		return;
	routed->answer = NULL;
	clear(routed);
	if (!routed->is_said) /* else the bus has still to answer */
		free(routed);
}

void routing_clear(struct routing *routing)
{
	LIST_EACH_SAFE (hook, &routing->said) {
		struct routed *routed = LIST_ENTRY(hook, struct routed, hook);

		list_remove(hook);
		routed->is_said = false;
		routed_free(routed);
	}
}

void routed_fail(struct routed *routed, int r)
{
	routed->error = routed->error < 0 ? routed->error : r;
}

bool routed_has_failed(const struct routed *routed)
{
	return routed->error < 0;
}

size_t routed_memory(const struct routed *routed)
{
	return routed ? routed->text.len : 0;
}

void routed_add(struct routed *routed, struct bytes part)
{
	if (routed->error < 0)
		return;
	EVP_DigestUpdate(routed->digest, part.data, part.len);
	routed->size += part.len;
	if (routed->writer)
		routed->error = blob_add(routed->writer, part);
	else if (routed->text.len + part.len <= REPORT_BYTES_MOST)
		buffer_add(&routed->text, part.data, part.len);
	else
		routed->error = -EFBIG;
}

/* ---- the end ---- */

static void end(struct routed *routed, enum routed_end how, const char *why)
{
	routed_fn *answer = routed->answer;
	void *context = routed->context;

	if (routed->is_said)
		list_remove(&routed->hook);
	routed->is_said = false;
	routed_free(routed);
	if (answer)
		answer(context, how, why);
}

static void end_by_error(struct routed *routed, int r)
{
	bool is_full = r == -ENOSPC || r == -EDQUOT || r == -EFBIG;

	if (routed->mailbox.route->use)
		blob_uses_refuse(routed->routing->uses);
	end(routed, is_full ? ROUTED_NO_ROOM : ROUTED_FAILED, strerror(-r));
}

/*
 * Releases a blob that no message will name. If the reference is not new, an earlier message of the same mail
 * may name the blob.
 */
static void release_blob(const struct routed *routed)
{
	const struct mailbox *mailbox = &routed->mailbox;
	char owner[BLOB_OWNER_MAX + 1];

	if (routed->is_new && blob_owner_text(mailbox->route->topic->name, routed->idem, owner) == 0)
		blob_uses_release(routed->routing->uses, mailbox->route->use, mailbox->shop, routed->blob, owner);
}

static void refuse(struct routed *routed, const char *why)
{
	release_blob(routed);
	end(routed, ROUTED_REFUSED, why);
}

static void on_said(void *context, enum said_result result, uint64_t seq, const char *reason)
{
	struct routed *routed = context;

	(void)seq;
	switch (result) {
	case SAID_FRESH:
	case SAID_DUPLICATE:
		end(routed, ROUTED_SAID, "");
		break;
	case SAID_REFUSED:
		log_event(LOG_ERROR, "the broker refuses for good what a mail says: route=%s shop=%s %s",
			routed->mailbox.route->name, routed->mailbox.shop, reason);
		refuse(routed, "what it says was refused");
		break;
	case SAID_UNKNOWN:
		end(routed, ROUTED_AWAY, "");
		break;
	}
}

/* Adds the route, the shop and the recipients to the digest of the mail's bytes. */
static int make_idem(struct routed *routed, const char (*recipients)[ADDRESS_MAX + 1], int count)
{
	unsigned char sum[EVP_MAX_MD_SIZE];
	char hex[2 * EVP_MAX_MD_SIZE + 1];
	unsigned len = 0;

	digest_text(routed, routed->mailbox.route->name);
	digest_text(routed, routed->mailbox.shop);
	for (int i = 0; i < count; i++)
		digest_text(routed, recipients[i]);
	if (EVP_DigestFinal_ex(routed->digest, sum, &len) != 1)
		return -EIO;
	text_hex(sum, len, hex);
	snprintf(routed->idem, IDEM_SIZE, "mail:%s", hex);
	return 0;
}

static int commit_blob(struct routed *routed)
{
	const struct mailbox *mailbox = &routed->mailbox;
	char owner[BLOB_OWNER_MAX + 1];
	int r = blob_owner_text(mailbox->route->topic->name, routed->idem, owner);

	if (r < 0 || !routed->writer)
		return r;
	return blob_uses_commit(routed->routing->uses, mailbox->route->use, mailbox->shop, &routed->writer, owner,
		routed->blob, &routed->is_new);
}

static void publish_routed(struct routed *routed, const char *key, const void *message)
{
	const struct publish_options how = { .shop = routed->mailbox.shop, .key = key, .idem = routed->idem };

	routed->is_said = true;
	list_append(&routed->routing->said, &routed->hook);
	int r = runtime_publish(
		routed->routing->runtime, routed->mailbox.route->topic, &how, NULL, message, on_said, routed);
	if (r == -EMSGSIZE)
		refuse(routed, "it is larger than a message may be");
	else if (r < 0)
		end(routed, r == -ENOTCONN ? ROUTED_AWAY : ROUTED_FAILED, strerror(-r));
}

static void write_and_say(struct routed *routed, const struct inbound_mail *mail)
{
	const struct mail_route *route = routed->mailbox.route;
	_cleanup_free_ void *message = memory_new(route->topic->size);
	char key[MAIL_ROUTE_KEY_MAX + 1] = "";
	const char *why = route->write(mail, message, key);

	if (why)
		refuse(routed, why);
	else
		publish_routed(routed, key, message);
}

void routed_finish(struct routed *routed, const char *sender, const char (*recipients)[ADDRESS_MAX + 1], int count,
	routed_fn *answer, void *context)
{
	int r = routed->error;

	routed->answer = answer;
	routed->context = context;
	if (runtime_phase(routed->routing->runtime) != RUNTIME_READY) {
		end(routed, ROUTED_AWAY, "");
		return;
	}
	if (r == 0)
		r = make_idem(routed, recipients, count);
	if (r == 0)
		r = commit_blob(routed);
	if (r < 0) {
		end_by_error(routed, r);
		return;
	}
	write_and_say(routed,
		&(struct inbound_mail){ .shop = routed->mailbox.shop,
			.sender = sender,
			.recipients = recipients,
			.recipient_count = count,
			.detail = routed->mailbox.detail,
			.blob = routed->blob,
			.bytes = buffer_bytes(&routed->text),
			.size = routed->size,
			.heard_us = clock_wall_us(routed->routing->clock) });
}
