/*
 * mail_routes.c: the process mailin with a system that takes mails: forms@, which become blobs, and notes@, which stay in memory
 *
 * The two lists that services/systems.cmake would make are here, so cartbus-mailin itself knows nothing of them.
 */
#include "platform.pb.h"
#include "services/kit/mail/inbound/route.h"
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { FORM_BYTES_MOST = 4 * 1024 * 1024, NOTE_BYTES_MOST = 1000 };

extern const struct mail_route mailin_mail_routes[];

static const size_t names[] = { offsetof(Document, digest), TOPIC_NOWHERE };
TOPIC_DECLARE(test_mail, Document);
TOPIC_DEFINE_NAMING(test_mail, "test.mail", Document, RETAIN_RAW, NULL, names);

static const char *write_mail(const struct inbound_mail *mail, void *ret_message, char ret_key[MAIL_ROUTE_KEY_MAX + 1])
{
	Document *message = ret_message;

	if (strcmp(mail->detail, "closed") == 0)
		return "this form is closed";
	snprintf(message->kind, sizeof(message->kind), "mail");
	message->version = (uint32_t)mail->size;
	snprintf(message->digest, sizeof(message->digest), "%s", mail->blob);
	snprintf(message->source, sizeof(message->source), "%s", mail->sender);
	snprintf(ret_key, MAIL_ROUTE_KEY_MAX + 1, "%s", *mail->detail ? mail->detail : "none");
	return NULL;
}

static const struct blob_use forms_use = { .name = "forms", .blob_bytes = FORM_BYTES_MOST, .kept_us = 30 * US_PER_DAY };

static const struct mail_route test_mail_routes[] = {
	{ .name = "forms",
		.local = "forms",
		.bytes_most = FORM_BYTES_MOST,
		.use = &forms_use,
		.topic = &topic_test_mail,
		.write = write_mail },
	{ .name = "notes",
		.local = "notes",
		.bytes_most = NOTE_BYTES_MOST,
		.topic = &topic_test_mail,
		.write = write_mail },
	{ .name = NULL },
};
static const struct topic *const test_topics[] = { &topic_test_mail, NULL };

const struct mail_route *const registered_mail_routes[] = { mailin_mail_routes, test_mail_routes, NULL };
const struct topic *const *const registered_mail_route_topics[] = { test_topics, NULL };
