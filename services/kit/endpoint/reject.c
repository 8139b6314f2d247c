/*
 * reject.c: keeps authentic webhooks that can never be read, so that people can look into them
 *
 * Owns:      <state>/<instance>/rejected/
 * Promises:  number and size are bounded. A webhook's content cannot forge a line of the head.
 * Fails by:  an error that the caller logs; the answer to the storefront does not depend on it.
 */
#include "services/kit/endpoint/reject.h"
#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include "bus/base/text.h"
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <sys/stat.h>

static void add_line(struct buffer *to, const char *name, const char *value)
{
	buffer_printf(to, "%s: ", name);
	for (; *value; value++) {
		char c = (unsigned char)*value < ' ' || *value == 0x7f ? ' ' : *value;

		buffer_add(to, &c, 1);
	}
	buffer_add_text(to, "\n");
}

/* Also finds a file that a killed gateway did not finish. */
static int only_rejected(const struct dirent *entry)
{
	return strstr(entry->d_name, ".rejected") != NULL;
}

/* Goes from the newest to the oldest file, and removes all files past the limits. */
static int make_room(const char *folder, size_t coming)
{
	struct dirent **names = NULL;
	int found = scandir(folder, &names, only_rejected, alphasort);
	size_t bytes = coming;

	if (found < 0)
		return -errno;
	for (int i = found - 1; i >= 0; i--) {
		char path[PATH_MAX];
		struct stat there;

		snprintf(path, sizeof(path), "%s/%s", folder, names[i]->d_name);
		if (stat(path, &there) == 0)
			bytes += (size_t)there.st_size;
		if (found - i >= REJECTS_MOST || bytes > REJECTS_BYTES_MOST)
			unlink(path);
		free(names[i]);
	}
	free(names);
	return 0;
}

int reject_keep(const char *folder, const struct rejection *rejection, char ret_name[64])
{
	_cleanup_(buffer_free) struct buffer text = { 0 };
	char random[33], path[PATH_MAX];
	int r;

	text_random_name(random);
	snprintf(ret_name, 64, "%020" PRId64 "-%.8s.rejected", rejection->at_us, random);
	add_line(&text, "shop", rejection->shop);
	add_line(&text, "platform", rejection->platform);
	add_line(&text, "topic", rejection->topic);
	add_line(&text, "webhook-id", rejection->webhook_id);
	add_line(&text, "why", rejection->why);
	buffer_add_text(&text, "\n");
	buffer_add(&text, rejection->body.data, rejection->body.len);
	if (snprintf(path, sizeof(path), "%s/%s", folder, ret_name) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	if ((r = file_make_folders(folder, 0700)) < 0 || (r = make_room(folder, text.len)) < 0)
		return r;
	return file_write_durably(path, buffer_bytes(&text), 0600);
}
