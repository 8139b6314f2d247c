/*
 * complaint.c: reads a complaint: a mail of ours was reported as spam
 *
 * RFC 5965 defines the form of reports. A complaint in another form attaches the mail, and only that mail
 * proves what the complaint is about.
 *
 * Read next: report.c, match.c
 */
#include "services/platform/mailin/complaint.h"
#include "bus/base/text.h"
#include "services/kit/mail/message.h"
#include <stdio.h>
#include <strings.h>

/* ---- RFC 5965 ---- */

static bool is_type(const char *value, const char *type)
{
	size_t len = strlen(type);

	return strncasecmp(value, type, len) == 0 && !g_ascii_isalnum(value[len]) && value[len] != '-';
}

/* Types that are no complaint of a person: taken back, or about signatures (RFC 6591, RFC 6650). */
static bool asks_for_nothing(const char *type)
{
	static const char *const others[] = { "not-spam", "auth-failure", "dmarc", "dkim", "virus" };

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (is_type(type, others[i]))
			return true;
	return false;
}

static void take_type(struct report *report, const char *type)
{
	char line[120], words[256];

	if (asks_for_nothing(type)) {
		report->kind = REPORT_NOTHING;
		return;
	}
	report->kind = REPORT_FEEDBACK;
	report->feedback = FEEDBACK_COMPLAINT;
	snprintf(line, sizeof(line), "complained: %.80s", type);
	mail_words(line, strlen(line), words);
	TEXT_COPY(report->detail, words);
}

bool complaint_hear_fields(struct report *report, GMimeObject *block)
{
	const char *type = g_mime_object_get_header(block, "Feedback-Type");

	if (!type || !*type)
		return false;
	take_type(report, type + strspn(type, " \t"));
	return true;
}

/* The value of the line that begins with this name; NULL: there is none. */
static const char *line_of(const char *text, const char *name)
{
	size_t len = strlen(name);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += strspn(line, "\r\n");
		if (strncasecmp(line, name, len) == 0)
			return line + len + strspn(line + len, " \t");
	}
	return NULL;
}

bool complaint_hear_text(struct report *report, const char *text)
{
	const char *type = line_of(text, "Feedback-Type:");
	char word[40];

	if (!type || !line_of(text, "User-Agent:"))
		return false;
	text_copy_bytes(word, sizeof(word), BYTES(type, strcspn(type, " \t\r\n")));
	take_type(report, word);
	return true;
}

/* ---- the mail itself ---- */

static bool says_so(const char *subject)
{
	static const char *const words[] = { "complaint about message", "complaint about email", "spam complaint",
		"abuse complaint", "complaint from", "email abuse report", "email feedback report", "spam report",
		"junk report", "feedback loop", "fbl report", "abuse report", "reported as spam", "marked as spam" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcasestr(subject, words[i]))
			return true;
	return false;
}

void complaint_hear_original(struct report *report, const char *subject, GMimeObject *original)
{
	/* Only Outlook.com adds this field, with the recipient's address, to a mail that was reported. */
	if (report->kind == REPORT_NONE &&
		(says_so(subject) || g_mime_object_get_header(original, "X-HmXmrOriginalRecipient")))
		take_type(report, "abuse");
}
