/*
 * transport_maildir.c: mails as files that one can open
 *
 * Owns:      a Maildir: tmp/ while a mail is written and claimed, new/ when it is sent.
 * Promises:  the file in new/ is whole and on the disk; its name is the Message-ID, so a mail is there once whatever happens;
 *            a mail without a yes to its claim never reaches new/.
 * Fails by:  NOT_SENT with the reason (a full disk, a folder that was taken away).
 * Read next: transport.h
 */
#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include "bus/base/log.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "services/kit/transport.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

struct maildir {
	struct effect_driver driver;
	struct list jobs;
	char folder[400];
};

static const char *const folders[] = { "tmp", "new", "cur" };

static void place_of(const struct maildir *maildir, const struct mail *mail, char tmp[800], char new[800])
{
	char name[200];
	TEXT_COPY(name, mail->message_id);
	for (char *c = name; *c; c++)
		if (*c == '/' || *c == ':' || *c <= ' ' || (c == name && *c == '.'))
			*c = '_';
	snprintf(tmp, 800, "%s/tmp/%s.%d", maildir->folder, name, (int)getpid());
	snprintf(new, 800, "%s/new/%s", maildir->folder, name);
}

static int write_file(const char *path, struct bytes content)
{
	unlink(path); /* left by an earlier life with this process id */
	_cleanup_close_ int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0640);
	if (fd < 0)
		return -errno;
	const uint8_t *at = content.data;
	for (size_t left = content.len; left > 0;) {
		ssize_t written = write(fd, at, left);
		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return -errno;
		at += written;
		left -= (size_t)written;
	}
	return fsync(fd) < 0 ? -errno : 0;
}

static struct mail_job *job_find(struct maildir *maildir, const struct effect *effect)
{
	LIST_EACH (hook, &maildir->jobs) {
		struct mail_job *job = LIST_ENTRY(hook, struct mail_job, hook);
		if (job->effect == effect)
			return job;
	}
	return NULL;
}

static void job_end(struct maildir *maildir, struct mail_job *job)
{
	char tmp[800], new[800];
	place_of(maildir, job->mail, tmp, new);
	unlink(tmp); /* gone already when the mail was sent */
	list_remove(&job->hook);
	free(job);
}

static void job_report(struct maildir *maildir, struct mail_job *job, enum mail_end end, const char *words)
{
	struct effect *effect = job->effect;
	struct mail_result result = mail_result_of(end, "maildir", words);
	job_end(maildir, job);
	effect_done(effect, &result);
}

static void job_write(struct maildir *maildir, struct mail_job *job)
{
	char tmp[800], new[800];
	place_of(maildir, job->mail, tmp, new);
	struct bytes mime = BYTES(job->mail->mime.data, job->mail->mime.len);
	int r = mime.len ? write_file(tmp, mime) : -EINVAL;
	if (r < 0) {
		job_report(maildir, job, MAIL_NOT_SENT, strerror(-r));
		return;
	}
	job->step = job->mail->claim ? MAIL_STEP_CLAIMING : MAIL_STEP_GO;
	if (job->mail->claim)
		effect_claim(job->effect);
}

static void job_send(struct maildir *maildir, struct mail_job *job)
{
	char tmp[800], new[800], folder[420];
	place_of(maildir, job->mail, tmp, new);
	snprintf(folder, sizeof(folder), "%s/new", maildir->folder);
	/* One that is there already is this very mail: the name says so. */
	if (renameat2(AT_FDCWD, tmp, AT_FDCWD, new, RENAME_NOREPLACE) < 0 && errno != EEXIST) {
		job_report(maildir, job, MAIL_NOT_SENT, strerror(errno));
		return;
	}
	int r = file_sync_folder(folder);
	job_report(maildir, job, r < 0 ? MAIL_UNKNOWN : MAIL_SENT, r < 0 ? strerror(-r) : "in the folder");
}

static void job_step(struct maildir *maildir, struct mail_job *job)
{
	switch (job->step) {
	case MAIL_STEP_BEGIN:
		job_write(maildir, job);
		return;
	case MAIL_STEP_GO:
		job_send(maildir, job);
		return;
	case MAIL_STEP_DROP:
		job_report(maildir, job, MAIL_NOT_SENT, "dropped before it was delivered");
		return;
	case MAIL_STEP_CLAIMING:
		return;
	}
}

static struct mail_job *job_ready(const struct maildir *maildir)
{
	LIST_EACH (hook, &maildir->jobs) {
		struct mail_job *job = LIST_ENTRY(hook, struct mail_job, hook);
		if (job->step != MAIL_STEP_CLAIMING)
			return job;
	}
	return NULL;
}

static void maildir_start(void *self, struct effect *effect, const void *request)
{
	struct mail_job *job = memory_new(sizeof(*job));
	job->effect = effect;
	job->mail = request;
	list_append(&((struct maildir *)self)->jobs, &job->hook);
}

static void maildir_proceed(void *self, struct effect *effect, bool go)
{
	struct mail_job *job = job_find(self, effect);
	if (job)
		job->step = go ? MAIL_STEP_GO : MAIL_STEP_DROP;
}

static void maildir_stop(void *self, struct effect *effect)
{
	struct mail_job *job = job_find(self, effect);
	if (job)
		job_end(self, job);
}

static int maildir_fd(void *self)
{
	(void)self;
	return -1;
}

static int64_t maildir_wait(void *self)
{
	return job_ready(self) ? 0 : -1;
}

static void maildir_work(void *self)
{
	struct mail_job *job;
	while ((job = job_ready(self)))
		job_step(self, job);
}

static void maildir_close(void *self)
{
	struct maildir *maildir = self;
	while (!list_empty(&maildir->jobs))
		job_end(maildir, LIST_ENTRY(maildir->jobs.next, struct mail_job, hook));
	free(maildir);
}

static void make_folders(const struct maildir *maildir)
{
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		char path[420];
		snprintf(path, sizeof(path), "%s/%s", maildir->folder, folders[i]);
		int r = file_make_folders(path, 0750);
		if (r < 0)
			die("%s: %s: make the folder writable for this user, or set [mail] maildir", path,
				strerror(-r));
	}
}

struct effect_driver *transport_maildir_new(const char *folder)
{
	struct maildir *maildir = memory_new(sizeof(*maildir));
	if (!TEXT_COPY(maildir->folder, folder))
		die("[mail] maildir: the path is longer than %zu characters", sizeof(maildir->folder) - 1);
	list_init(&maildir->jobs);
	make_folders(maildir);
	maildir->driver = (struct effect_driver){ .name = "mail",
		.self = maildir,
		.start = maildir_start,
		.proceed = maildir_proceed,
		.stop = maildir_stop,
		.fd = maildir_fd,
		.wait_us = maildir_wait,
		.work = maildir_work,
		.close = maildir_close };
	return &maildir->driver;
}
