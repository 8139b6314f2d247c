/*
 * report.c: reads a mail that came back
 *
 * It runs in a process of its own (reader.c). GMime parses the mail after bounds.c has accepted it; content
 * of a part that is read as headers is checked and parsed in the same way. The fields of a delivery status
 * are header blocks, one per recipient (RFC 3464, 2.1), and are read as such.
 *
 * A mail that is no report is read as text, and counts only with a proof of whose mail it was (match.c).
 *
 * Promises:  at most PARTS_MOST parts, DEPTH_MOST deep, and BLOCKS_MOST blocks of each part are read, and no
 *            word with an address in it is passed on. The reason is never taken from the mail that came back.
 * Fails by:  REPORT_NONE; `trouble` gives the reason if the mail is too large or too deep for a report.
 * Read next: bounce.c, complaint.c (read the parts), match.c (finds the shopper)
 */
#include "services/platform/mailin/report.h"
#include "bus/base/text.h"
#include "services/kit/mail/bounce_tag.h"
#include "services/kit/mail/message.h"
#include "services/platform/mailin/bounce.h"
#include "services/platform/mailin/complaint.h"
#include "services/platform/mailin/plain.h"
#include <gmime/gmime.h>
#include <strings.h>

enum { PARTS_MOST = 32, DEPTH_MOST = 4, BLOCKS_MOST = 16, HEADERS_MOST = 200 };

/* A mail while it is read. */
struct letters {
	struct report *report;
	struct bounce bounce;
	const char *from, *subject;
	struct buffer plain, html; /* the mail's own words, as text */
	bool is_report, is_from_a_server;
	bool has_original;
	int parts;
};

void report_init(void)
{
	g_mime_init();
}

/* ---- names that may tell which mail it was ---- */

static bool has_address(const struct report *report, const char *address)
{
	for (int i = 0; i < report->address_count; i++)
		if (strcmp(report->addresses[i], address) == 0)
			return true;
	return false;
}

static bool has_message_id(const struct report *report, const char *id)
{
	for (int i = 0; i < report->message_id_count; i++)
		if (strcmp(report->message_ids[i], id) == 0)
			return true;
	return false;
}

static void note_address(struct report *report, const char *address)
{
	if (report->address_count < REPORT_NAMES_MOST && address && !has_address(report, address) &&
		text_copy(report->addresses[report->address_count], sizeof(report->addresses[0]), address))
		report->address_count++;
}

static void note_addresses(struct report *report, const char *value)
{
	InternetAddressList *list = value ? internet_address_list_parse(NULL, value) : NULL;
	for (int i = 0; list && i < internet_address_list_length(list) && i < REPORT_NAMES_MOST; i++) {
		InternetAddress *address = internet_address_list_get_address(list, i);
		if (INTERNET_ADDRESS_IS_MAILBOX(address))
			note_address(report, internet_address_mailbox_get_addr(INTERNET_ADDRESS_MAILBOX(address)));
	}
	if (list)
		g_object_unref(list);
}

static void note_message_id(struct report *report, const char *id)
{
	char plain[200];
	if (!id || report->message_id_count == REPORT_NAMES_MOST)
		return;
	id += strspn(id, " \t<");
	if (text_copy_bytes(plain, sizeof(plain), BYTES(id, strcspn(id, "> \t\r\n"))) && plain[0] &&
		!has_message_id(report, plain))
		TEXT_COPY(report->message_ids[report->message_id_count++], plain);
}

static bool is_one_of(const char *name, const char *const *names)
{
	for (; *names; names++)
		if (strcasecmp(name, *names) == 0)
			return true;
	return false;
}

