/*
 * recover_sends.h: what was mailed and what forbids a mail, learnt from the files that survived beside a restored log, which has forgotten it
 *
 * Survivors are the states of sender, waiter and unsub, and the side log (bus/wire/sidelog_file.h) in its place, or copies of it. The
 * gateway's spool is not read here: it stays in its place, and the gateway publishes what it holds.
 */
#ifndef CARTBUS_BACKUP_RECOVER_SENDS_H
#define CARTBUS_BACKUP_RECOVER_SENDS_H

#include "bus/actor/topic.h"
#include "services/cartbus/core/command.h"
#include <jansson.h>

struct recover_sends {
	const struct command *command;
	const char *log_id,
		*origin;      /* of the backup: the log that it is of, and the first that this one was restored from */
	uint64_t head;        /* of the backup */
	int64_t from_us;      /* what was mailed before is in the backup */
	json_t *sends;        /* an object: a step each */
	json_t *said;         /* an object: by name a message that is to be said again, in the order of their numbers */
	json_t *modes;        /* an object: by shop the mode that it was in last */
	json_t *let_back;     /* an object: by name each time that somebody was let back on, which is not said again */
	json_t *sidelogs;     /* an array: the paths of those that hold what the backup does not */
	const json_t *erased; /* the list of erasures (erasures.h) */
	char sidelog_id[40];  /* of the log that the side log is of; "": none was found */
	bool has_sidelog;     /* it lay in its place and was whole: nothing that was confirmed is missing in it */
	uint64_t sidelog_last; /* the highest number in any of its copies */
	uint64_t stops_to;     /* what forbids a mail is known from states up to here */
	uint64_t known_to;     /* the highest number that any survivor has seen */
	int accounts;          /* states that keep account of mails */
	bool has_other_log; /* something is of another log than the backup: that one was served after an earlier restore */
};

/* One service's state. Complains. -EBUSY: it runs; -EUCLEAN: it is damaged and knows nothing; else why it cannot be read now. */
int recover_sends_folder(struct recover_sends *recovery, const char *name, const char *path);
/* Of it what forbids a mail, out of an open state. */
struct state;
void recover_sends_stops(struct recover_sends *recovery, const struct state *state, bool is_same_log);
/*
 * recover_sends_sidelog.c. Exits; complain; none is fine. Of this installation: `stops` in its folder, which the broker wrote to until the end, and
 * those of earlier logs that were put away beside it. If one of them is the backup's, so are the others, whatever log they are of.
 */
int recover_sends_sidelogs(struct recover_sends *recovery, const char *folder);
int recover_sends_sidelog_copy(struct recover_sends *recovery, const char *path);
bool recover_sends_is_sidelog(const char *name); /* of a file in that folder */

/* Is all that forbids a mail known, as far as any survivor can tell? */
bool recover_sends_is_covered(const struct recover_sends *recovery);
/* Is it of the log that the backup is of, or of one that was restored from it? */
bool recover_sends_is_kin(const struct recover_sends *recovery, const char *log_id);

/* recover_sends_publish.c. Notes a message unless there is one of this name; `message` as the topic's. */
struct recalled {
	const char *name, *shop, *key, *idem;
	int64_t at_us;
};
void recover_sends_note(struct recover_sends *recovery, const struct recalled *recalled, const struct topic *topic,
	const void *message);
/* The strictest word of a shop's mode counts; `status` is a ShopStatus. */
void recover_sends_note_mode(struct recover_sends *recovery, const char *shop, const void *status);
/* recover_sends.c. Says what was learnt as facts. An exit; complains. */
int recover_sends_publish(const struct command *command, json_t *sends);
/* recover_sends_publish.c. The same of what forbids a mail. */
int recover_sends_publish_stops(const struct command *command, const json_t *said, const json_t *modes);
/* How many of each kind: {"opt_outs", "orders", ...}; a new reference. */
json_t *recover_sends_count(const json_t *said, const json_t *modes);

#endif
