/*
 * sidelog.h: the side log: what must outlive the log is written a second time, to a small file of its own
 *
 * Of the topics that topology.conf marks `sidelog = yes` (what forbids a mail) each message is in the file, and synced, before it is
 * confirmed. It is what a restore learns from when the log is gone. Read next: bus/wire/sidelog_file.h, services/cartbus/backup/recover_sends_sidelog.c
 */
#ifndef BROKER_LOG_SIDELOG_H
#define BROKER_LOG_SIDELOG_H

#include "bus/broker/core.h"
#include "bus/wire/sidelog_file.h"
#include <stdbool.h>

struct erasing;
struct sidelog;

enum { SIDELOG_PATH = 700 };

/* Of messages that are no rows of compacted topics, those that are younger. Work on one subject takes days; decisions are kept for 120 days at
 * least ([retention] facts). */
#define SIDELOG_KEPT_US (120 * US_PER_DAY)

/*
 * Of settings.sidelog, a folder; NULL: there is none. What the log holds and the file does not is added. A file that is damaged is
 * put aside and a new one written from the log. -EUCLEAN: the log must not be served beside it (sidelog_judge).
 */
int sidelog_open(struct broker *broker, char ret_why[512]);
void sidelog_close(struct sidelog *sidelog); /* takes NULL */
/* How many damaged files lie beside it. They stay until a person removes them. */
int sidelog_damaged(const struct sidelog *sidelog); /* takes NULL */
/* What was committed from this number on, synced. An error breaks the broker: nothing of it may be confirmed. */
int sidelog_follow(struct broker *broker, uint64_t from);
/* For the operator who wants the log to begin without it: from now on it is <folder>/stops.of-<log>, or .2 and so on
 * behind that: none is written over. -ENOENT: there is none. */
int sidelog_put_away(const char *folder, char ret_to[SIDELOG_PATH]);
/* Without the messages that are being erased. */
int sidelog_erase(struct broker *broker, const struct erasing *erasing);

/*
 * May a log be served beside the side log that is there?
 *
 * The broker asks at its start, and --verify asks the same: what the one refuses the other does not call sound.
 */

/*
 * `path`: of the side log; `log`: which log this is; `head`: its last message, 0: it is empty. 0: it fits, and may be torn or behind it;
 * -ENOENT: there is none; -EBADMSG: it is damaged, and the log has all that it held: it may be put aside and written again; `ret` has
 * the damages then, 0: it has no head. -EUCLEAN: it is another log's, or it or one of this log that was put away holds what the log
 * lacks: ret_why says what, and what to do. Else why one of them cannot be read; ret_why names one that was put away, and is
 * left as it was for `path` itself.
 */
int sidelog_judge(const char *path, const char *log, uint64_t head, struct sidelog_read *ret, char ret_why[512]);

#endif
