/*
 * mime.c: takes a mail of ours apart again (GMime)
 */
#include "services/cartbus/texts/mime.h"

#include <errno.h>
#include <gmime/gmime.h>
#include <stdio.h>
#include <string.h>

/* NULL: it is no mail. */
static GMimeMessage *message_of(struct bytes mime)
{
	GMimeStream *stream;
	GMimeParser *parser;
	GMimeMessage *message;

	g_mime_init(); /* it counts its calls, and does something at the first */
	stream = g_mime_stream_mem_new_with_buffer(mime.data, mime.len);
	parser = g_mime_parser_new_with_stream(stream);
	message = g_mime_parser_construct_message(parser, NULL);
	g_object_unref(parser);
	g_object_unref(stream);
	return message;
}

/* A mail's lines end with CRLF, a reader's with LF. */
static void add_content(GMimePart *part, struct buffer *ret)
{
	GMimeStream *decoded = g_mime_stream_mem_new(), *lines = g_mime_stream_filter_new(decoded);
	GMimeFilter *ends = g_mime_filter_dos2unix_new(false);
	const GByteArray *bytes;

	g_mime_stream_filter_add(GMIME_STREAM_FILTER(lines), ends);
	g_mime_data_wrapper_write_to_stream(g_mime_part_get_content(part), lines);
	g_mime_stream_flush(lines);
	bytes = g_mime_stream_mem_get_byte_array(GMIME_STREAM_MEM(decoded));
	buffer_add(ret, bytes->data, bytes->len);
	g_object_unref(ends);
	g_object_unref(lines);
	g_object_unref(decoded);
}

static int add_part(GMimeMessage *message, const char *type, struct buffer *ret)
{
	GMimePartIter *parts = g_mime_part_iter_new(GMIME_OBJECT(message));
	int found = -ENOENT;

	for (bool more = g_mime_part_iter_is_valid(parts); more && found; more = g_mime_part_iter_next(parts)) {
		GMimeObject *part = g_mime_part_iter_get_current(parts);
		char *its = g_mime_content_type_get_mime_type(g_mime_object_get_content_type(part));

		if (GMIME_IS_PART(part) && g_mime_part_get_content(GMIME_PART(part)) &&
			g_ascii_strcasecmp(its, type) == 0) {
			add_content(GMIME_PART(part), ret);
			found = 0;
		}
		g_free(its);
	}
	g_mime_part_iter_free(parts);
	return found;
}

int mime_part(struct bytes mime, const char *type, struct buffer *ret)
{
	GMimeMessage *message = message_of(mime);
	int found = message ? add_part(message, type, ret) : -ENOENT;

	if (message)
		g_object_unref(message);
	return found;
}

static void print_decoded(const char *raw, char *ret, size_t room)
{
	char *unfolded = g_mime_utils_header_unfold(raw);
	char *decoded = g_mime_utils_header_decode_text(NULL, unfolded);

	snprintf(ret, room, "%s", decoded + strspn(decoded, " "));
	g_free(decoded);
	g_free(unfolded);
}

int mime_header(struct bytes mime, const char *name, char *ret, size_t room)
{
	GMimeMessage *message = message_of(mime);
	GMimeHeader *header = message
		? g_mime_header_list_get_header(g_mime_object_get_header_list(GMIME_OBJECT(message)), name)
		: NULL;

	if (header)
		print_decoded(g_mime_header_get_raw_value(header), ret, room);
	if (message)
		g_object_unref(message);
	return header ? 0 : -ENOENT;
}
