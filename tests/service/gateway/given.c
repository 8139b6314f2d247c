/* given.c: fixtures and folders for the gateway's tests */
#include "given.h"
#include "bus/base/file.h"
#include "services/kit/time/timestamp.h"
#include "tests/unit/folder.h"
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

static struct buffer loaded, replaced;

struct bytes fixture(const char *name, const char *from, const char *to)
{
	char path[512];
	const char *at, *hit;
	int hits = 0;

	snprintf(path, sizeof(path), FIXTURES "/%s", name);
	buffer_clear(&loaded);
	assert_int_equal(file_read(path, 1 << 20, &loaded), 0);
	if (!from)
		return buffer_bytes(&loaded);
	buffer_clear(&replaced);
	for (at = buffer_text(&loaded); (hit = strstr(at, from)); at = hit + strlen(from), hits++) {
		buffer_add(&replaced, at, (size_t)(hit - at));
		buffer_add_text(&replaced, to);
	}
	assert_true(hits > 0);
	buffer_add_text(&replaced, at);
	return buffer_bytes(&replaced);
}

struct event *fresh_event(void)
{
	static struct event event;

	memset(&event, 0x5a, sizeof(event));
	return &event;
}

char *fresh_folder(void)
{
	static char folder[64];

	snprintf(folder, sizeof(folder), "/tmp/cartbus-gateway-XXXXXX");
	folder_make(folder);
	return folder;
}

void remove_folder(const char *folder)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf -- '%s'", folder);
	assert_int_equal(system(command), 0);
}

int64_t at_us(const char *moment)
{
	int64_t us = 0;

	assert_int_equal(timestamp_parse(moment, &us), 0);
	return us;
}

void write_below(const char *folder, const char *name, const char *text, mode_t mode)
{
	char path[256], *slash;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	slash = strrchr(path, '/');
	*slash = '\0';
	assert_int_equal(file_make_folders(path, 0750), 0);
	*slash = '/';
	assert_int_equal(file_write_durably(path, bytes_of(text), mode), 0);
	assert_int_equal(chmod(path, mode), 0); /* the umask may have taken some of it */
}
