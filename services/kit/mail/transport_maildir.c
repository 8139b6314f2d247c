/*
 * transport_maildir.c: writes mails into a Maildir, as files that a person can open
 *
 * Owns:      a Maildir: a mail is in tmp/ while it is written and claimed, and in new/ when it is sent. The
 *            syncs, of many files at a time.
 * Promises:  a file in new/ is whole and on the disk, and its name is on the disk before the mail counts as
 *            sent. The name is the Message-ID, so a mail is there once, also after a crash and a second try.
 *            A mail that asks for a claim reaches new/ only if it may go.
 * Fails by:  MAIL_NOT_SENT with the reason (a full disk, a folder that was taken away).
 * Read next: transport.h
 */
#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include "bus/base/log.h"
#include "bus/base/memory.h"
#include "bus/base/syncer.h"
#include "bus/base/text.h"
#include "services/kit/effect/last_byte.h"
#include "services/kit/effect/steps.h"
#include "services/kit/mail/transport.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

struct maildir {
	struct steps steps;
	struct syncer *syncer;
	struct syncing round; /* of the folder new/ */
	bool round_runs;
	char folder[400];
};

/* A mail in tmp/ on its way to the disk. The job may be stopped meanwhile. */
struct writing {
	struct syncing syncing;
	uint64_t job;
};

static const char *const folders[] = { "tmp", "new", "cur" };

static void place_of(const struct maildir *maildir, const struct step_job *job, char tmp[800], char new[800])
{
	char name[200];
	TEXT_COPY(name, ((const struct mail *)job->request)->message_id);
	for (char *c = name; *c; c++)
		if (*c == '/' || *c == ':' || *c <= ' ' || (c == name && *c == '.'))
			*c = '_';
	snprintf(tmp, 800, "%s/tmp/%s.%d.%llu", maildir->folder, name, (int)getpid(), (unsigned long long)job->number);
	snprintf(new, 800, "%s/new/%s", maildir->folder, name);
}

static void forget(struct steps *steps, struct step_job *job)
{
	char tmp[800], new[800];
	if (job->step == STEP_SETTLE || job->step == STEP_SETTLING)
		return; /* it is in new/ */
	place_of((struct maildir *)steps, job, tmp, new);
	unlink(tmp);
}

static void report(struct steps *steps, struct step_job *job, enum mail_end end, const char *words)
{
	struct mail_result result = mail_result_of(end, "maildir", words);
	steps_done(steps, job, &result);
}

static int create(const char *path, const struct mail *mail, int *ret_fd)
{
	const mode_t mode = 0600;
	if (mail->mime.len == 0)
		return -EINVAL;
	int r = file_create(path, BYTES(mail->mime.data, mail->mime.len), mode, ret_fd);
	if (r == -EEXIST && unlink(path) == 0) /* an earlier process with this id left it */
		r = file_create(path, BYTES(mail->mime.data, mail->mime.len), mode, ret_fd);
	if (r < 0)
		return r;
	r = file_let_group_read(path, 0640);
	if (r < 0)
		close(*ret_fd);
	return r;
}

static void write_mail(struct maildir *maildir, struct step_job *job)
{
	char tmp[800], new[800];
	int fd;
	place_of(maildir, job, tmp, new);
	int r = create(tmp, job->request, &fd);
	if (r < 0) {
		report(&maildir->steps, job, MAIL_NOT_SENT, strerror(-r));
		return;
	}
	struct writing *writing = memory_new(sizeof(*writing));
	writing->job = job->number;
	steps_enter(&maildir->steps, job, STEP_PREPARED);
	syncer_begin(maildir->syncer, &writing->syncing, fd);
}

static void written(struct maildir *maildir, const struct writing *writing)
{
	struct step_job *job = steps_numbered(&maildir->steps, writing->job);
	if (!job)
		return;
	if (writing->syncing.result < 0)
		report(&maildir->steps, job, MAIL_NOT_SENT, strerror(-writing->syncing.result));
	else if (((const struct mail *)job->request)->claim)
		steps_claim(&maildir->steps, job);
	else
		steps_enter(&maildir->steps, job, STEP_GO);
}

/* A process that is stopped here for too long finds the file gone. */
static int rename_in_time(const struct effect *effect, const char *tmp, const char *new)
{
	const struct clock clock = clock_system();
	int64_t until_us = effect_until_us(effect);
	struct last_byte *last = until_us == INT64_MAX ? NULL : last_byte_of_file(tmp, &clock, until_us);
	int r = until_us < INT64_MAX && (!last || !effect_may_go(effect)) ? -ETIME : 0;
	if (r == 0 && renameat2(AT_FDCWD, tmp, AT_FDCWD, new, RENAME_NOREPLACE) < 0)
		r = last_byte_was_cut(last) ? -ETIME : -errno;
	last_byte_end(&last);
	return r;
}

