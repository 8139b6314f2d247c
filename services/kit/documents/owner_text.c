/* owner_text.c: see owner_text.h */
#include "services/kit/documents/owner_text.h"
#include "bus/base/file.h"
#include "bus/base/text.h"
#include <errno.h>
#include <stdio.h>

static const char too_long[] = "is longer than 32 KB";

const char *owner_text_wrong(struct bytes text)
{
	if (text.len > OWNER_TEXT_MAX)
		return too_long;
	if (text.len > 0 && memchr(text.data, '\0', text.len))
		return "is not a text in UTF-8: it holds a NUL";
	return text.len > 0 && !text_is_utf8(text) ? "is not a text in UTF-8" : NULL;
}

int owner_text_read(const char *path, struct buffer *ret, char ret_why[OWNER_TEXT_WHY])
{
	size_t before = ret->len;
	int r = file_read(path, OWNER_TEXT_MAX, ret);
	const char *wrong = r < 0 ? NULL : owner_text_wrong(BYTES(ret->data + before, ret->len - before));

	if (r == -EFBIG)
		snprintf(ret_why, OWNER_TEXT_WHY, "%s", too_long);
	else if (r < 0)
		snprintf(ret_why, OWNER_TEXT_WHY, "cannot be read: %s", strerror(-r));
	else if (wrong)
		snprintf(ret_why, OWNER_TEXT_WHY, "%s", wrong);
	return wrong ? -EILSEQ : r;
}
