/*
 * disk.c: put before a process (LD_PRELOAD): counts its persistence calls below one folder, and lets one of them go wrong
 *
 * Owns:      the calls that make, change, name, sync and remove files: open with O_CREAT, write, pwrite, writev, fsync, fdatasync,
 *            sync_file_range, rename, unlink, remove, link, ftruncate, fallocate. Each below CRASH_DISK_FOLDER is a numbered point.
 *            With CRASH_DISK_DEEP the folders below are looked after as well: mkdir, rmdir and the sync of each are points too.
 * Promises:  at the board's point the process is killed before, after or in the middle of the call, or the call fails or is cut
 *            short; what was struck is written on the board first, so that a point that was never hit shows.
 *            A sync that fails has synced nothing, and the kernel's way is followed: what was dirty looks clean from then on.
 * Fails by:  abort(), loudly: a test that cannot watch must not pass.
 * Read next: disk_shadow.c (what a power cut would leave), disk.py (the test's side)
 */
#include "disk.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { FDS_MAX = 4096 };

struct board *disk_board;
char disk_folder[512], disk_shadow[512];
bool disk_is_deep;

static struct watched *files[FDS_MAX];
static char named_last[64]; /* what a sync of the folder is about */
static int trace = -1;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

__attribute__((constructor)) static void start(void)
{
	const char *folder = getenv("CRASH_DISK_FOLDER"), *board = getenv("CRASH_DISK_BOARD");
	const char *shadow = getenv("CRASH_DISK_SHADOW"), *trace_path = getenv("CRASH_DISK_TRACE");
	int fd;

	if (!folder || !board)
		return;
	snprintf(disk_folder, sizeof(disk_folder), "%s", folder);
	snprintf(disk_shadow, sizeof(disk_shadow), "%s", shadow ? shadow : "");
	disk_is_deep = getenv("CRASH_DISK_DEEP");
	fd = (int)syscall(SYS_openat, AT_FDCWD, board, O_RDWR | O_CLOEXEC, 0);
	disk_board = mmap(NULL, sizeof(*disk_board), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (fd < 0 || disk_board == MAP_FAILED)
		abort();
	syscall(SYS_close, fd);
	if (trace_path)
		trace = (int)syscall(SYS_openat, AT_FDCWD, trace_path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
}

/* The part of the path below the watched folder; NULL: it lies elsewhere. "" is the folder itself. */
static const char *below(const char *path)
{
	size_t len = strlen(disk_folder);

	if (!disk_board || strncmp(path, disk_folder, len) != 0)
		return NULL;
	if (path[len] == '\0')
		return path + len;
	return path[len] == '/' ? path + len + 1 + strspn(path + len + 1, "/") : NULL;
}

/* The same of an entry of an open folder. */
static const char *below_at(int folder, const char *path)
{
	static _Thread_local char whole[PATH_MAX];
	char link[40];
	ssize_t len;

	if (folder == AT_FDCWD || *path == '/')
		return below(path);
	snprintf(link, sizeof(link), "/proc/self/fd/%d", folder);
	len = syscall(SYS_readlink, link, whole, sizeof(whole) - 1);
	if (len < 0)
		return NULL;
	snprintf(whole + len, sizeof(whole) - (size_t)len, "/%s", strcmp(path, ".") == 0 ? "" : path);
	return below(whole);
}

static struct watched *watched_of(int fd)
{
	return disk_board && fd >= 0 && fd < FDS_MAX ? files[fd] : NULL;
}

/* --- a point --- */

struct point {
	enum fault fault; /* what happens at this one */
	const char *call;
};

static _Noreturn void kill_now(void)
{
	for (;;)
		syscall(SYS_kill, syscall(SYS_getpid), SIGKILL);
}

static bool is_meant(const char *call, const char *name)
{
	return (disk_board->call[0] == '\0' || strcmp(call, disk_board->call) == 0) && strstr(name, disk_board->name);
}

static bool is_struck_again(const char *call)
{
	size_t len = strlen(call);

	return disk_board->sticky && strncmp(disk_board->what, call, len) == 0 && disk_board->what[len] == ' ';
}

static bool is_struck(uint64_t number, const char *call, const char *name)
{
	if (disk_board->at == 0 || disk_board->fault == FAULT_NONE || number < disk_board->at)
		return false;
	return disk_board->hits == 0 ? is_meant(call, name) : is_struck_again(call);
}

/* Holds the lock until leave(). */
static struct point enter(const char *call, const char *name)
{
	struct point point = { .call = call };
	uint64_t number;
	char line[160], folder_name[80];
	int len;

	pthread_mutex_lock(&lock);
	snprintf(folder_name, sizeof(folder_name), "%s in the folder", named_last);
	if (*name)
		snprintf(named_last, sizeof(named_last), "%s", name);
	else
		name = folder_name;
	number = ++disk_board->points;
	if (trace >= 0) {
		len = snprintf(line, sizeof(line), "%llu %s %.80s\n", (unsigned long long)number, call, name);
		syscall(SYS_write, trace, line, len);
	}
	if (!is_struck(number, call, name))
		return point;
	if (disk_board->hits++ == 0)
		snprintf(disk_board->what, sizeof(disk_board->what), "%s %.50s", call, name);
	point.fault = (enum fault)disk_board->fault;
	if (point.fault == FAULT_KILL_BEFORE)
		kill_now();
	return point;
}

static void leave(struct point point)
{
	if (point.fault == FAULT_KILL_AFTER || point.fault == FAULT_KILL_HALFWAY)
		kill_now();
	pthread_mutex_unlock(&lock);
}

static long fail(struct point point)
{
	leave(point);
	errno = (int)disk_board->error;
	return -1;
}

static bool fails(struct point point)
{
	return point.fault == FAULT_FAIL;
}

/* --- open and close --- */

static bool exists(int folder, const char *path)
{
	struct stat there;

	return syscall(SYS_newfstatat, folder, path, &there, 0) == 0;
}

static void watch(int fd, const char *name, int flags, bool is_new)
{
	struct watched *file = calloc(1, sizeof(*file));
	struct stat there;

	if (fd >= FDS_MAX || fstat(fd, &there) < 0)
		abort();
	snprintf(file->name, sizeof(file->name), "%s", name);
	file->is_folder = S_ISDIR(there.st_mode);
	file->shadow = -1;
	if (S_ISREG(there.st_mode))
		shadow_open(file, fd, is_new);
	if (!is_new && (flags & O_TRUNC))
		shadow_cut(file, there.st_size, 0);
	free(files[fd]); /* closed behind our back (fclose, dup2) */
	files[fd] = file;
}

/* One that is opened to be read is called "." and is closed where we do not see it. */
static bool may_sync_folder(const char *path, const char *name, int flags)
{
	return *name == '\0' || (disk_is_deep && (flags & O_DIRECTORY) && strcmp(path, ".") != 0);
}

static int open_at(int folder, const char *path, int flags, mode_t mode)
{
	const char *name = below_at(folder, path);
	struct point point = { 0 };
	bool makes = name && (flags & O_CREAT), is_new;
	int fd;

	if (!name || (!makes && (flags & O_ACCMODE) == O_RDONLY && !may_sync_folder(path, name, flags)))
		return (int)syscall(SYS_openat, folder, path, flags, mode);
	is_new = makes && !exists(folder, path);
	if (makes)
		point = enter(is_new ? "open" : "reopen", name);
	else
		pthread_mutex_lock(&lock);
	if (fails(point))
		return (int)fail(point);
	fd = (int)syscall(SYS_openat, folder, path, flags, mode);
	if (fd >= 0)
		watch(fd, name, flags, is_new);
	leave(point);
	return fd;
}

static mode_t mode_of(int flags, va_list arguments)
{
	return flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, mode_t) : 0;
}

#define OPEN(name)                                                                                                     \
	int name(const char *path, int flags, ...)                                                                     \
	{                                                                                                              \
		va_list arguments;                                                                                     \
		va_start(arguments, flags);                                                                            \
		mode_t mode = mode_of(flags, arguments);                                                               \
		va_end(arguments);                                                                                     \
		return open_at(AT_FDCWD, path, flags, mode);                                                           \
	}
#define OPENAT(name)                                                                                                   \
	int name(int folder, const char *path, int flags, ...)                                                         \
	{                                                                                                              \
		va_list arguments;                                                                                     \
		va_start(arguments, flags);                                                                            \
		mode_t mode = mode_of(flags, arguments);                                                               \
		va_end(arguments);                                                                                     \
		return open_at(folder, path, flags, mode);                                                             \
	}
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
OPEN(open)
OPEN(open64)
OPENAT(openat)
OPENAT(openat64)

int __open_2(const char *path, int flags)
{
	return open_at(AT_FDCWD, path, flags, 0);
}

int __open64_2(const char *path, int flags)
{
	return open_at(AT_FDCWD, path, flags, 0);
}

int close(int fd)
{
	struct watched *file = watched_of(fd);

	if (file) {
		pthread_mutex_lock(&lock);
		files[fd] = NULL;
		shadow_close(file);
		free(file);
		pthread_mutex_unlock(&lock);
	}
	return (int)syscall(SYS_close, fd);
}

/* --- writes --- */

/* How much of a write is to happen. */
static size_t share_of(struct point point, size_t len)
{
	return point.fault == FAULT_KILL_HALFWAY || point.fault == FAULT_SHORT ? (len + 1) / 2 : len;
}

static off_t place_of(int fd)
{
	struct stat there;

	if ((syscall(SYS_fcntl, fd, F_GETFL) & O_APPEND) && fstat(fd, &there) == 0)
		return there.st_size;
	return (off_t)syscall(SYS_lseek, fd, 0, SEEK_CUR);
}

ssize_t write(int fd, const void *bytes, size_t len)
{
	struct watched *file = watched_of(fd);
	struct point point;
	ssize_t written;
	off_t from;

	if (!file || file->is_folder)
		return syscall(SYS_write, fd, bytes, len);
	point = enter("write", file->name);
	if (fails(point))
		return fail(point);
	from = place_of(fd);
	written = syscall(SYS_write, fd, bytes, share_of(point, len));
	if (written > 0)
		shadow_written(file, from, (size_t)written);
	leave(point);
	return written;
}

static ssize_t write_at(int fd, const void *bytes, size_t len, off_t from)
{
	struct watched *file = watched_of(fd);
	struct point point;
	ssize_t written;

	if (!file || file->is_folder)
		return syscall(SYS_pwrite64, fd, bytes, len, from);
	point = enter("pwrite", file->name);
	if (fails(point))
		return fail(point);
	written = syscall(SYS_pwrite64, fd, bytes, share_of(point, len), from);
	if (written > 0)
		shadow_written(file, from, (size_t)written);
	leave(point);
	return written;
}

ssize_t pwrite(int fd, const void *bytes, size_t len, off_t from)
{
	return write_at(fd, bytes, len, from);
}

ssize_t pwrite64(int fd, const void *bytes, size_t len, off64_t from)
{
	return write_at(fd, bytes, len, from);
}

ssize_t writev(int fd, const struct iovec *parts, int count)
{
	if (watched_of(fd))
		abort(); /* nobody does today; then it must be counted */
	return syscall(SYS_writev, fd, parts, count);
}

/* --- syncs --- */

static int sync_file(int fd, const char *call, long number)
{
	struct watched *file = watched_of(fd);
	struct point point;
	int r;

	if (!file)
		return (int)syscall(number, fd);
	point = enter(call, file->name);
	if (fails(point)) {
		if (!file->is_folder)
			shadow_lost(file);
		return (int)fail(point);
	}
	r = (int)syscall(number, fd);
	if (r == 0 && file->is_folder)
		shadow_folder_synced(fd, *file->name == '\0');
	else if (r == 0)
		shadow_synced(file);
	leave(point);
	return r;
}

int fsync(int fd)
{
	return sync_file(fd, "fsync", SYS_fsync);
}

int fdatasync(int fd)
{
	return sync_file(fd, "fdatasync", SYS_fdatasync);
}

int sync_file_range(int fd, off64_t from, off64_t len, unsigned int flags)
{
	struct watched *file = watched_of(fd);
	struct point point;
	int r;

	if (!file || flags == 0) /* without flags it only asks whether there is such a call */
		return (int)syscall(SYS_sync_file_range, fd, from, len, flags);
	point = enter("sync_file_range", file->name);
	if (fails(point))
		return (int)fail(point);
	r = (int)syscall(
		SYS_sync_file_range, fd, from, len, flags); /* promises nothing: no page is safe because of it */
	leave(point);
	return r;
}

/* --- names and sizes --- */

int renameat(int from_folder, const char *from, int to_folder, const char *to)
{
	const char *name = below_at(to_folder, to);
	struct point point;
	int r;

	if (!name)
		return (int)syscall(SYS_renameat, from_folder, from, to_folder, to);
	point = enter("rename", name);
	if (fails(point))
		return (int)fail(point);
	r = (int)syscall(SYS_renameat, from_folder, from, to_folder, to);
	leave(point);
	return r;
}

int rename(const char *from, const char *to)
{
	return renameat(AT_FDCWD, from, AT_FDCWD, to);
}

int link(const char *from, const char *to)
{
	const char *name = below(to);
	struct point point;
	int r;

	if (!name)
		return (int)syscall(SYS_link, from, to);
	point = enter("link", name);
	if (fails(point))
		return (int)fail(point);
	r = (int)syscall(SYS_link, from, to);
	leave(point);
	return r;
}

int unlinkat(int folder, const char *path, int flags)
{
	const char *name = below_at(folder, path);
	struct point point;
	int r;

	if (!name || (flags && !disk_is_deep))
		return (int)syscall(SYS_unlinkat, folder, path, flags);
	point = enter(flags ? "rmdir" : "unlink", name);
	if (fails(point))
		return (int)fail(point);
	r = (int)syscall(SYS_unlinkat, folder, path, flags);
	leave(point);
	return r;
}

int unlink(const char *path)
{
	return unlinkat(AT_FDCWD, path, 0);
}

/* The C library's own would go by an unlink of its own. */
int remove(const char *path)
{
	int r = unlink(path);

	return r < 0 && errno == EISDIR ? rmdir(path) : r;
}

int mkdirat(int folder, const char *path, mode_t mode)
{
	const char *name = disk_is_deep ? below_at(folder, path) : NULL;
	struct point point;
	int r;

	if (!name)
		return (int)syscall(SYS_mkdirat, folder, path, mode);
	point = enter("mkdir", name);
	if (fails(point))
		return (int)fail(point);
	r = (int)syscall(SYS_mkdirat, folder, path, mode);
	if (r == 0)
		shadow_folder_made(folder, path);
	leave(point);
	return r;
}

int mkdir(const char *path, mode_t mode)
{
	return mkdirat(AT_FDCWD, path, mode);
}

static int cut(int fd, off_t len)
{
	struct watched *file = watched_of(fd);
	struct point point;
	struct stat there;
	int r;

	if (!file)
		return (int)syscall(SYS_ftruncate, fd, len);
	point = enter("ftruncate", file->name);
	if (fails(point))
		return (int)fail(point);
	r = fstat(fd, &there);
	if (r == 0)
		r = (int)syscall(SYS_ftruncate, fd, len);
	if (r == 0)
		shadow_cut(file, there.st_size, len);
	leave(point);
	return r;
}

int ftruncate(int fd, off_t len)
{
	return cut(fd, len);
}

int ftruncate64(int fd, off64_t len)
{
	return cut(fd, len);
}

static int reserve(int fd, int mode, off_t from, off_t len)
{
	struct watched *file = watched_of(fd);
	struct point point;
	int r;

	if (!file)
		return (int)syscall(SYS_fallocate, fd, mode, from, len);
	point = enter("fallocate", file->name);
	if (fails(point))
		return (int)fail(point);
	r = (int)syscall(SYS_fallocate, fd, mode, from, len);
	leave(point);
	return r;
}

int fallocate(int fd, int mode, off_t from, off_t len)
{
	return reserve(fd, mode, from, len);
}

int fallocate64(int fd, int mode, off64_t from, off64_t len)
{
	return reserve(fd, mode, from, len);
}
