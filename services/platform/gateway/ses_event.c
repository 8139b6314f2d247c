/*
 * ses_event.c: reads bounces and complaints as Amazon SES reports them
 *
 * Promises:  every named recipient is taken, in any order; the words of the mail server are kept without
 *            addresses.
 * Fails by:  -EBADMSG. A message that is no event at all (SES greets a new topic with a sentence) is an event
 *            without recipients.
 */
#include "services/platform/gateway/ses_event.h"
#include "bus/base/text.h"
#include "services/kit/mail/message.h"
#include "services/kit/storefront/fields.h"
#include <errno.h>
#include <stdio.h>

static int nothing(struct ses_event *ret, const char *words)
{
	snprintf(ret->words, sizeof(ret->words), "%.80s asks for nothing", words);
	return 0;
}

static void write_detail(const json_t *recipient, const char *kind, const char *type, char ret[200])
{
	char line[600], words[256], status[20] = "", code[400] = "";
	field_text(recipient, "status", status, sizeof(status));
	field_text(recipient, "diagnosticCode", code, sizeof(code));
	snprintf(line, sizeof(line), "%s: %s %s %s", kind, type, status, code);
	mail_words(line, strlen(line), words);
	text_copy(ret, 200, words);
}

/* Normalises "a@b.example", or "Name <a@b.example>" as the mail had it. */
static int normalise(const char *given, char ret[ADDRESS_MAX + 1])
{
	char inside[ADDRESS_MAX + 1];
	const char *open = strrchr(given, '<');
	if (!open)
		return address_normalise(given, ret);
	if (!text_copy_bytes(inside, sizeof(inside), BYTES(open + 1, strcspn(open + 1, ">"))))
		return -EINVAL;
	return address_normalise(inside, ret);
}

static int take_recipients(
	const json_t *list, const char *kind, const char *type, struct ses_event *ret, char ret_why[200])
{
	size_t i;
	const json_t *recipient;
	if (json_array_size(list) == 0 || json_array_size(list) > SES_RECIPIENTS_MOST) {
		snprintf(ret_why, 200, "it names %zu recipients", json_array_size(list));
		return -EBADMSG;
	}
	json_array_foreach((json_t *)list, i, recipient)
	{
		const char *given = field_word(recipient, "emailAddress");
		if (!given || normalise(given, ret->recipients[ret->count].address) < 0)
			continue; /* no address that we would mail */
		write_detail(recipient, kind, type, ret->recipients[ret->count++].detail);
	}
	return ret->count ? 0 : nothing(ret, "an address that nobody here would mail");
}

static int read_bounce(const json_t *event, struct ses_event *ret, char ret_why[200])
{
	const json_t *bounce = field_object(event, "bounce");
	const char *type = field_word(bounce, "bounceType");
	/* Transient and Undetermined: in doubt a bounce is only counted */
	ret->kind = type && strcmp(type, "Permanent") == 0 ? FEEDBACK_BOUNCE_PERMANENT : FEEDBACK_BOUNCE_TRANSIENT;
	return take_recipients(field_list(bounce, "bouncedRecipients"), "bounced", type ? type : "", ret, ret_why);
}

static int read_complaint(const json_t *event, struct ses_event *ret, char ret_why[200])
{
	const json_t *complaint = field_object(event, "complaint");
	const char *type = field_word(complaint, "complaintFeedbackType");
	if (type && strcmp(type, "not-spam") == 0)
		return nothing(ret, "a mail that was found not to be spam");
	ret->kind = FEEDBACK_COMPLAINT;
	return take_recipients(
		field_list(complaint, "complainedRecipients"), "complained", type ? type : "", ret, ret_why);
}

/*
 * Reads our mail's id from our tag, which events of a configuration set have; else from our Message-ID, if
 * the event has headers.
 */
static void read_mail(const json_t *mail, char ret_message_id[MAIL_LOCAL_MAX])
{
	const json_t *tags = field_list(field_object(mail, "tags"), MAIL_SES_TAG);
	const char *tag = json_string_value(json_array_get(tags, 0));
	const char *message_id = field_word(field_object(mail, "commonHeaders"), "messageId");
	if (!(tag && mail_local_read(tag, ret_message_id)) && message_id)
		mail_local_read(message_id, ret_message_id);
}

static int read_event(const json_t *event, struct ses_event *ret, char ret_why[200])
{
	const char *type = field_word(event, "notificationType");
	if (!type)
		type = field_word(event, "eventType");
	if (type && strcmp(type, "Bounce") == 0)
		return read_bounce(event, ret, ret_why);
	if (type && strcmp(type, "Complaint") == 0)
		return read_complaint(event, ret, ret_why);
	return nothing(ret, type ? type : "what is no event");
}

int ses_event_parse(struct bytes message, struct ses_event *ret, char ret_why[200])
{
	memset(ret, 0, sizeof(*ret));
	const json_t *event = fields_parse(message, ret_why); /* NULL: it has no fields, and so it is no event */
	read_mail(field_object(event, "mail"), ret->message_id);
	int r = read_event(event, ret, ret_why);
	fields_done();
	return r;
}
