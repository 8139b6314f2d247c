/*
 * blob_uses.c: the stores of blobs that one process writes
 *
 * Owns:      the open stores, and the time of the next step.
 * Promises:  a blob without a message is removed after a day, a blob with a message after the time of its
 *            use, but not before its message. No step takes long: 256 steps in an hour go through a store.
 * Fails by:  a negative errno; a store that fails is tried again at the next step.
 * Read next: blob_places.c
 */
#include "services/kit/blobs/blob_uses.h"
#include "bus/base/list.h"
#include "bus/base/memory.h"
#include "bus/base/retention.h"
#include "bus/base/text.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

/* A writer needs a moment from the blob to its reference. In a whole day people can look into a failure. */
#define SURPLUS_KEPT_US US_PER_DAY
#define STEP_EVERY_US (US_PER_HOUR / 256)
enum { PROCESS_MAX = 32 };

DEFINE_CLEANUP(DIR *, closedir)

struct added {
	const struct blob_use *use;
	int64_t kept_us; /* 0: for ever */
};

struct open_store {
	struct list hook;
	const struct blob_use *use;
	int64_t kept_us;
	char shop[64];
	struct blob_store *store;
};

struct blob_uses {
	char root[PATH_MAX / 2], process[PROCESS_MAX];
	struct blob_limits limits;
	const struct clock *clock;
	struct list stores;
	struct added added[16];
	size_t added_count;
	int64_t step_at_us; /* boot time */
	uint64_t refused, aged;
	int64_t refused_us; /* wall time of the last refused blob; 0: none */
};

/* Reads the clock of the files' dates; a demo has another clock. */
static uint64_t real_now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * (uint64_t)US_PER_S + (uint64_t)now.tv_nsec / 1000;
}

struct blob_uses *blob_uses_new(const struct blob_uses_settings *settings)
{
	struct blob_uses *uses = memory_new(sizeof(*uses));

	TEXT_COPY(uses->root, settings->root);
	TEXT_COPY(uses->process, settings->process);
	uses->limits = (struct blob_limits){ .all_bytes = settings->shop_bytes, .kept_free = settings->kept_free };
	uses->clock = settings->clock;
	list_init(&uses->stores);
	return uses;
}

void blob_uses_free(struct blob_uses *uses)
{
	if (!uses)
		return;
	LIST_EACH_SAFE (hook, &uses->stores) {
		struct open_store *open = LIST_ENTRY(hook, struct open_store, hook);

		list_remove(hook);
		blob_store_close(open->store);
		free(open);
	}
	free(uses);
}

static struct open_store *find_store(const struct blob_uses *uses, const struct blob_use *use, const char *shop)
{
	LIST_EACH (hook, &uses->stores) {
		struct open_store *open = LIST_ENTRY(hook, struct open_store, hook);

		if (open->use == use && strcmp(open->shop, shop) == 0)
			return open;
	}
	return NULL;
}

static int open_store(struct blob_uses *uses, const struct added *added, const char *shop, struct open_store **ret)
{
	const struct blob_use *use = added->use;
	struct blob_limits limits = uses->limits;
	struct open_store *open = memory_new(sizeof(*open));
	char path[PATH_MAX];
	int r = 0;

	limits.blob_bytes = use->blob_bytes;
	open->use = use;
	open->kept_us = added->kept_us;
	if (!TEXT_COPY(open->shop, shop) ||
		snprintf(path, sizeof(path), "%s/%s/%s/%s", uses->root, uses->process, use->name, shop) >=
			(int)sizeof(path))
		r = -ENAMETOOLONG;
	if (r == 0)
		r = blob_store_open(path, &limits, &open->store);
	if (r < 0) {
		free(open);
		return r;
	}
	list_append(&uses->stores, &open->hook);
	*ret = open;
	return 0;
}

/* The broker may drop a message a little later than its time is over; the added day allows for that. */
static int64_t longer_of(int64_t use_us, int64_t message_us)
{
	if (use_us == 0 || message_us == 0)
		return 0;
	return use_us > message_us + SURPLUS_KEPT_US ? use_us : message_us + SURPLUS_KEPT_US;
}

int64_t blob_message_kept_us(const struct config *config, const struct topic *topic)
{
	const struct retention_limits limits = retention_read(config);

	switch (topic->retention) {
	case RETAIN_RAW:
		return limits.raw_us;
	case RETAIN_FACT:
		return limits.facts_us;
	case RETAIN_KEEP:
	case RETAIN_CLAIM:
		return 0;
	}
	return 0;
}

