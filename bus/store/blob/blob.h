/*
 * blob.h: a folder of large contents (raw mails, uploaded files), each named by its SHA-256
 *
 * Ownership: each process that receives contents (gateway, mailin) has its own stores, and only this process
 *   adds to them. blob_store_open locks the folder, and a second writer gets -EBUSY. Other processes of the
 *   same host read with blob_store_open_to_read. Only an erasure releases in another process's store
 *   (blob_store_open_to_release). With several hosts a blob stays on the host that received it.
 *   services/kit/blobs tells where the stores of an installation are.
 * A writer's duty: it first commits the blob, then names it in a message, and last confirms to its client.
 *   The owner's text is that of the message (services/kit/blobs/blob_places.h), so that an erasure of the
 *   message finds the reference. The writer must call blob_tend regularly, or no reference expires. A writer
 *   that is killed between commit and message leaves a reference without a message; blob_tend releases it
 *   when it is old enough. The same content twice is one blob.
 * Order: the name of a blob is returned only after its bytes and its first reference are durable. So a
 *   message cannot name a blob that a power cut takes away.
 * References: a blob belongs to one or more owners (a text such as "shop/subject"). Releasing the last
 *   reference removes the blob.
 * Errors: 0 or a negative errno; nothing is logged. A store with its writers and readers belongs to one
 *   thread.
 *
 * On disk, all folders 0700 and all files 0600; below a folder with the setgid bit folders 2750 and blobs 0640, for its group to read:
 *   lock                       held by the writer
 *   changes                    held for the moment of a commit, a reference or a release
 *   writing/<number>           not committed yet; removed when the next writer opens the store
 *   blobs/<2 digits>/<sha256>
 *   refs/<2 digits>/<sha256>/<sha256 of the owner>    holds the owner's text
 */
#ifndef STORE_BLOB_BLOB_H
#define STORE_BLOB_BLOB_H

#include "bus/base/bytes.h"
#include "bus/base/cleanup.h"
#include <stdbool.h>
#include <sys/types.h>

enum {
	BLOB_NAME_SIZE = 65,
	BLOB_OWNER_MAX = 512
}; /* 64 lower-case hexadecimal digits and a NUL; bytes of an owner's text */

/* Bytes. A limit of 0 means: no limit. */
struct blob_limits {
	uint64_t blob_bytes; /* of one blob: -EFBIG */
	uint64_t all_bytes;  /* of all blobs together, also of those being written: -EDQUOT */
	uint64_t kept_free;  /* of the file system: -ENOSPC */
};

struct blob_counts {
	uint64_t files, bytes;
};

struct blob_store;
struct blob_writer;
struct blob_reader;

/*
 * Makes the folder if it is missing, removes the unfinished files of a killed writer, and counts the blobs.
 * -EBUSY: another writer has the store.
 */
int blob_store_open(const char *path, const struct blob_limits *limits, struct blob_store **ret);
/* functions that change the store return -EROFS */
int blob_store_open_to_read(const char *path, struct blob_store **ret);
/*
 * Opens a store only for releases, with or without a writer at the same time; it does not count. The writer's
 * counts are correct again after its next round of blob_tend.
 */
int blob_store_open_to_release(const char *path, struct blob_store **ret);
/* to be called after all its writers and readers are freed */
void blob_store_close(struct blob_store *store);
int blob_store_count(struct blob_store *store); /* counts again by reading the size of each blob */
/* the last count plus the changes of this process since then; 0 before the first count of a reader */
struct blob_counts blob_store_counts(const struct blob_store *store);
/* wall time at which the oldest blob was written, as of the last count; 0: none */
uint64_t blob_store_oldest_us(const struct blob_store *store);
/*
 * The references that were made since the store was opened, by commits and by blob_refer. A reference that an
 * owner had before is not made again.
 */
uint64_t blob_store_references_made(const struct blob_store *store);
DEFINE_CLEANUP(struct blob_store *, blob_store_close)

int blob_begin(struct blob_store *store, struct blob_writer **ret);
/* After an error, every further blob_add and blob_commit returns the same error. */
int blob_add(struct blob_writer *writer, struct bytes part);
/*
 * Reads the added bytes back, from offset `from` on. Returns the number of bytes read; 0: the end. For code
 * that must decide whether to commit.
 */
