/*
 * files_mail.c: does a mail say something of a shopper, however it is encoded?
 *
 * Promises:  GMime takes it apart, mails within the mail as well; what it cannot read is read as it is.
 * Read next: files.c
 */
#include "services/cartbus/people/files.h"

#include <gmime/gmime.h>
#include <string.h>

enum { PARTS_MOST = 100 };

static bool headers_hold(const struct person *person, GMimeObject *part)
{
	GMimeHeaderList *headers = g_mime_object_get_header_list(part);

	for (int i = 0; headers && i < g_mime_header_list_get_count(headers); i++) {
		const char *value = g_mime_header_get_value(g_mime_header_list_get_header_at(headers, i));

		if (value && person_holds(person, bytes_of(value)))
			return true;
	}
	return false;
}

static bool content_holds(const struct person *person, GMimeObject *part)
{
	GMimeDataWrapper *content = GMIME_IS_PART(part) ? g_mime_part_get_content(GMIME_PART(part)) : NULL;
	GMimeStream *stream;
	const GByteArray *decoded;
	bool found;

	if (!content)
		return false;
	stream = g_mime_stream_mem_new();
	g_mime_data_wrapper_write_to_stream(content, stream);
	decoded = g_mime_stream_mem_get_byte_array(GMIME_STREAM_MEM(stream));
	found = person_holds(person, BYTES(decoded->data, decoded->len));
	g_object_unref(stream);
	return found;
}

static bool parts_hold(const struct person *person, GMimeMessage *message)
{
	GMimePartIter *parts = g_mime_part_iter_new(GMIME_OBJECT(message));
	bool found = headers_hold(person, GMIME_OBJECT(message));

	for (int i = 0; !found && i < PARTS_MOST && g_mime_part_iter_is_valid(parts); i++) {
		GMimeObject *part = g_mime_part_iter_get_current(parts);

		if (GMIME_IS_MESSAGE_PART(part))
			part = GMIME_OBJECT(g_mime_message_part_get_message(GMIME_MESSAGE_PART(part)));
		found = part && (headers_hold(person, part) || content_holds(person, part));
		if (!g_mime_part_iter_next(parts))
			break;
	}
	g_mime_part_iter_free(parts);
	return found;
}

bool files_mail_holds(const struct person *person, struct bytes mail)
{
	GMimeStream *stream;
	GMimeParser *parser;
	GMimeMessage *message;
	bool found;

	g_mime_init(); /* it counts its calls, and does something at the first */
	stream = g_mime_stream_mem_new_with_buffer(mail.data, mail.len);
	parser = g_mime_parser_new_with_stream(stream);
	message = g_mime_parser_construct_message(parser, NULL);
	found = message && parts_hold(person, message);
	if (message)
		g_object_unref(message);
	g_object_unref(parser);
	g_object_unref(stream);
	return found;
}
