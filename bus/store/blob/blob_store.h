/*
 * blob_store.h: what the files of a blob store share; nobody else includes it
 */
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
	uint64_t oldest_us;     /* of the last count */
	uint64_t writing_bytes; /* of the writers that were begun */
	uint64_t references_made;
	uint64_t next_writer;
	int next_fan;   /* of blob_tend */
	bool is_shared; /* its folder gives its files to another group, for that group to read */
	int lock, changes, writing, blobs, refs; /* descriptors; -1: lock of all but the writer, changes of a reader */
};

/* Between these two nobody else changes a reference or gives a blob its name. A reader gets -EROFS. */
int blob_change_begin(const struct blob_store *store);
void blob_change_end(const struct blob_store *store);
mode_t blob_file_mode(const struct blob_store *store);
/* mkdirat(2); -EEXIST is success. */
int blob_make_folder(const struct blob_store *store, int folder, const char *name);

bool blob_is_name(const char *name);
int blob_digest_name(EVP_MD_CTX *digest, char ret_name[BLOB_NAME_SIZE]); /* ends the digest */
/* The folder of the two digits that `name` begins with. */
int blob_fan_folder(int top, const char *name);
int blob_make_fan_folder(const struct blob_store *store, int top, const char *name); /* makes it, and syncs `top` */
/* The file of a blob: -ELOOP for a link, -EINVAL for what is no regular file. */
int blob_open_file(int folder, const char *name, struct stat *ret);
bool blob_is_older(const struct stat *there, uint64_t now_us, uint64_t age_us);

/*
 * Each entry of the folders of two digits below `top`; `fitting`: it has a blob's name and lies where this name belongs. An entry
 * that is no such folder is visited with `folder` == `top`. The entry may be removed by its visit.
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
int blob_expire_fan(
	struct blob_store *store, const char *fan, uint64_t now_us, uint64_t age_us, uint64_t *ret_released);
int blob_remove(struct blob_store *store, const char *name); /* the file; its references are gone before */

#endif