/* A header may be there more than once: each mail server on the way adds its own. */
static void note_headers(struct report *report, GMimeObject *object, const char *const *names)
{
	GMimeHeaderList *headers = g_mime_object_get_header_list(object);
	for (int i = 0; i < g_mime_header_list_get_count(headers) && i < HEADERS_MOST; i++) {
		GMimeHeader *header = g_mime_header_list_get_header_at(headers, i);
		if (is_one_of(g_mime_header_get_name(header), names))
			note_addresses(report, g_mime_header_get_value(header));
	}
}

/* Notes the token of "<https://carts.shop.example/u/TOKEN>, ...". */
static void note_link(struct report *report, const char *value)
{
	const char *token = value ? strstr(value, "/u/") : NULL;
	int nth = 0;
	while (nth < REPORT_LINKS_MOST && report->links[nth][0])
		nth++;
	if (!token || nth == REPORT_LINKS_MOST)
		return;
	token += strlen("/u/");
	if (!text_copy_bytes(report->links[nth], REPORT_LINK_MAX, BYTES(token, strcspn(token, "<>, \t\r\n"))))
		report->links[nth][0] = '\0';
}

/* ---- bytes ---- */

static GMimeObject *parse_block(const void *data, size_t len)
{
	GMimeStream *stream = g_mime_stream_mem_new_with_buffer(data, len);
	GMimeParser *parser = g_mime_parser_new_with_stream(stream);
	GMimeObject *object = g_mime_parser_construct_part(parser, NULL);
	g_object_unref(parser);
	g_object_unref(stream);
	return object;
}

static bool is_within_bounds(struct report *report, struct bytes mail)
{
	const char *trouble = bounds_trouble(mail);
	if (trouble)
		TEXT_COPY(report->trouble, trouble);
	return !trouble;
}

typedef void block_fn(struct letters *letters, GMimeObject *block);

/* Calls `call` for each block of headers, up to an empty line; the body of one block is the next block. */
static void each_block(struct letters *letters, GMimePart *part, block_fn *call)
{
	struct buffer rest = { 0 };
	plain_bytes(part, &rest);
	if (!is_within_bounds(letters->report, buffer_bytes(&rest)))
		buffer_clear(&rest);
	for (int i = 0; i < BLOCKS_MOST && rest.len > 0; i++) {
		size_t blank = 0;
		while (blank < rest.len && strchr("\r\n", rest.data[blank]))
			blank++;
		GMimeObject *block = parse_block(rest.data + blank, rest.len - blank);
		struct buffer after = { 0 };
		if (block) {
			call(letters, block);
			if (GMIME_IS_PART(block))
				plain_bytes(GMIME_PART(block), &after);
			g_object_unref(block);
		}
		buffer_free(&rest);
		rest = after;
	}
	buffer_free(&rest);
}

/* ---- the parts ---- */

static bool is_type(GMimeObject *part, const char *type, const char *subtype)
{
	GMimeContentType *given = g_mime_object_get_content_type(part);
	return given && g_mime_content_type_is_type(given, type, subtype);
}

static void read_status(struct letters *letters, GMimePart *part)
{
	struct buffer fields = { 0 };
	plain_bytes(part, &fields);
	bounce_hear_status(&letters->bounce, buffer_text(&fields));
	buffer_free(&fields);
}

static void read_feedback(struct letters *letters, GMimeObject *block)
{
	if (complaint_hear_fields(letters->report, block))
		note_addresses(letters->report, g_mime_object_get_header(block, "Original-Mail-From"));
}

static void note_mailed(struct letters *letters, GMimeObject *original)
{
	const char *to = g_mime_object_get_header(original, "To");
	InternetAddressList *list = to ? internet_address_list_parse(NULL, to) : NULL;

	for (int i = 0; list && i < internet_address_list_length(list); i++) {
		InternetAddress *address = internet_address_list_get_address(list, i);
		if (INTERNET_ADDRESS_IS_MAILBOX(address))
			bounce_hear_mailed(
				&letters->bounce, internet_address_mailbox_get_addr(INTERNET_ADDRESS_MAILBOX(address)));
	}
	if (list)
		g_object_unref(list);
}

