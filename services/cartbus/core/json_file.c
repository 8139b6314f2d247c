#include "services/cartbus/core/json_file.h"

#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_MOST = 256 << 20 };

int json_file_read(const char *path, json_t **ret)
{
	_cleanup_(buffer_free) struct buffer text = { 0 };
	int r = file_read(path, FILE_MOST, &text);

	*ret = r < 0 ? NULL : json_loads(buffer_text(&text), 0, NULL);
	if (r < 0)
		return r;
	return *ret ? 0 : -EBADMSG;
}

int json_file_write(const char *path, const json_t *json)
{
	_cleanup_free_ char *text = json_dumps(json, JSON_INDENT(1));

	return text ? file_write_durably(path, bytes_of(text), 0600) : -EBADMSG;
}

const char *json_file_words(int r)
{
	return r == -EBADMSG ? "it is no whole JSON" : strerror(-r);
}
