/*
 * backup_folder.c: copies and checks the files of a backup
 *
 * Promises:  copied files are on the disk before backup.json names them; a check reads every file again, byte
 *            by byte.
 * Fails by:  naming the file, and what is wrong with it.
 */
#include "services/cartbus/backup/backup_folder.h"

#include "bus/actor/runtime/sidelog.h"
#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include "bus/base/text.h"
#include "services/cartbus/backup/blobs.h"
#include "services/cartbus/core/json_file.h"
#include "services/cartbus/people/erasures.h"
#include "services/kit/blobs/blob_places.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHUNK = 1 << 20, SHA256_HEX = 65, PATH_BYTES = 900, FOLDERS_OPEN = 16 };
static const uint64_t TELL_EVERY_BYTES = UINT64_C(256) << 20;

DEFINE_CLEANUP(EVP_MD_CTX *, EVP_MD_CTX_free)
DEFINE_CLEANUP(DIR *, closedir)

int backup_folder_make(const char *folder)
{
	_cleanup_(closedirp) DIR *listing = NULL;
	struct dirent *entry;
	int r = file_make_folders(folder, 0700);

	if (r < 0)
		return r;
	listing = opendir(folder);
	if (!listing)
		return -errno;
	while ((errno = 0, entry = readdir(listing)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			return -ENOTEMPTY;
	return -errno;
}

static void to_hex(const unsigned char *digest, unsigned int len, char ret[SHA256_HEX])
{
	for (unsigned int i = 0; i < len && 2 * i + 2 < SHA256_HEX; i++)
		snprintf(ret + (size_t)2 * i, 3, "%02x", digest[i]);
}

/*
 * Reads all of a file, copies it to `to` if `to` is a file, and returns the size and the sum of the bytes
 * read.
 */
static int sum_file(int from, int to, uint64_t *ret_size, char ret_sum[SHA256_HEX])
{
	_cleanup_(EVP_MD_CTX_freep) EVP_MD_CTX *context = EVP_MD_CTX_new();
	_cleanup_free_ unsigned char *chunk = malloc(CHUNK);
	unsigned char digest[EVP_MAX_MD_SIZE];
	unsigned int digest_len = 0;
	ssize_t len;
	int r = 0;

	*ret_size = 0;
	if (!chunk || !EVP_DigestInit_ex(context, EVP_sha256(), NULL))
		return -ENOMEM;
	while (r == 0 && (len = read(from, chunk, CHUNK)) != 0) {
		if (len < 0)
			return -errno;
		EVP_DigestUpdate(context, chunk, (size_t)len);
		*ret_size += (uint64_t)len;
		if (to >= 0)
			r = file_write(to, BYTES(chunk, (size_t)len));
	}
	if (r == 0 && to >= 0 && fsync(to) < 0)
		r = -errno;
	EVP_DigestFinal_ex(context, digest, &digest_len);
	to_hex(digest, digest_len, ret_sum);
	return r;
}

/* `to` is "": it only sums and syncs the file that is there. */
static int copy_file(const char *from, const char *to, uint64_t *ret_size, char ret_sum[SHA256_HEX])
{
	int source = open(from, O_RDONLY | O_CLOEXEC), target, r;

	if (source < 0)
		return -errno;
	if (!*to) {
		r = fsync(source) < 0 ? -errno : sum_file(source, -1, ret_size, ret_sum);
		close(source);
		return r;
	}
	target = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	r = target < 0 ? -errno : sum_file(source, target, ret_size, ret_sum);
	close(source);
	if (target >= 0)
		close(target);
	return r;
}

static void tell_progress(const struct command *command, const struct backup_sum *sum, uint64_t before)
{
	if (!command->json && sum->bytes / TELL_EVERY_BYTES != before / TELL_EVERY_BYTES)
		fprintf(stderr, "%llu MiB in %llu files so far\n", (unsigned long long)(sum->bytes >> 20),
			(unsigned long long)sum->files);
}

static int copy_one(const struct command *command, const char *from, const char *to, const char *name, json_t *files,
	struct backup_sum *sum)
{
	char source[PATH_BYTES], target[PATH_BYTES] = "", hex[SHA256_HEX] = "";
	uint64_t size = 0;
	int r;

	snprintf(source, sizeof(source), "%s/%s", from, name);
	if (to)
		snprintf(target, sizeof(target), "%s/%s", to, name);
	r = copy_file(source, target, &size, hex);
	if (r < 0) {
		complain(command, "%s could not be read, or copied to %s: %s", source, target, strerror(-r));
		return EXIT_NO;
	}
	json_array_append_new(
		files, json_pack("{s:s,s:I,s:s}", "name", name, "bytes", (json_int_t)size, "sha256", hex));
	sum->files++;
	sum->bytes += size;
	tell_progress(command, sum, sum->bytes - size);
	return EXIT_FINE;
}

static int each_file(
	const struct command *command, const char *from, const char *to, json_t *files, struct backup_sum *ret_sum)
{
	_cleanup_(closedirp) DIR *listing = opendir(from);
	struct dirent *entry;
	int ended = EXIT_FINE;

	*ret_sum = (struct backup_sum){ 0 };
	if (!listing || (to && mkdir(to, 0700) < 0)) {
		complain(command, "%s: %s", listing ? to : from, strerror(errno));
		return EXIT_NO;
	}
	while (ended == EXIT_FINE && (errno = 0, entry = readdir(listing)))
		if (entry->d_name[0] != '.' && strcmp(entry->d_name, "LOCK") != 0)
			ended = copy_one(command, from, to, entry->d_name, files, ret_sum);
	if (ended == EXIT_FINE && errno != 0) { /* a copy that lacks a file would pass its own check */
		complain(command, "%s could not be listed: %s", from, strerror(errno));
		ended = EXIT_NO;
	}
	if (ended == EXIT_FINE && file_sync_folder(to ? to : from) < 0) {
		complain(command, "%s could not be synced", to ? to : from);
		ended = EXIT_NO;
	}
	return ended;
}

int backup_copy(
	const struct command *command, const char *from, const char *to, json_t *files, struct backup_sum *ret_sum)
{
	return each_file(command, from, to, files, ret_sum);
}

int backup_sum_files(const struct command *command, const char *folder, json_t *files, struct backup_sum *ret_sum)
{
	return each_file(command, folder, NULL, files, ret_sum);
}

int backup_write_note(const struct command *command, const char *folder, const json_t *note)
{
	char path[PATH_BYTES];
	int r;

	snprintf(path, sizeof(path), "%s/backup.json", folder);
	r = json_file_write(path, note);
	if (r < 0)
		complain(command, "%s: %s", path, json_file_words(r));
	return r < 0 ? EXIT_NO : EXIT_FINE;
}

/* backup.json came with the copy, so no name in it may lead out of its folder. */
static bool is_plain_name(const char *name)
{
	return name && *name && !strchr(name, '/') && strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

static int verify_one(const struct command *command, const char *folder, const char *log_path, const json_t *file,
	struct backup_sum *sum)
{
	const char *name = json_string_value(json_object_get(file, "name"));
	const char *expected = json_string_value(json_object_get(file, "sha256"));
	char path[PATH_BYTES], hex[SHA256_HEX] = "";
	uint64_t size = 0;
	int source, r;

	if (!is_plain_name(name) || !expected) {
		complain(command, "%s/backup.json names a file that cannot be", folder);
		return EXIT_NO;
	}
	snprintf(path, sizeof(path), "%s/%s", log_path, name);
	source = open(path, O_RDONLY | O_CLOEXEC);
	r = source < 0 ? -errno : sum_file(source, -1, &size, hex);
	if (source >= 0)
		close(source);
	if (r < 0 || strcmp(hex, expected) != 0) {
		complain(command, "%s: %s", path, r < 0 ? strerror(-r) : "it is not what was backed up");
		return EXIT_NO;
	}
	sum->files++;
	sum->bytes += size;
	return EXIT_FINE;
}

/* ---- beside the log ---- */

static const char ERASURES[] = "erasures.json";

int backup_note_beside(const struct command *command, const char *folder, json_t *note)
{
	static const char *const names[] = { ERASURES, SIDELOG_FILE };
	json_t *beside = json_array();
	int ended = EXIT_FINE;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names) && !ended; i++) {
		struct backup_sum sum = { 0 };
		char path[PATH_BYTES];

		snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		if (access(path, F_OK) == 0)
			ended = copy_one(command, folder, NULL, names[i], beside, &sum);
	}
	json_object_set_new(note, "beside", beside);
	return ended;
}

static int read_sidelog(const struct command *command, const char *folder)
{
	struct sidelog_read read;
	char path[PATH_BYTES];
	int r;

	snprintf(path, sizeof(path), "%s/" SIDELOG_FILE, folder);
	r = sidelog_each(path, NULL, NULL, &read);
	if (r == -ENOENT || (r == 0 && read.damages == 0))
		return EXIT_FINE;
	complain(command, "%s: %s", path, r == 0 || r == -EBADMSG ? "it is damaged" : strerror(-r));
	return EXIT_NO;
}

static int read_erasures(const struct command *command, const char *folder)
{
	char path[PATH_BYTES];
	json_t *list;

	snprintf(path, sizeof(path), "%s/%s", folder, ERASURES);
	list = erasures_read(command, path);
	json_decref(list);
	return list ? EXIT_FINE : EXIT_NO;
}

int backup_verify_beside(const struct command *command, const char *folder, const json_t *note)
{
	const json_t *beside = json_object_get(note, "beside"), *file;
	struct backup_sum sum = { 0 };
	int ended = EXIT_FINE;
	size_t i;

	json_array_foreach(beside, i, file)
	{
		if (verify_one(command, folder, folder, file, &sum))
			ended = EXIT_NO;
	}
	if (!beside) {
		ended = read_erasures(command, folder);
		ended = read_sidelog(command, folder) ? EXIT_NO : ended;
	}
	if (ended)
		complain(command,
			"who was erased or said no may not be known without that file: fetch %s again, or take another "
			"backup. Only where the file is lost for good remove it, and \"beside\" from backup.json",
			folder);
	return ended;
}

json_t *backup_note_if_any(const char *folder)
{
	char path[PATH_BYTES];
	json_t *note;

	snprintf(path, sizeof(path), "%s/backup.json", folder);
	json_file_read(path, &note);
	if (json_array_size(json_object_get(note, "files")) > 0)
		return note;
	json_decref(note);
	return NULL;
}

json_t *backup_note(const struct command *command, const char *folder)
{
	json_t *note = backup_note_if_any(folder);

	if (!note)
		complain(command, "%s/backup.json: there is no such file, or it is not whole: %s is no finished backup",
			folder, folder);
	return note;
}

void backup_log_path(const char *folder, const json_t *note, char ret[PATH_ROOM])
{
	const char *name = json_string_value(json_object_get(note, "folder"));

	snprintf(ret, PATH_ROOM, "%s/%s", folder, is_plain_name(name) ? name : "broker");
}

static int verify_blobs(const struct command *command, const char *folder, const json_t *note, struct backup_sum *sum)
{
	struct backup_sum blobs;
	char root[PATH_MAX];
	int ended;

	blob_places_root(folder, root);
	ended = backup_blobs_verify(command, root, note, &blobs);
	sum->files += blobs.files;
	sum->bytes += blobs.bytes;
	return ended;
}

int backup_verify(const struct command *command, const char *folder, struct backup_sum *ret_sum, json_t **ret)
{
	json_t *note = backup_note(command, folder);
	const json_t *file;
	char log_path[PATH_ROOM];
	int ended = note ? EXIT_FINE : EXIT_NO;
	size_t i;

	*ret_sum = (struct backup_sum){ 0 };
	backup_log_path(folder, note, log_path);
	json_array_foreach(json_object_get(note, "files"), i, file)
	{
		if (verify_one(command, folder, log_path, file, ret_sum))
			ended = EXIT_NO;
	}
	if (note && backup_verify_beside(command, folder, note))
		ended = EXIT_NO;
	if (note && verify_blobs(command, folder, note, ret_sum))
		ended = EXIT_NO;
	if (ret && ended == EXIT_FINE)
		*ret = json_incref(note);
	json_decref(note);
	return ended;
}

void backup_remove_folder(const char *folder)
{
	_cleanup_(closedirp) DIR *listing = opendir(folder);
	struct dirent *entry;

	while (listing && (entry = readdir(listing)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			unlinkat(dirfd(listing), entry->d_name, 0);
	rmdir(folder);
}

static int remove_one(const char *path, const struct stat *found, int what, struct FTW *where)
{
	(void)found, (void)what, (void)where;
	remove(path);
	return 0; /* the other files are removed even if one cannot be */
}

void backup_remove_tree(const char *folder)
{
	nftw(folder, remove_one, FOLDERS_OPEN, FTW_DEPTH | FTW_PHYS);
}

uint64_t disk_headroom(const struct config *config, uint64_t disk_bytes)
{
	uint64_t fixed = (uint64_t)config_number(config, "broker", NULL, "headroom") << 20;
	uint64_t part = disk_bytes / 100 * (uint64_t)config_number(config, "broker", NULL, "headroom-percent");

	return fixed > part ? fixed : part;
}
