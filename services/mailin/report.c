/*
 * report.c: what a mail that came back says
 *
 * GMime takes it apart. The fields of a delivery status are header blocks, one per recipient (RFC 3464, 2.1), and are read as such.
 *
 * Promises:  whatever the bytes are: at most PARTS_MOST parts and BLOCKS_MOST blocks are looked at, one level deep, and no word with an
 *            address in it gets out.
 * Fails by:  REPORT_NONE.
 * Read next: match.c (whose mail it was)
 */
#include "services/mailin/report.h"
#include "bus/base/text.h"
#include "services/kit/mail.h"
#include <gmime/gmime.h>
#include <stdio.h>
#include <strings.h>

enum { PARTS_MOST = 16, BLOCKS_MOST = 16, HEADERS_MOST = 200 };

void report_init(void)
{
	g_mime_init();
}

/* ---- names that may tell which mail it was ---- */

static void note_address(struct report *report, const char *address)
{
	if (report->address_count < REPORT_NAMES_MOST && address &&
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
	if (text_copy_bytes(plain, sizeof(plain), BYTES(id, strcspn(id, "> \t\r\n"))) && plain[0])
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

static const char *header(GMimeObject *object, const char *name)
{
	const char *value = g_mime_object_get_header(object, name);
	return value ? value : "";
}

/* The mail that it is about, or its headers alone. */
static void note_original(struct report *report, GMimeObject *original)
{
	static const char *const senders[] = { "Return-Path", NULL };
	note_headers(report, original, senders);
	note_message_id(report, g_mime_object_get_header(original, "Message-Id"));
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

static void content_of(GMimePart *part, struct buffer *ret)
{
	GMimeDataWrapper *content = g_mime_part_get_content(part);
	GMimeStream *stream = g_mime_stream_mem_new();
	if (content)
		g_mime_data_wrapper_write_to_stream(content, stream);
	GByteArray *bytes = g_mime_stream_mem_get_byte_array(GMIME_STREAM_MEM(stream));
	buffer_add(ret, bytes->data ? bytes->data : (const guint8 *)"", bytes->len);
	g_object_unref(stream);
}

typedef void block_fn(struct report *report, GMimeObject *block);

/* Blocks of headers with an empty line between them: what follows a block is its body, and so on. */
static void each_block(struct report *report, GMimePart *part, block_fn *call)
{
	struct buffer rest = { 0 };
	content_of(part, &rest);
	for (int i = 0; i < BLOCKS_MOST && rest.len > 0; i++) {
		size_t blank = 0;
		while (blank < rest.len && strchr("\r\n", rest.data[blank]))
			blank++;
		GMimeObject *block = parse_block(rest.data + blank, rest.len - blank);
		struct buffer after = { 0 };
		if (block) {
			call(report, block);
			if (GMIME_IS_PART(block))
				content_of(GMIME_PART(block), &after);
			g_object_unref(block);
		}
		buffer_free(&rest);
		rest = after;
	}
	buffer_free(&rest);
}

/* ---- a bounce ---- */

/*
 * Of the permanent codes (5.x.x, RFC 3463) those that speak of the address: it does not exist (5.1.x), is closed (5.2.1), has no
 * mail server (5.4.4), or nothing more exact is said (5.0.0, 5.2.0). The others speak of the mail, of us or of the server: a full
 * mailbox, too large a mail, a policy. They are counted.
 */
static bool status_is_permanent(const char *status)
{
	static const char *const codes[] = { "5.0.0", "5.2.0", "5.2.1", "5.4.4", NULL };
	return text_starts(status, "5.1.") || is_one_of(status, codes);
}

static void read_status(struct report *report, GMimeObject *block)
{
	char status[16], line[400];
	const char *action = header(block, "Action"), *said = header(block, "Status");
	if (!*action)
		return; /* about the message as a whole */
	if (strcasecmp(action, "failed") != 0) {
		report->kind = report->kind == REPORT_NONE ? REPORT_NOTHING : report->kind;
		return;
	}
	said += strspn(said, " \t");
	text_copy_bytes(status, sizeof(status), BYTES(said, strspn(said, "0123456789.")));
	bool permanent = status_is_permanent(status);
	if (report->kind == REPORT_FEEDBACK && !permanent)
		return;
	report->kind = REPORT_FEEDBACK;
	report->feedback = permanent ? FEEDBACK_BOUNCE_PERMANENT : FEEDBACK_BOUNCE_TRANSIENT;
	snprintf(line, sizeof(line), "bounced: %s %s", status, header(block, "Diagnostic-Code"));
	char words[256];
	mail_words(line, strlen(line), words);
	TEXT_COPY(report->detail, words);
}

/* ---- a complaint ---- */

static void read_feedback(struct report *report, GMimeObject *block)
{
	static const char *const others[] = { "not-spam", "auth-failure", "dmarc", NULL };
	const char *type = header(block, "Feedback-Type");
	if (!*type)
		return;
	note_addresses(report, g_mime_object_get_header(block, "Original-Mail-From"));
	if (is_one_of(type, others)) {
		report->kind = REPORT_NOTHING;
		return;
	}
	report->kind = REPORT_FEEDBACK;
	report->feedback = FEEDBACK_COMPLAINT;
	char line[120];
	char words[256];
	snprintf(line, sizeof(line), "complained: %.80s", type);
	mail_words(line, strlen(line), words);
	TEXT_COPY(report->detail, words);
}

/* ---- the parts ---- */

static bool is_type(GMimeObject *part, const char *type, const char *subtype)
{
	GMimeContentType *given = g_mime_object_get_content_type(part);
	return given && g_mime_content_type_is_type(given, type, subtype);
}

static void read_original(struct report *report, GMimeObject *part)
{
	if (GMIME_IS_MESSAGE_PART(part)) {
		GMimeMessage *original = g_mime_message_part_get_message(GMIME_MESSAGE_PART(part));
		if (original)
			note_original(report, GMIME_OBJECT(original));
	} else if (GMIME_IS_PART(part)) {
		each_block(report, GMIME_PART(part), note_original);
	}
}

static void read_part(struct report *report, GMimeObject *part)
{
	bool is_status =
		is_type(part, "message", "delivery-status") || is_type(part, "message", "global-delivery-status");
	if (GMIME_IS_PART(part) && is_status)
		each_block(report, GMIME_PART(part), read_status);
	else if (GMIME_IS_PART(part) && is_type(part, "message", "feedback-report"))
		each_block(report, GMIME_PART(part), read_feedback);
	else if (is_type(part, "message", "*") || is_type(part, "text", "rfc822-headers"))
		read_original(report, part);
}

static void read_message(struct report *report, GMimeMessage *message)
{
	static const char *const recipients[] = { "Delivered-To", "X-Original-To", "Envelope-To", "X-Envelope-To", "To",
		NULL };
	GMimeObject *root = g_mime_message_get_mime_part(message);
	note_headers(report, GMIME_OBJECT(message), recipients);
	if (!root || !GMIME_IS_MULTIPART(root) || !is_type(root, "multipart", "report"))
		return;
	int count = g_mime_multipart_get_count(GMIME_MULTIPART(root));
	for (int i = 0; i < count && i < PARTS_MOST; i++)
		read_part(report, g_mime_multipart_get_part(GMIME_MULTIPART(root), i));
}

void report_read(struct bytes mail, struct report *ret)
{
	memset(ret, 0, sizeof(*ret));
	if (mail.len == 0 || mail.len > REPORT_BYTES_MOST)
		return;
	GMimeStream *stream = g_mime_stream_mem_new_with_buffer(mail.data, mail.len);
	GMimeParser *parser = g_mime_parser_new_with_stream(stream);
	GMimeMessage *message = g_mime_parser_construct_message(parser, NULL);
	if (message) {
		read_message(ret, message);
		g_object_unref(message);
	}
	g_object_unref(parser);
	g_object_unref(stream);
}
