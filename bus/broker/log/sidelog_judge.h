/*
 * sidelog_judge.h: may a log be served beside the side log that is there?
 *
 * The broker asks at its start, and --verify asks the same: what the one refuses the other does not call sound.
 */
#ifndef BROKER_LOG_SIDELOG_JUDGE_H
#define BROKER_LOG_SIDELOG_JUDGE_H

#include "bus/wire/sidelog_file.h"
#include <stdbool.h>

enum { SIDELOG_PATH = 700 };

/*
 * `path`: of the side log; `log`: which log this is; `head`: its last message, 0: it is empty. 0: it fits, and may be torn or behind it;
 * -ENOENT: there is none; -EBADMSG: it is damaged, and the log has all that it held: it may be put aside and written again; `ret` has
 * the damages then, 0: it has no head. -EUCLEAN: it is another log's, or it or one of this log that was put away holds what the log
 * lacks: ret_why says what, and what to do. Else why one of them cannot be read; ret_why names one that was put away, and is
 * left as it was for `path` itself.
 */
int sidelog_judge(const char *path, const char *log, uint64_t head, struct sidelog_read *ret, char ret_why[512]);

/* The nth that was put aside: `suffix` is .damaged, or .of-<log>. false: there is none. */
bool sidelog_is_aside(const char *path, const char *suffix, int nth, char ret[SIDELOG_PATH]);
/* The first name that is free; where there are `most`, the last of them. */
void sidelog_name_aside(const char *path, const char *suffix, int most, char ret[SIDELOG_PATH]);

#endif
