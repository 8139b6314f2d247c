/* blob_store.h: declarations that the files of the blob store share; no other file includes it */
#ifndef STORE_BLOB_BLOB_STORE_H
#define STORE_BLOB_BLOB_STORE_H

#include "bus/store/blob/blob.h"
#include <limits.h>
#include <openssl/evp.h>
#include <sys/stat.h>

struct blob_store {
	char path[PATH_MAX];
	struct blob_limits limits;
	struct blob_counts counts;
	uint64_t oldest_us;     /* wall time of the oldest blob, as of the last count */
	uint64_t writing_bytes; /* of the open writers */
	uint64_t references_made;
	uint64_t next_writer;
	int next_fan;   /* the next part for blob_tend */
	bool is_shared; /* another group may read its files, because its folder has the setgid bit */
	/* descriptors; lock is -1 except for the writer, changes is -1 for a reader */
	int lock, changes, writing, blobs, refs;
};

/*
 * Between these two calls no other process changes a reference or gives a blob its name. A reader gets
 * -EROFS.
 */
int blob_change_begin(const struct blob_store *store);
void blob_change_end(const struct blob_store *store);
mode_t blob_file_mode(const struct blob_store *store);
/* mkdirat(2); -EEXIST is success. */
int blob_make_folder(const struct blob_store *store, int folder, const char *name);

bool blob_is_name(const char *name);
int blob_digest_name(EVP_MD_CTX *digest, char ret_name[BLOB_NAME_SIZE]); /* finishes the digest */
/* The folder of the two digits that `name` begins with. */
int blob_fan_folder(int top, const char *name);
int blob_make_fan_folder(const struct blob_store *store, int top, const char *name); /* makes it, and syncs `top` */
/* Opens the file of a blob. -ELOOP: it is a link. -EINVAL: it is no regular file. */
int blob_open_file(int folder, const char *name, struct stat *ret);
bool blob_is_older(const struct stat *there, uint64_t now_us, uint64_t age_us);

/*
 * Visits each entry of the folders of two digits below `top`. `fitting`: the entry has a blob's name and is
 * in the right folder. An entry of `top` that is no such folder is visited with `folder` == `top`. The visit
 * may remove the entry.
 */
typedef int (*blob_visit_fn)(void *context, int folder, const char *name, bool fitting);
int blob_walk(int top, blob_visit_fn visit, void *context);
int blob_walk_fan(int top, const char *fan, blob_visit_fn visit, void *context); /* one of these folders */
/* The entries of one folder, without "." and "..". */
typedef int (*blob_entry_fn)(void *context, int folder, const char *name);
int blob_entries(int folder, blob_entry_fn each, void *context);

int blob_refer_within(
	struct blob_store *store, const char *name, const char *owner); /* blob_refer, after blob_change_begin */
int blob_judge_owner(const char *owner);                                /* -EINVAL: it is no owner's text */

#endif
