/*
 * header.c: header lines that nobody can break out of
 *
 * Promises:  one call makes one header; a value that contains CR, LF, another control or bytes that are not UTF-8 makes none.
 *            Encoded words are at most 75 characters, never split a character and never stand inside an address (RFC 2047).
 * Fails by:  -EINVAL.
 * Read next: compose.c
 */
#include "bus/base/text.h"
#include "services/kit/mail/compose.h"
#include <ctype.h>
#include <errno.h>
#include <openssl/evp.h>
#include <time.h>

enum {
	LINE_SHORT = 76,        /* beyond it we fold, though RFC 5322 only says that one should, at 78 */
	LINE_MOST = 998,        /* RFC 5322, 2.1.1 */
	ENCODED_WORD_BYTES = 45 /* 60 characters of base64 and 12 around them: 72, of the 75 that RFC 2047 allows */
};

static bool is_ascii(const char *text)
{
	for (; *text; text++)
		if (*text & 0x80)
			return false;
	return true;
}

static bool value_valid(const char *value)
{
	return text_is_utf8(bytes_of(value)) && !text_has_control(value);
}

/* How many bytes of `text`, at most ENCODED_WORD_BYTES, without cutting a character. */
static size_t word_length(const char *text)
{
	size_t len = strlen(text);
	if (len <= ENCODED_WORD_BYTES)
		return len;
	len = ENCODED_WORD_BYTES;
	while ((text[len] & 0xc0) == 0x80)
		len--;
	return len;
}

static void add_encoded_words(struct buffer *ret, const char *text)
{
	for (bool first = true; *text; first = false) {
		unsigned char base64[4 * ENCODED_WORD_BYTES / 3 + 4];
		size_t len = word_length(text);
		EVP_EncodeBlock(base64, (const unsigned char *)text, (int)len);
		buffer_printf(ret, "%s=?UTF-8?B?%s?=", first ? "" : "\r\n ", (const char *)base64);
		text += len;
	}
}

int mail_header_text(struct buffer *ret, const char *name, const char *value)
{
	if (!value_valid(value))
		return -EINVAL;
	buffer_printf(ret, "%s: ", name);
	if (is_ascii(value) && !strstr(value, "=?") && strlen(name) + 2 + strlen(value) <= LINE_SHORT)
		buffer_add_text(ret, value);
	else
		add_encoded_words(ret, value);
	buffer_add_text(ret, "\r\n");
	return 0;
}

int mail_header_plain(struct buffer *ret, const char *name, const char *value)
{
	if (!value_valid(value) || !is_ascii(value) || strlen(name) + 2 + strlen(value) > LINE_MOST)
		return -EINVAL;
	buffer_add_text(ret, name);
	buffer_add_text(ret, ": ");
	buffer_add_text(ret, value);
	buffer_add_text(ret, "\r\n");
	return 0;
}

static void unquote(char *name)
{
	size_t len = strlen(name);
	if (len < 2 || name[0] != '"' || name[len - 1] != '"')
		return;
	char *to = name;
	for (const char *at = name + 1; at < name + len - 1; at++) {
		if (*at == '\\' && at + 1 < name + len - 1)
			at++;
		*to++ = *at;
	}
	*to = 0;
}

int mailbox_split(const char *mailbox, char ret_name[200], char ret_address[ADDRESS_MAX + 1])
{
	const char *open = strrchr(mailbox, '<');
	ret_name[0] = 0;
	if (!value_valid(mailbox))
		return -EINVAL;
	if (!open)
		return address_normalise(mailbox, ret_address);
	size_t name = (size_t)(open - mailbox);
	while (name && mailbox[name - 1] == ' ')
		name--;
	char address[ADDRESS_MAX + 2];
	const char *close = strchr(open, '>');
	if (!close || close[1] || (size_t)(close - open) > sizeof(address))
		return -EINVAL;
	if (!text_copy_bytes(ret_name, 200, BYTES(mailbox, name)))
		return -EINVAL;
	text_copy_bytes(address, sizeof(address), BYTES(open + 1, (size_t)(close - open - 1)));
	unquote(ret_name);
	return address_normalise(address, ret_address);
}

static void add_quoted(struct buffer *ret, const char *name)
{
	buffer_add_text(ret, "\"");
	for (; *name; name++) {
		if (*name == '"' || *name == '\\')
			buffer_add_text(ret, "\\");
		buffer_add(ret, name, 1);
	}
	buffer_add_text(ret, "\"");
}

int mail_header_mailbox(struct buffer *ret, const char *name, const char *mailbox)
{
	char words[200], address[ADDRESS_MAX + 1];
	int r = mailbox_split(mailbox, words, address);
	if (r < 0)
		return r;
	buffer_printf(ret, "%s: ", name);
	if (!words[0]) {
		buffer_printf(ret, "%s\r\n", address);
		return 0;
	}
	if (is_ascii(words) && strlen(name) + strlen(words) < LINE_SHORT - 4)
		add_quoted(ret, words);
	else
		add_encoded_words(ret, words);
	buffer_printf(ret, "\r\n <%s>\r\n", address);
	return 0;
}

void mail_header_date(struct buffer *ret, int64_t now_us)
{
	static const char *const days[] = { "Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat" };
	static const char *const months[] = { "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct",
		"Nov", "Dec" };
	time_t seconds = (time_t)(now_us / US_PER_S);
	struct tm tm;
	gmtime_r(&seconds, &tm);
	buffer_printf(ret, "Date: %s, %d %s %d %02d:%02d:%02d +0000\r\n", days[tm.tm_wday], tm.tm_mday,
		months[tm.tm_mon], tm.tm_year + 1900, tm.tm_hour, tm.tm_min, tm.tm_sec);
}
