/*
 * erase_blobs.c: the blobs that only a shopper's messages name
 *
 * Promises:  a blob that a message of somebody else names as well stays, and goes with that one. The references go before the messages:
 *            an erasure that is cut short finds the messages again, and by them what is left.
 * Fails by:  naming the blob; then no message is erased, so that it can be found again.
 * Read next: services/kit/blobs/blob_places.h
 */
#include "services/cartbus/people/erase.h"

#include "services/kit/blobs/blob_places.h"
#include <string.h>

void erase_note_blobs(struct erasure *erasure, const struct topic *topic, const char *idem, const void *message)
{
	char owner[BLOB_OWNER_MAX + 1];
	const char *name;

	if (!topic || !message || !topic->blobs)
		return;
	if (blob_owner_text(topic->name, idem, owner) < 0)
		*owner = '\0'; /* without a key it has no reference that could be released */
	for (size_t i = 0; *owner && (name = topic_blob(topic, message, i)); i++)
		json_array_append_new(erasure->blobs, json_pack("{s:s,s:s}", "name", name, "owner", owner));
}

int erase_blobs(struct erasure *erasure)
{
	const char *state = config_get(erasure->command->config, "paths", NULL, "state");
	char root[PATH_MAX];
	const json_t *blob;
	size_t i;

	if (json_array_size(erasure->blobs) == 0)
		return EXIT_FINE;
	blob_places_root(erasure->blobs_root ? erasure->blobs_root : state, root);
	json_array_foreach(erasure->blobs, i, blob)
	{
		const char *name = json_string_value(json_object_get(blob, "name"));
		const char *owner = json_string_value(json_object_get(blob, "owner"));
		uint64_t removed, kept;
		int r = blob_places_release(root, erasure->shop, name, owner, &removed, &kept);

		if (r < 0) {
			complain(erasure->command,
				"the blob %s could not be removed: %s. Run it as root, on the host of the process "
				"that wrote it",
				name, strerror(-r));
			return EXIT_NO;
		}
		erasure->blobs_removed += removed;
		erasure->blobs_kept += kept;
	}
	return EXIT_FINE;
}