static void deliver(struct maildir *maildir, struct step_job *job)
{
	char tmp[800], new[800];
	place_of(maildir, job, tmp, new);
	int r = rename_in_time(job->effect, tmp, new);
	if (r == -EEXIST) /* new/ has this mail already: the name is its Message-ID */
		r = unlink(tmp) < 0 ? -errno : 0;
	if (r == 0)
		steps_enter(&maildir->steps, job, STEP_SETTLE);
	else
		report(&maildir->steps, job, MAIL_NOT_SENT,
			r == -ETIME ? "stopped for too long before it was delivered" : strerror(-r));
}

static void report_round(struct maildir *maildir, int r)
{
	struct step_job *job;
	maildir->round_runs = false;
	while ((job = steps_in(&maildir->steps, STEP_SETTLING)))
		report(&maildir->steps, job, r < 0 ? MAIL_UNKNOWN : MAIL_SENT, r < 0 ? strerror(-r) : "in the folder");
}

/*
 * The sync of a folder takes as long for a hundred new names as for one: mails that come while one runs wait
 * for the next.
 */
static void begin_round(struct maildir *maildir)
{
	char folder[420];
	struct step_job *job;
	if (maildir->round_runs || !steps_in(&maildir->steps, STEP_SETTLE))
		return;
	while ((job = steps_in(&maildir->steps, STEP_SETTLE)))
		steps_enter(&maildir->steps, job, STEP_SETTLING);
	snprintf(folder, sizeof(folder), "%s/new", maildir->folder);
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	maildir->round_runs = fd >= 0;
	if (fd < 0)
		report_round(maildir, -errno);
	else
		syncer_begin(maildir->syncer, &maildir->round, fd);
}

static void tend(struct steps *steps)
{
	struct maildir *maildir = (struct maildir *)steps;
	struct syncing *ended;
	while ((ended = syncer_next(maildir->syncer))) {
		if (ended == &maildir->round) {
			report_round(maildir, ended->result);
			continue;
		}
		written(maildir, LIST_ENTRY(ended, struct writing, syncing));
		free(LIST_ENTRY(ended, struct writing, syncing));
	}
	begin_round(maildir);
	syncer_hand_over(maildir->syncer); /* syncs the mails that were written since, together */
}

static void take(struct steps *steps, struct step_job *job)
{
	switch (job->step) {
	case STEP_BEGIN:
		write_mail((struct maildir *)steps, job);
		return;
	case STEP_GO:
		deliver((struct maildir *)steps, job);
		return;
	case STEP_DROP:
		report(steps, job, MAIL_NOT_SENT, "dropped before it was delivered");
		return;
	case STEP_PREPARED:
	case STEP_CLAIMING:
	case STEP_SETTLE:
	case STEP_SETTLING:
		return;
	}
}

/* Called before the jobs end: waits until nothing is written any more. */
static void leave(struct steps *steps)
{
	struct maildir *maildir = (struct maildir *)steps;
	struct syncing *ended;
	syncer_wait(maildir->syncer);
	while ((ended = syncer_next(maildir->syncer)))
		if (ended != &maildir->round)
			free(LIST_ENTRY(ended, struct writing, syncing));
	syncer_free(maildir->syncer);
}

static void make_folders(const struct maildir *maildir)
{
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		char path[420];
		snprintf(path, sizeof(path), "%s/%s", maildir->folder, folders[i]);
		int r = file_make_folders(path, 0700);
		if (r < 0)
			die("%s: %s: make the folder writable for this user, or set [mail] maildir", path,
				strerror(-r));
	}
	file_close_own_folder(maildir->folder); /* made by an earlier release; doctor tells if this fails */
}

struct effect_driver *transport_maildir_new(const char *folder)
{
	struct maildir *maildir = memory_new(sizeof(*maildir));
	if (!TEXT_COPY(maildir->folder, folder))
		die("[mail] maildir: the path is longer than %zu characters", sizeof(maildir->folder) - 1);
	make_folders(maildir);
	steps_init(&maildir->steps, "mail");
	maildir->syncer = syncer_new();
	maildir->steps.fd = syncer_fd(maildir->syncer);
	maildir->steps.take = take;
	maildir->steps.tend = tend;
	maildir->steps.forget = forget;
	maildir->steps.close = leave;
	return &maildir->steps.driver;
}
