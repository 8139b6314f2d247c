/*
 * blob_places.c: finds the blobs of an installation
 *
 * Promises:  follows no symbolic link, so a planted link leads to no other folder.
 * Read next: blob_uses.c (writes the blobs of one process)
 */
#include "services/kit/blobs/blob_places.h"
#include "bus/base/cleanup.h"
#include "bus/base/text.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { LEVELS = 3 }; /* process, use, shop */

DEFINE_CLEANUP(DIR *, closedir)

void blob_places_root(const char *state, char ret[PATH_MAX])
{
	snprintf(ret, PATH_MAX, "%s/" BLOBS_FOLDER, state);
}

struct walk {
	blob_place_fn *each;
	void *context;
	char names[LEVELS][NAME_MAX + 1];
};

static int walk_level(struct walk *walk, const char *path, int level);

static int walk_entry(struct walk *walk, const char *above, const char *name, int level)
{
	char path[PATH_MAX];
	struct stat there;

	if (snprintf(path, sizeof(path), "%s/%s", above, name) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	if (lstat(path, &there) < 0)
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISDIR(there.st_mode))
		return 0;
	TEXT_COPY(walk->names[level], name);
	if (level + 1 < LEVELS)
		return walk_level(walk, path, level + 1);
	return walk->each(walk->context,
		&(struct blob_place){
			.path = path, .process = walk->names[0], .use = walk->names[1], .shop = walk->names[2] });
}

static int walk_level(struct walk *walk, const char *path, int level)
{
	_cleanup_(closedirp) DIR *listing = opendir(path);
	struct dirent *entry;
	int r = 0;

	if (!listing)
		return errno == ENOENT ? 0 : -errno;
	while (r >= 0 && (errno = 0, entry = readdir(listing)))
		if (entry->d_name[0] != '.')
			r = walk_entry(walk, path, entry->d_name, level);
	return r < 0 ? r : -errno;
}

int blob_places_each(const char *root, blob_place_fn *each, void *context)
{
	struct walk walk = { .each = each, .context = context };

	return walk_level(&walk, root, 0);
}

int blob_owner_text(const char *topic, const char *idem, char ret[BLOB_OWNER_MAX + 1])
{
	if (!*topic || !*idem)
		return -EINVAL;
	return snprintf(ret, BLOB_OWNER_MAX + 1, "%s %s", topic, idem) > BLOB_OWNER_MAX ? -EINVAL : 0;
}

/* --- one blob of a shop --- */

struct search {
	const char *shop, *name, *owner;
	struct blob_reader *found;
	uint64_t removed, kept;
};

static int open_in(void *context, const struct blob_place *place)
{
	struct search *search = context;
	_cleanup_(blob_store_closep) struct blob_store *store = NULL;

	if (search->found || strcmp(place->shop, search->shop) != 0)
		return 0;
	int r = blob_store_open_to_read(place->path, &store);
	if (r == 0)
		r = blob_open(store, search->name, &search->found);
	return r == -ENOENT ? 0 : r;
}

int blob_places_open(const char *root, const char *shop, const char *name, struct blob_reader **ret)
{
	struct search search = { .shop = shop, .name = name };
	int r = blob_places_each(root, open_in, &search);

	if (r < 0)
		blob_reader_free(search.found);
	else if (!search.found)
		r = -ENOENT;
	else
		*ret = search.found;
	return r;
}

static bool is_there(const struct blob_store *store, const char *name)
{
	_cleanup_(blob_reader_freep) struct blob_reader *reader = NULL;

	return blob_open(store, name, &reader) == 0;
}

/* -ENOENT is no failure: the reference is in another use, or an interrupted erasure has released it. */
static int release_in(void *context, const struct blob_place *place)
{
	struct search *search = context;
	_cleanup_(blob_store_closep) struct blob_store *store = NULL;

	if (strcmp(place->shop, search->shop) != 0)
		return 0;
	int r = blob_store_open_to_release(place->path, &store);
	if (r == -ENOENT || (r == 0 && !is_there(store, search->name)))
		return 0;
	if (r == 0)
		r = blob_release(store, search->name, search->owner);
	if (r == -ENOENT)
		return 0;
	if (r == 0 && is_there(store, search->name))
		search->kept++;
	else if (r == 0)
		search->removed++;
	return r;
}

int blob_places_release(const char *root, const char *shop, const char *name, const char *owner, uint64_t *ret_removed,
	uint64_t *ret_kept)
{
	struct search search = { .shop = shop, .name = name, .owner = owner };
	int r = blob_places_each(root, release_in, &search);

	*ret_removed = search.removed;
	*ret_kept = search.kept;
	return r;
}