/* Only a folder is a store. blob_places_each, which reads the stores, skips all other entries as well. */
static bool is_folder(DIR *shops, const char *name)
{
	struct stat there;

	return fstatat(dirfd(shops), name, &there, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(there.st_mode);
}

int blob_uses_add(struct blob_uses *uses, const struct blob_use *use, int64_t message_kept_us)
{
	const struct added added = { use, longer_of(use->kept_us, message_kept_us) };
	char path[PATH_MAX];
	struct open_store *open;
	struct dirent *entry;
	int r = 0;

	if (uses->added_count == sizeof(uses->added) / sizeof(*uses->added))
		return -E2BIG;
	uses->added[uses->added_count++] = added;
	snprintf(path, sizeof(path), "%s/%s/%s", uses->root, uses->process, use->name);
	_cleanup_(closedirp) DIR *shops = opendir(path);
	if (!shops)
		return errno == ENOENT ? 0 : -errno;
	while (r == 0 && (errno = 0, entry = readdir(shops)))
		if (entry->d_name[0] != '.' && is_folder(shops, entry->d_name))
			r = open_store(uses, &added, entry->d_name, &open);
	return r < 0 ? r : -errno;
}

static const struct added *find_added(const struct blob_uses *uses, const struct blob_use *use)
{
	for (size_t i = 0; i < uses->added_count; i++)
		if (uses->added[i].use == use)
			return &uses->added[i];
	return NULL;
}

int blob_uses_begin(struct blob_uses *uses, const struct blob_use *use, const char *shop, struct blob_writer **ret)
{
	const struct added *added = find_added(uses, use);
	struct open_store *open = find_store(uses, use, shop);
	int r = 0;

	if (!added || !*shop || strchr(shop, '/') || *shop == '.')
		return -EINVAL;
	if (!open)
		r = open_store(uses, added, shop, &open);
	return r < 0 ? r : blob_begin(open->store, ret);
}

int blob_uses_commit(struct blob_uses *uses, const struct blob_use *use, const char *shop, struct blob_writer **writer,
	const char *owner, char ret_name[BLOB_NAME_SIZE], bool *ret_is_new)
{
	const struct blob_store *store = find_store(uses, use, shop)->store;
	uint64_t made = blob_store_references_made(store);
	int r = blob_commit(writer, owner, ret_name);

	*ret_is_new = r == 0 && blob_store_references_made(store) > made;
	return r;
}

int blob_uses_release(
	struct blob_uses *uses, const struct blob_use *use, const char *shop, const char *name, const char *owner)
{
	const struct open_store *open = find_store(uses, use, shop);

	return open ? blob_release(open->store, name, owner) : -ENOENT;
}

void blob_uses_refuse(struct blob_uses *uses)
{
	uses->refused++;
	uses->refused_us = clock_wall_us(uses->clock);
}

int64_t blob_uses_look(struct blob_uses *uses, int *ret)
{
	int64_t now_us = clock_boot_us(uses->clock);

	*ret = 0;
	if (list_empty(&uses->stores))
		return -1;
	if (now_us < uses->step_at_us)
		return uses->step_at_us - now_us;
	uses->step_at_us = now_us + STEP_EVERY_US;
	LIST_EACH (hook, &uses->stores) {
		struct open_store *open = LIST_ENTRY(hook, struct open_store, hook);
		const struct blob_ages ages = { (uint64_t)open->kept_us, (uint64_t)SURPLUS_KEPT_US };
		struct blob_counts removed;
		int r = blob_tend(open->store, real_now_us(), &ages, &removed);

		uses->aged += removed.files;
		*ret = r < 0 ? r : *ret;
	}
	return STEP_EVERY_US;
}

void blob_uses_tell(const struct blob_uses *uses, struct metrics_sink *told)
{
	struct blob_counts sum = { 0 };
	uint64_t oldest_us = 0, now_us = real_now_us();

	LIST_EACH (hook, &uses->stores) {
		const struct blob_store *store = LIST_ENTRY(hook, struct open_store, hook)->store;
		struct blob_counts counts = blob_store_counts(store);
		uint64_t us = blob_store_oldest_us(store);

		sum.files += counts.files;
		sum.bytes += counts.bytes;
		oldest_us = us > 0 && (oldest_us == 0 || us < oldest_us) ? us : oldest_us;
	}
	metrics_add(told, "blobs", sum.files);
	metrics_add(told, "blob_bytes", sum.bytes);
	metrics_add(told, "blob_age_s", oldest_us > 0 && now_us > oldest_us ? (now_us - oldest_us) / US_PER_S : 0);
	metrics_add(told, "blobs_refused", uses->refused);
	metrics_add(told, "blobs_refused_us", (uint64_t)uses->refused_us);
	metrics_add(told, "blobs_aged", uses->aged);
}