/* Reads the mail that the report is about, or its headers alone. */
static void read_original(struct letters *letters, GMimeObject *original)
{
	static const char *const senders[] = { "Return-Path", NULL };
	note_headers(letters->report, original, senders);
	note_message_id(letters->report, g_mime_object_get_header(original, "Message-Id"));
	note_link(letters->report, g_mime_object_get_header(original, "List-Unsubscribe"));
	note_mailed(letters, original);
	complaint_hear_original(letters->report, letters->subject, original);
	letters->has_original = true;
}

/*
 * If the mail that came back was itself a report, it went to us, and its failure tells nothing about the
 * shopper: all that was read of the failure is dropped.
 */
static bool forget_own_failure(struct letters *letters, GMimeObject *original)
{
	if (!letters->is_report || !original || !is_type(original, "multipart", "report"))
		return false;
	letters->bounce = (struct bounce){ 0 };
	buffer_clear(&letters->plain);
	buffer_clear(&letters->html);
	return true;
}

static void read_headers(struct letters *letters, GMimeObject *headers)
{
	forget_own_failure(letters, headers);
	read_original(letters, headers);
}

static void read_parts(struct letters *letters, GMimeObject *part, int depth);

static const char *text_or_none(const char *text)
{
	return text ? text : "";
}

/* Reads the sender and the recipients of a bounce, or of a bounce that a person forwards. */
static void read_head(struct letters *letters, GMimeMessage *message)
{
	static const char *const recipients[] = { "Delivered-To", "X-Original-To", "Envelope-To", "X-Envelope-To", "To",
		NULL };

	letters->from = text_or_none(g_mime_object_get_header(GMIME_OBJECT(message), "From"));
	letters->subject = text_or_none(g_mime_message_get_subject(message));
	letters->is_report = is_type(g_mime_message_get_mime_part(message), "multipart", "report");
	letters->is_from_a_server = bounce_is_from_a_server(letters->from);
	note_headers(letters->report, GMIME_OBJECT(message), recipients);
}

/* A mail of ours has a List-Unsubscribe header, under any name of the shop. */
static bool is_a_bounce(GMimeMessage *message)
{
	const char *from = text_or_none(g_mime_object_get_header(GMIME_OBJECT(message), "From"));

	return is_type(g_mime_message_get_mime_part(message), "multipart", "report") ||
		(bounce_is_from_a_server(from) && !g_mime_object_get_header(GMIME_OBJECT(message), "List-Unsubscribe"));
}

/*
 * A person or a gateway may forward a bounce. A message that a server attaches is otherwise the mail that
 * came back, which is no report.
 */
static bool is_forwarded_bounce(const struct letters *letters, GMimeMessage *message)
{
	return !letters->is_report && is_a_bounce(message) &&
		(!letters->is_from_a_server || is_type(g_mime_message_get_mime_part(message), "multipart", "report"));
}

static void read_message_part(struct letters *letters, GMimeMessage *message, int depth)
{
	if (forget_own_failure(letters, g_mime_message_get_mime_part(message)) ||
		is_forwarded_bounce(letters, message)) {
		read_head(letters, message);
		read_parts(letters, g_mime_message_get_mime_part(message), depth + 1);
	} else {
		read_original(letters, GMIME_OBJECT(message));
	}
}

static void read_attached(struct letters *letters, GMimeObject *part, int depth)
{
	if (GMIME_IS_MESSAGE_PART(part)) {
		GMimeMessage *message = g_mime_message_part_get_message(GMIME_MESSAGE_PART(part));
		if (message)
			read_message_part(letters, message, depth);
	} else if (GMIME_IS_PART(part)) {
		each_block(letters, GMIME_PART(part), read_headers);
	}
}

/* Text after the original mail belongs to that mail. */
static void read_text(struct letters *letters, GMimeObject *part)
{
	if (!letters->has_original)
		plain_add(part, is_type(part, "text", "html") ? &letters->html : &letters->plain);
}

