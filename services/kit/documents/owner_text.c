/* owner_text.c: see owner_text.h */
#include "services/kit/documents/owner_text.h"
#include "bus/base/file.h"
#include "bus/base/text.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>

void owner_text_too_long(uint64_t bytes, size_t bytes_max, char ret_why[OWNER_TEXT_WHY])
{
	snprintf(ret_why, OWNER_TEXT_WHY, "is longer than %zu KB: it has %" PRIu64 " bytes, and %zu is most",
		(bytes_max + 1023) / 1024, bytes, bytes_max);
}

bool owner_text_valid(struct bytes text, size_t bytes_max, char ret_why[OWNER_TEXT_WHY])
{
	if (text.len > bytes_max)
		owner_text_too_long(text.len, bytes_max, ret_why);
	else if (text.len > 0 && memchr(text.data, '\0', text.len))
		snprintf(ret_why, OWNER_TEXT_WHY, "is not a text in UTF-8: it holds a NUL");
	else if (text.len > 0 && !text_is_utf8(text))
		snprintf(ret_why, OWNER_TEXT_WHY, "is not a text in UTF-8");
	else
		return true;
	return false;
}

void owner_text_file_too_long(const char *path, size_t bytes_max, char ret_why[OWNER_TEXT_WHY])
{
	struct stat file = { 0 };
	bool has_size = stat(path, &file) == 0 && (uint64_t)file.st_size > bytes_max;

	owner_text_too_long(has_size ? (uint64_t)file.st_size : bytes_max + 1, bytes_max, ret_why);
}

int owner_text_read(const char *path, size_t bytes_max, struct buffer *ret, char ret_why[OWNER_TEXT_WHY])
{
	size_t before = ret->len;
	int r = file_read(path, bytes_max, ret);

	if (r == -EFBIG)
		owner_text_file_too_long(path, bytes_max, ret_why);
	else if (r < 0)
		snprintf(ret_why, OWNER_TEXT_WHY, "cannot be read: %s", strerror(-r));
	else if (!owner_text_valid(BYTES(ret->data + before, ret->len - before), bytes_max, ret_why))
		return -EILSEQ;
	return r;
}
