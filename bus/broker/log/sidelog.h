/*
 * sidelog.h: the side log: a small second file of the messages that must outlive the log
 *
 * Each message of a topic that topology.conf marks `sidelog = yes` (such as a ban on mails) is written to the
 * file and synced before it is confirmed. A restore reads it if the log is lost. Read next:
 * bus/wire/sidelog_file.h, services/cartbus/backup/recover_sends_sidelog.c
 */
#ifndef BROKER_LOG_SIDELOG_H
#define BROKER_LOG_SIDELOG_H

#include "bus/broker/core.h"
#include "bus/wire/sidelog_file.h"
#include <stdbool.h>

struct erasing;
struct sidelog;

enum { SIDELOG_PATH = 700 };

/*
 * How long the side log keeps messages that are no rows of compacted topics. Work on one subject takes days;
 * decisions are kept for at least 120 days ([retention] facts).
 */
#define SIDELOG_KEPT_US (120 * US_PER_DAY)

/*
 * Opens the side log in the folder settings.sidelog; NULL: there is none. Messages that only the log has are
 * added. A damaged file is put aside, and a new one is written from the log. -EUCLEAN: the log must not be
 * served with it (sidelog_judge).
 */
int sidelog_open(struct broker *broker, char ret_why[512]);
void sidelog_close(struct sidelog *sidelog); /* takes NULL */
/* How many damaged files are beside it. They stay until a person removes them. */
int sidelog_damaged(const struct sidelog *sidelog); /* takes NULL */
/*
 * Writes and syncs the committed messages from this number on. An error breaks the broker: none of them may
 * be confirmed.
 */
int sidelog_follow(struct broker *broker, uint64_t from);
/*
 * For an operator who wants the log to begin without it: renames it to <folder>/stops.of-<log>, or appends .2
 * and so on, so that no file is overwritten. -ENOENT: there is none.
 */
int sidelog_put_away(const char *folder, char ret_to[SIDELOG_PATH]);
/* Writes the side log anew without the messages that are being erased. */
int sidelog_erase(struct broker *broker, const struct erasing *erasing);

/*
 * May a log be served beside the existing side log?
 *
 * The broker asks at its start, and --verify asks the same, so both give the same answer.
 */

/*
 * `path` is the side log's file. `log` is the id of the log. `head` is the log's last message; 0: it is
 * empty. Returns 0: the side log fits; it may be torn or behind the log. -ENOENT: there is none. -EBADMSG: it
 * is damaged, but the log has all its messages, so it may be put aside and written again; `ret` then has the
 * damages, 0: it has no head. -EUCLEAN: it belongs to another log; or it, or a side log of this log that was
 * put away, has messages that the log lacks. ret_why tells what, and what to do. Another errno: a file cannot
 * be read. If that file was put away, ret_why names it; otherwise ret_why is unchanged.
 */
int sidelog_judge(const char *path, const char *log, uint64_t head, struct sidelog_read *ret, char ret_why[512]);

#endif