static void read_part(struct letters *letters, GMimeObject *part, int depth)
{
	bool is_status =
		is_type(part, "message", "delivery-status") || is_type(part, "message", "global-delivery-status");
	if (GMIME_IS_PART(part) && is_status)
		read_status(letters, GMIME_PART(part));
	else if (GMIME_IS_PART(part) && is_type(part, "message", "feedback-report"))
		each_block(letters, GMIME_PART(part), read_feedback);
	else if (is_type(part, "message", "disposition-notification"))
		letters->bounce.state = BOUNCE_NOTHING;
	else if (is_type(part, "message", "*") || is_type(part, "text", "rfc822-headers"))
		read_attached(letters, part, depth);
	else if (is_type(part, "text", "*"))
		read_text(letters, part);
}

static void read_parts(struct letters *letters, GMimeObject *part, int depth)
{
	if (!part || letters->parts >= PARTS_MOST)
		return;
	letters->parts++;
	if (!GMIME_IS_MULTIPART(part)) {
		read_part(letters, part, depth);
		return;
	}
	int count = g_mime_multipart_get_count(GMIME_MULTIPART(part));
	for (int i = 0; i < count && i < PARTS_MOST && depth < DEPTH_MOST; i++)
		read_parts(letters, g_mime_multipart_get_part(GMIME_MULTIPART(part), i), depth + 1);
}

/* ---- the result ---- */

static size_t name_before(const char *text, const char *at)
{
	size_t len = 0;
	while (at - len > text &&
		(g_ascii_isalnum(at[-1 - (ptrdiff_t)len]) || strchr("+._=-", at[-1 - (ptrdiff_t)len])))
		len++;
	return len;
}

