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
#include "services/kit/steps.h"
#include "services/kit/transport.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

struct maildir {
	struct steps steps;
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

static void forget(struct steps *steps, struct step_job *job)
{
	char tmp[800], new[800];
	place_of((struct maildir *)steps, job->request, tmp, new);
	unlink(tmp); /* gone already when the mail was sent */
}

static void report(struct steps *steps, struct step_job *job, enum mail_end end, const char *words)
{
	struct mail_result result = mail_result_of(end, "maildir", words);
	steps_done(steps, job, &result);
}

static int write_new(const char *path, struct bytes mime)
{
	int r = file_write_new(path, mime, 0640);
	if (r == -EEXIST && unlink(path) == 0) /* left by an earlier life with this process id */
		r = file_write_new(path, mime, 0640);
	return r;
}

static void write_mail(struct steps *steps, struct step_job *job)
{
	const struct mail *mail = job->request;
	char tmp[800], new[800];
	place_of((struct maildir *)steps, mail, tmp, new);
	int r = mail->mime.len ? write_new(tmp, BYTES(mail->mime.data, mail->mime.len)) : -EINVAL;
	if (r < 0)
		report(steps, job, MAIL_NOT_SENT, strerror(-r));
	else if (mail->claim)
		steps_claim(job);
	else
		job->step = STEP_GO;
}

static void deliver(struct steps *steps, struct step_job *job)
{
	const struct maildir *maildir = (struct maildir *)steps;
	char tmp[800], new[800];
	place_of(maildir, job->request, tmp, new);
	/* One that is there already is this very mail: the name says so. */
	if (renameat2(AT_FDCWD, tmp, AT_FDCWD, new, RENAME_NOREPLACE) < 0 && errno != EEXIST) {
		report(steps, job, MAIL_NOT_SENT, strerror(errno));
		return;
	}
	job->step = STEP_SETTLE;
}

/* A folder's sync takes as long for a hundred new names as for one. */
static void settle(struct steps *steps)
{
	char folder[420];
	struct step_job *job;
	if (!steps_settling(steps))
		return;
	snprintf(folder, sizeof(folder), "%s/new", ((struct maildir *)steps)->folder);
	int r = file_sync_folder(folder);
	while ((job = steps_settling(steps)))
		report(steps, job, r < 0 ? MAIL_UNKNOWN : MAIL_SENT, r < 0 ? strerror(-r) : "in the folder");
}

static void take(struct steps *steps, struct step_job *job)
{
	switch (job->step) {
	case STEP_BEGIN:
		write_mail(steps, job);
		return;
	case STEP_GO:
		deliver(steps, job);
		return;
	case STEP_DROP:
		report(steps, job, MAIL_NOT_SENT, "dropped before it was delivered");
		return;
	case STEP_CLAIMING:
	case STEP_SETTLE:
		return;
	}
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
	make_folders(maildir);
	steps_init(&maildir->steps, "mail");
	maildir->steps.take = take;
	maildir->steps.settle = settle;
	maildir->steps.forget = forget;
	return &maildir->steps.driver;
}
