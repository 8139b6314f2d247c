/*
 * disk_shadow.c: what a power cut would leave, kept beside the folder while the process works
 *
 * Owns:      CRASH_DISK_SHADOW: content/<inode> (each file as last synced), content/<inode>.pages (which pages are dirty, or were
 *            lost by a sync that failed), names-<n>/ (hard links to contents: the folder as last synced; the board knows the n).
 *            With CRASH_DISK_DEEP folder-<inode> is a link to the names of a folder below, as last synced, and stands among the names
 *            of the folder above.
 * Promises:  the model of loss: a byte is on the disk when its file was synced after it was written, and the sync said so; a name
 *            when the folder was synced after it. Nothing else is. A page whose sync failed is never written again by itself,
 *            only when a byte of it is written anew, as Linux does it. Survives a SIGKILL of the process.
 *
 * Not in it: folders below the watched one without CRASH_DISK_DEEP, and what the C library writes by itself (RocksDB's LOG of warnings).
 */
#include "disk.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static void content_path(ino_t inode, const char *suffix, char ret[600])
{
	snprintf(ret, 600, "%s/content/%llu%s", disk_shadow, (unsigned long long)inode, suffix);
}

static int open_raw(const char *path, int flags)
{
	int fd = (int)syscall(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC, 0600);

	if (fd < 0)
		abort();
	return fd;
}

void shadow_open(struct watched *file, int fd, bool is_new)
{
	struct stat there;
	char path[600];
	int pages;

	if (disk_shadow[0] == '\0')
		return;
	if (fstat(fd, &there) < 0)
		abort();
	content_path(there.st_ino, "", path);
	if (is_new)
		syscall(SYS_unlink, path); /* an inode that is used again: an old name may still hold the old content */
	file->shadow = open_raw(path, O_RDWR | O_CREAT);
	content_path(there.st_ino, ".pages", path);
	if (is_new)
		syscall(SYS_unlink, path);
	pages = open_raw(path, O_RDWR | O_CREAT);
	if (syscall(SYS_ftruncate, pages, (off_t)PAGES_MAX) < 0)
		abort();
	file->pages = mmap(NULL, PAGES_MAX, PROT_READ | PROT_WRITE, MAP_SHARED, pages, 0);
	if (file->pages == MAP_FAILED)
		abort();
	syscall(SYS_close, pages);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	file->cached = open_raw(path, O_RDONLY);
}

void shadow_close(struct watched *file)
{
	if (file->shadow < 0)
		return;
	munmap(file->pages, PAGES_MAX);
	syscall(SYS_close, file->shadow);
	syscall(SYS_close, file->cached);
}

void shadow_written(struct watched *file, off_t from, size_t len)
{
	if (file->shadow < 0 || len == 0)
		return;
	if (((size_t)from + len) / PAGE >= PAGES_MAX)
		abort();
	memset(file->pages + from / PAGE, PAGE_DIRTY, ((size_t)from + len - 1) / PAGE - (size_t)from / PAGE + 1);
}

void shadow_cut(struct watched *file, off_t before, off_t after)
{
	off_t from = before < after ? before : after, to = before < after ? after : before;

	shadow_written(file, from, (size_t)(to - from));
}

static void copy_page(const struct watched *file, off_t page)
{
	char bytes[PAGE];
	ssize_t len = syscall(SYS_pread64, file->cached, bytes, sizeof(bytes), page * PAGE);

	if (len < 0 || syscall(SYS_pwrite64, file->shadow, bytes, len, page * PAGE) != len)
		abort();
}

void shadow_synced(struct watched *file)
{
	struct stat there;
	off_t pages;

	if (file->shadow < 0)
		return;
	if (fstat(file->cached, &there) < 0)
		abort();
	pages = (there.st_size + PAGE - 1) / PAGE;
	for (off_t page = 0; page < pages; page++) {
		if (file->pages[page] != PAGE_DIRTY)
			continue;
		copy_page(file, page);
		file->pages[page] = PAGE_CLEAN;
	}
	if (syscall(SYS_ftruncate, file->shadow, there.st_size) < 0)
		abort();
}

void shadow_lost(struct watched *file)
{
	if (file->shadow < 0)
		return;
	for (size_t page = 0; page < PAGES_MAX; page++)
		if (file->pages[page] == PAGE_DIRTY)
			file->pages[page] = PAGE_LOST;
}

/* ---- folders ---- */

static void folder_link(ino_t inode, char ret[600])
{
	snprintf(ret, 600, "%s/folder-%llu", disk_shadow, (unsigned long long)inode);
}

/* An inode that is used again: nothing of the new folder was synced yet. */
void shadow_folder_made(int folder, const char *path)
{
	struct stat there;
	char link[600];

	if (disk_shadow[0] == '\0')
		return;
	if (fstatat(folder, path, &there, AT_SYMLINK_NOFOLLOW) < 0)
		abort();
	folder_link(there.st_ino, link);
	syscall(SYS_unlink, link);
}

static void keep_name(DIR *folder, const char *name, const char *names)
{
	struct stat there;
	char content[600], kept[900];

	if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
		fstatat(dirfd(folder), name, &there, AT_SYMLINK_NOFOLLOW) < 0)
		return;
	snprintf(kept, sizeof(kept), "%s/%s", names, name);
	if (S_ISDIR(there.st_mode) && disk_is_deep) {
		folder_link(there.st_ino, content);
		if (syscall(SYS_symlink, content, kept) < 0)
			abort();
		return;
	}
	if (!S_ISREG(there.st_mode))
		return;
	content_path(there.st_ino, "", content);
	if (syscall(SYS_link, content, kept) < 0 && errno != ENOENT) /* not one that we saw being made */
		abort();
}

/* A kill may have left a folder of names half made: that one is never believed. */
static uint64_t make_names(char names[600])
{
	for (uint64_t number = disk_board->names + 1;; number++) {
		snprintf(names, 600, "%s/names-%llu", disk_shadow, (unsigned long long)number);
		if (syscall(SYS_mkdir, names, 0700) == 0)
			return number;
		if (errno != EEXIST)
			abort();
	}
}

static void believe_below(int fd, const char *names)
{
	struct stat there;
	char link[600], next[700];

	if (fstat(fd, &there) < 0)
		abort();
	folder_link(there.st_ino, link);
	snprintf(next, sizeof(next), "%s.next", link);
	syscall(SYS_unlink, next);
	if (syscall(SYS_symlink, names, next) < 0 || syscall(SYS_renameat, AT_FDCWD, next, AT_FDCWD, link) < 0)
		abort();
}

void shadow_folder_synced(int fd, bool is_root)
{
	struct dirent *entry;
	char names[600], path[40];
	uint64_t number;
	DIR *folder;

	if (disk_shadow[0] == '\0')
		return;
	number = make_names(names);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	folder = opendir(path);
	if (!folder)
		abort();
	while ((entry = readdir(folder)))
		keep_name(folder, entry->d_name, names);
	closedir(folder);
	if (is_root)
		disk_board->names = number;
	else
		believe_below(fd, names);
}