/* A signed tag or a Message-ID of ours is also a proof where it is quoted: no stranger can make one. */
static bool note_named(struct report *report, const char *text)
{
	bool names_ours = false;
	for (const char *at = text; (at = strchr(at, '@')); at++) {
		char name[255], local[MAIL_LOCAL_MAX];
		size_t before = name_before(text, at);
		size_t after = strspn(at + 1, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-");
		if (!text_copy_bytes(name, sizeof(name), BYTES(at - before, before + 1 + after)))
			continue;
		if (mail_local_read(name, local))
			note_message_id(report, name);
		else if (before >= BOUNCE_TAG_LEN)
			note_address(report, name);
		else
			continue;
		names_ours = true;
	}
	return names_ours;
}

/* Many mail servers append the original mail to their words; its headers are read like attached ones. */
static void cut_off_original(struct letters *letters)
{
	struct buffer *text = &letters->plain;
	const char *all = buffer_text(text);
	size_t at = plain_original_at(all);
	const char *headers = plain_skip_quotes(all + at);
	bool is_new = *headers && !letters->has_original && is_within_bounds(letters->report, bytes_of(headers));
	GMimeObject *original = is_new ? parse_block(headers, strlen(headers)) : NULL;
	if (original) {
		read_original(letters, original);
		g_object_unref(original);
	}
	text->len = at;
}

static bool is_automatic(GMimeMessage *message)
{
	const char *said = g_mime_object_get_header(GMIME_OBJECT(message), "Auto-Submitted");
	return (said && strcasestr(said, "auto-")) || g_mime_object_get_header(GMIME_OBJECT(message), "X-Autoreply") ||
		g_mime_object_get_header(GMIME_OBJECT(message), "X-Autorespond");
}

static bool has_one_of(GMimeMessage *message, const char *const *names)
{
	for (; *names; names++)
		if (g_mime_object_get_header(GMIME_OBJECT(message), *names))
			return true;
	return false;
}

static bool is_personal(GMimeMessage *message)
{
	static const char *const names[] = { "In-Reply-To", "List-Id", "List-Unsubscribe", NULL };
	return has_one_of(message, names);
}

/*
 * Did a person write it? The envelope of a bounce has no sender, which a mailbox keeps as "<>" (RFC 5321,
 * 4.4).
 */
static bool is_written(GMimeMessage *message)
{
	static const char *const names[] = { "References", "User-Agent", "X-Originating-IP", NULL };
	const char *path = g_mime_object_get_header(GMIME_OBJECT(message), "Return-Path");
	return has_one_of(message, names) ||
		(path && strchr(path, '@') && !bounce_is_from_a_server(path) && !is_automatic(message));
}

static bool is_nobodys(GMimeMessage *message)
{
	const char *path = g_mime_object_get_header(GMIME_OBJECT(message), "Return-Path");
	return path && strchr(path, '<') && !strchr(path, '@');
}

static void judge(struct letters *letters, GMimeMessage *message)
{
	bool plain_names_ours = note_named(letters->report, buffer_text(&letters->plain));
	bool html_names_ours = note_named(letters->report, buffer_text(&letters->html));
	cut_off_original(letters);
	const char *plain = buffer_text(&letters->plain), *html = buffer_text(&letters->html);
	if (letters->report->kind == REPORT_NONE && letters->bounce.state == BOUNCE_NONE)
		complaint_hear_text(letters->report, plain);
	if (letters->report->kind != REPORT_NONE)
		return;
	const struct bounce_mail letter = { .from = letters->from,
		.subject = letters->subject,
		.text = plain[strspn(plain, " \t\r\n")] ? plain : html,
		.automatic = is_automatic(message),
		.is_personal = is_personal(message),
		.is_nobodys = is_nobodys(message),
		.is_written = is_written(message),
		.names_ours = plain_names_ours || html_names_ours,
		.is_report = letters->is_report };
	bounce_hear_mail(&letters->bounce, &letter);
	for (int i = 0; i < letters->report->address_count; i++)
		bounce_hear_ours(&letters->bounce, letters->report->addresses[i]);
	bounce_tell(&letters->bounce, letters->report);
}

/*
 * Some gateways break the lines of a header, and so the boundary of the parts is lost: then the whole body is
 * read as one text of fields and words.
 */
static void read_broken(struct letters *letters, struct bytes mail)
{
	const char *all = mail.data, *end = all + mail.len;
	const char *body = memmem(all, mail.len, "\n\n", 2), *other = memmem(all, mail.len, "\r\n\r\n", 4);
	if (other && (!body || other < body))
		body = other;
	if (!body)
		return;
	buffer_add(&letters->plain, body, strnlen(body, (size_t)(end - body)));
	bounce_hear_status(&letters->bounce, buffer_text(&letters->plain));
}

static void read_message(struct report *report, GMimeMessage *message, struct bytes mail)
{
	struct letters letters = { .report = report };
	read_head(&letters, message);
	read_parts(&letters, g_mime_message_get_mime_part(message), 0);
	if (letters.parts == 1 && GMIME_IS_MULTIPART(g_mime_message_get_mime_part(message)))
		read_broken(&letters, mail);
	judge(&letters, message);
	buffer_free(&letters.plain);
	buffer_free(&letters.html);
}

/* Is there a CR that no LF follows? */
static bool is_alone(struct bytes mail, size_t at)
{
	const char *text = mail.data;

	return text[at] == '\r' && (at + 1 == mail.len || text[at + 1] != '\n');
}

/* Only archives of very old mails end lines with CR alone; a few LF may be in text that they quote. */
static bool ends_lines_with_cr(struct bytes mail)
{
	size_t returns = 0, feeds = 0;

	for (size_t i = 0; i < mail.len; i++) {
		returns += is_alone(mail, i);
		feeds += ((const char *)mail.data)[i] == '\n';
	}
	return returns > feeds;
}

static struct bytes with_line_feeds(struct bytes mail, struct buffer *copy)
{
	if (!ends_lines_with_cr(mail))
		return mail;
	buffer_add(copy, mail.data, mail.len);
	for (size_t i = 0; i < copy->len; i++)
		if (is_alone(mail, i))
			copy->data[i] = '\n';
	return buffer_bytes(copy);
}

static void read_bytes(struct bytes mail, struct report *ret)
{
	GMimeStream *stream = g_mime_stream_mem_new_with_buffer(mail.data, mail.len);
	GMimeParser *parser = g_mime_parser_new_with_stream(stream);
	GMimeMessage *message = g_mime_parser_construct_message(parser, NULL);
	if (message) {
		read_message(ret, message, mail);
		g_object_unref(message);
	}
	g_object_unref(parser);
	g_object_unref(stream);
}

/* Some archives keep empty lines before the header of a mail, and an empty line would end the header. */
static struct bytes without_empty_lines(struct bytes mail)
{
	const char *text = mail.data;
	size_t begin = 0;

	for (size_t i = 0; i < mail.len && text[i] && strchr(" \t\r\n", text[i]); i++)
		if (text[i] == '\r' || text[i] == '\n')
			begin = i + 1;
	return BYTES(text + begin, mail.len - begin);
}

void report_read(struct bytes mail, struct report *ret)
{
	struct buffer copy = { 0 };
	memset(ret, 0, sizeof(*ret));
	mail = without_empty_lines(mail);
	if (mail.len == 0 || mail.len > REPORT_BYTES_MOST)
		return;
	mail = with_line_feeds(mail, &copy);
	if (is_within_bounds(ret, mail))
		read_bytes(mail, ret);
	buffer_free(&copy);
	if (ret->trouble[0]) {
		ret->kind = REPORT_NONE;
		ret->detail[0] = '\0';
	}
}

void report_note_recipients(struct report *report, const char (*recipients)[ADDRESS_MAX + 1], int count)
{
	int keep = REPORT_NAMES_MOST - count;
	if (report->address_count > keep)
		report->address_count = keep;
	memmove(report->addresses[count], report->addresses[0],
		(size_t)report->address_count * sizeof(report->addresses[0]));
	for (int i = 0; i < count; i++)
		TEXT_COPY(report->addresses[i], recipients[i]);
	report->address_count += count;
}

static bool ends(const char *text, size_t room)
{
	return memchr(text, 0, room) != NULL;
}

bool report_is_sound(const struct report *report)
{
	bool sound =
		(report->kind == REPORT_NONE || report->kind == REPORT_NOTHING || report->kind == REPORT_FEEDBACK) &&
		(report->feedback == FEEDBACK_COMPLAINT || report->feedback == FEEDBACK_BOUNCE_PERMANENT ||
			report->feedback == FEEDBACK_BOUNCE_TRANSIENT) &&
		report->reason >= REASON_UNCLEAR && report->reason < REASON_COUNT && report->address_count >= 0 &&
		report->address_count <= REPORT_NAMES_MOST && report->message_id_count >= 0 &&
		report->message_id_count <= REPORT_NAMES_MOST && ends(report->detail, sizeof(report->detail)) &&
		ends(report->trouble, sizeof(report->trouble));
	for (int i = 0; sound && i < REPORT_NAMES_MOST; i++)
		sound = ends(report->addresses[i], sizeof(report->addresses[i])) &&
			ends(report->message_ids[i], sizeof(report->message_ids[i]));
	for (int i = 0; sound && i < REPORT_LINKS_MOST; i++)
		sound = ends(report->links[i], sizeof(report->links[i]));
	/* `detail` goes to the bus, `trouble` becomes a line of a note (quarantine.h). */
	return sound && text_is_utf8(bytes_of(report->detail)) && !text_has_control(report->detail) &&
		!strchr(report->detail, '@') && text_is_utf8(bytes_of(report->trouble)) &&
		!text_has_control(report->trouble);
}
