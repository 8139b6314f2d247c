/* entrance.c: how words come into the guestbook: by POST /guestbook/SHOP, and by mail to guestbook@ */
#include "bus/base/clock.h"
#include "bus/base/text.h"
#include "guest.h"
#include "services/kit/endpoint/endpoint.h"
#include "services/kit/mail/inbound/route.h"
#include <jansson.h>
#include <stdio.h>

static bool prove(struct submission *submission)
{
	const char *given = request_header(submission->request, "X-Guest-Secret");
	const struct secrets_pair *secrets;
	int r = secrets_of_shop(submission->context->secrets, submission->names[0], &secrets);

	if (r < 0)
		answer_json_error(submission->answer, 404, secrets_remedy(r));
	else if (signature_check_word(secrets, given) != SIGNATURE_CURRENT)
		answer_json_error(submission->answer, 401, "X-Guest-Secret is not this shop's secret");
	else
		submission->answer->proven = true;
	return submission->answer->proven;
}

static bool read_entry(struct submission *submission)
{
	json_t *body =
		json_loadb(submission->request->body.data, submission->request->body.len, JSON_REJECT_DUPLICATES, NULL);
	const char *id = "", *words = "", *shop = submission->names[0];
	GuestEntry entry = { .id = "" };
	bool fits = body && json_unpack(body, "{s:s, s:s}", "id", &id, "words", &words) == 0 && *id &&
		strspn(id, "abcdefghijklmnopqrstuvwxyz0123456789-") == strlen(id) && strlen(id) < sizeof(entry.id) &&
		strlen(words) < sizeof(entry.words);

	TEXT_COPY(entry.id, id);
	TEXT_COPY(entry.words, words);
	json_decref(body);
	if (!fits)
		answer_json_error(submission->answer, 400,
			"expected an id of up to 39 of a-z, 0-9, - and words of up to 199 bytes");
	return fits &&
		submission_publish(submission, &topic_guest_wrote,
			&(struct publish_options){ .shop = shop, .key = entry.id, .idem = entry.id }, NULL,
			&entry) == 0;
}

static void answer_entry(struct submission *submission)
{
	submission_answer_json(submission, NULL);
}

const struct endpoint guest_endpoints[] = {
	{ "/guestbook/<shop>", ENDPOINT_POST, 4096, .prove = prove, .read = read_entry, .answer = answer_entry,
		.listed = true },
	{ 0 },
};

/* The id is made of the mail's digest, so a mail that comes again is the same entry. */
static const char *write_mail(const struct inbound_mail *mail, void *ret_message, char ret_key[MAIL_ROUTE_KEY_MAX + 1])
{
	GuestEntry *entry = ret_message;

	snprintf(entry->id, sizeof(entry->id), "mail-%.16s", mail->blob);
	snprintf(entry->words, sizeof(entry->words), "a mail of %llu bytes", (unsigned long long)mail->size);
	TEXT_COPY(entry->blob, mail->blob);
	text_copy(ret_key, MAIL_ROUTE_KEY_MAX + 1, entry->id);
	return NULL;
}

static const struct blob_use mails = { .name = "guestbook", .blob_bytes = 65536, .kept_us = 7 * US_PER_DAY };
const struct mail_route guest_mail_routes[] = {
	{ "guestbook", "guestbook", .bytes_most = 65536, .use = &mails, .topic = &topic_guest_wrote,
		.write = write_mail },
	{ .name = NULL },
};
