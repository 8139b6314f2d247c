/*
 * recover_sends.h: learns the sent mails and the stops that a restored log has lost from the files that
 * survived beside it
 *
 * Survivors are the states of sender, waiter and unsub, and the side log (bus/wire/sidelog_file.h) in its
 * place, or copies of it. The gateway's spool is not read here: it stays in its place, and the gateway
 * publishes its messages.
 */
#ifndef CARTBUS_BACKUP_RECOVER_SENDS_H
#define CARTBUS_BACKUP_RECOVER_SENDS_H

#include "bus/actor/topic.h"
#include "services/cartbus/core/command.h"
#include <jansson.h>

struct recover_sends {
	const struct command *command;
	const char *log_id,
		/* of the backup: the id of its log, and the first log that this one was restored from */
		*origin;
	uint64_t head;   /* of the backup */
	int64_t from_us; /* mails from before this time are in the backup */
	json_t *sends;   /* an object: one member for each step */
	/* an object: by name each message to say again, in the order of their numbers */
	json_t *said;
	json_t *modes;         /* an object: the last mode of each shop */
	json_t *let_back;      /* an object: by name each lifted suppression, which is not said again */
	json_t *sidelogs;      /* an array: the paths of side logs with messages that the backup lacks */
	const json_t *erased;  /* the list of erasures (erasures.h) */
	char sidelog_id[40];   /* the id of the side log's log; "": none was found */
	bool has_sidelog;      /* the side log was in its place and whole, so it has all confirmed stops */
	uint64_t sidelog_last; /* the highest number in any of its copies */
	uint64_t stops_to;     /* stops are known from states up to this number */
	uint64_t known_to;     /* the highest number that any survivor has seen */
	int accounts;          /* the number of states that record mails */
	/* a survivor belongs to another log than the backup, which was served after an earlier restore */
	bool has_other_log;
};

/*
 * Reads one service's state. Complains. -EBUSY: the service runs. -EUCLEAN: the state is damaged and of no
 * use. Another negative errno: it cannot be read now.
 */
int recover_sends_folder(struct recover_sends *recovery, const char *name, const char *path);
/* Reads the stops from an open state. */
struct state;
void recover_sends_stops(struct recover_sends *recovery, const struct state *state, bool is_same_log);
/*
 * recover_sends_sidelog.c. Exits; complain; none is fine. Of this installation: `stops` in its folder, which the broker wrote to until the end, and
 * those of earlier logs that were put away beside it. If one of them is the backup's, so are the others, whatever log they are of.
 */
int recover_sends_sidelogs(struct recover_sends *recovery, const char *folder);
int recover_sends_sidelog_copy(struct recover_sends *recovery, const char *path);
bool recover_sends_is_sidelog(const char *name); /* of a file in that folder */

/* Are all stops known, as far as any survivor can tell? */
bool recover_sends_is_covered(const struct recover_sends *recovery);
/* Does it belong to the backup's log, or to a log that was restored from it? */
bool recover_sends_is_kin(const struct recover_sends *recovery, const char *log_id);

/* recover_sends_publish.c. Notes a message unless there is one of this name; `message` as the topic's. */
struct recalled {
	const char *name, *shop, *key, *idem;
	int64_t at_us;
};
void recover_sends_note(struct recover_sends *recovery, const struct recalled *recalled, const struct topic *topic,
	const void *message);
/*
 * The latest mode of a shop counts: who ended a pause meant that. Where times and versions disagree (the clock
 * was set, or the versions are of two logs) the stricter one counts. `status` is a ShopStatus.
 */
void recover_sends_note_mode(struct recover_sends *recovery, const char *shop, const void *status);
/* The same with modes that an older restore noted. */
void recover_sends_add_modes(struct recover_sends *recovery, const json_t *modes);
/* Publishes the learnt facts. Complains and returns an exit code. */
int recover_sends_publish(const struct command *command, json_t *sends);
/* recover_sends_publish.c. The same of what forbids a mail. */
int recover_sends_publish_stops(const struct command *command, const json_t *said, const json_t *modes);
/* Counts each kind: {"opt_outs", "orders", ...}; a new reference. */
json_t *recover_sends_count(const json_t *said, const json_t *modes);

#endif