ssize_t blob_look_back(const struct blob_writer *writer, uint64_t from, void *to, size_t size);
/* Frees the writer and sets it to NULL, also on an error. After an error there is no blob. */
int blob_commit(struct blob_writer **writer, const char *owner, char ret_name[BLOB_NAME_SIZE]);
void blob_abandon(struct blob_writer *writer);
DEFINE_CLEANUP(struct blob_writer *, blob_abandon)
/*
 * Moves a regular file of the same file system (else -EXDEV) into the store without copying it. `path` is
 * removed last, so a caller that is killed before still has the file and may adopt it again. Nobody may write
 * to the file any more. -ELOOP: it is a link. -EINVAL: it is no file.
 */
int blob_adopt(struct blob_store *store, const char *path, const char *owner, char ret_name[BLOB_NAME_SIZE]);

/* -EINVAL: not a name; -ENOENT: no such blob; -ELOOP: a link is in its place. */
int blob_open(const struct blob_store *store, const char *name, struct blob_reader **ret);
/*
 * Returns the number of bytes read. It returns 0 only at the end, if the hash of the content fits the name;
 * -EBADMSG if not. The caller must not use the content before that 0.
 */
ssize_t blob_read(struct blob_reader *reader, void *to, size_t size);
void blob_reader_free(struct blob_reader *reader);
DEFINE_CLEANUP(struct blob_reader *, blob_reader_free)

int blob_refer(struct blob_store *store, const char *name,
	const char *owner); /* -ENOENT: no such blob. An existing reference gets a new age. */
int blob_release(struct blob_store *store, const char *name, const char *owner); /* -ENOENT: no such reference */
/* Releases all references of one owner. A blob with another owner stays. */
int blob_release_owner(struct blob_store *store, const char *owner, uint64_t *ret_released);
/* Releases the references that are older than `age_us`. `now_us` is wall time. */
int blob_expire(struct blob_store *store, uint64_t now_us, uint64_t age_us, uint64_t *ret_released);
/* Removes the blobs without a reference that are older than `age_us`. `now_us` is the wall clock, since 1970. */
int blob_sweep(struct blob_store *store, uint64_t now_us, uint64_t age_us, struct blob_counts *ret_removed);

/*
 * `reference_us` 0: references do not expire. `surplus_us`: the age at which an unreferenced blob is removed.
 */
struct blob_ages {
	uint64_t reference_us, surplus_us;
};
/*
 * Runs blob_expire and blob_sweep for one of 256 parts of the store, so that no call takes long. Returns 1
 * after the last part; the next call begins a new round with a count.
 */
int blob_tend(struct blob_store *store, uint64_t now_us, const struct blob_ages *ages, struct blob_counts *ret_removed);

/* A negative return ends the walk, which returns it. */
typedef int (*blob_each_fn)(void *context, const char *name, uint64_t bytes);
int blob_each(const struct blob_store *store, blob_each_fn each, void *context);

/*
 * Copies a blob with all its references into a store that this process writes; `from` may be a reader's
 * store. It syncs nothing: the caller must call syncfs(2) before it relies on the copy. -EBADMSG: the content
 * does not fit its name, and `to` is unchanged. A blob without a reference is copied too, and is surplus
 * there.
 */
int blob_copy(const struct blob_store *from, const char *name, struct blob_store *to);
int blob_has_references(const struct blob_store *store, const char *name); /* 1, 0 or a negative errno */

enum blob_finding {
	BLOB_DAMAGED, /* the hash does not fit the name */
	BLOB_MISSING, /* a reference names it, but it is missing */
	BLOB_SURPLUS, /* it exists, but no reference names it */
	BLOB_FOREIGN, /* an entry that the store did not make: a link, a folder, another name */
	/* it has a second hard link: another process can write to it, or an adoption was interrupted */
	BLOB_LINKED,
	BLOB_FINDINGS
};
/* `name` is the entry's name in its folder. Memory does not grow with the number of blobs. */
typedef int (*blob_finding_fn)(void *context, enum blob_finding finding, const char *name);
int blob_verify(const struct blob_store *store, blob_finding_fn each, void *context);
/*
 * Reads contents while `*bytes_left` lasts, and subtracts the bytes read. Of the other blobs only names,
 * links and references are checked. NULL: no limit.
 */
int blob_verify_within(const struct blob_store *store, uint64_t *bytes_left, blob_finding_fn each, void *context);
/* Checks names only: reports BLOB_MISSING, and BLOB_FOREIGN among the references. Reads no content. */
int blob_each_missing(const struct blob_store *store, blob_finding_fn each, void *context);

#endif
