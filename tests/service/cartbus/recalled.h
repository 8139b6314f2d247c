/*
 * recalled.h: a restore that begins to learn, and what it has noted
 *
 * The backup is of the log "log-b", which was restored from "log-a", up to message RECALLED_HEAD; what was mailed before RECALLED_FROM_US
 * is in it.
 */
#ifndef TESTS_SERVICE_CARTBUS_RECALLED_H
#define TESTS_SERVICE_CARTBUS_RECALLED_H

#include "services/cartbus/backup/recover_sends.h"

enum { RECALLED_HEAD = 100, RECALLED_FROM_US = 1000 };

extern const char RECALLED_LOG[], RECALLED_ORIGIN[], RECALLED_OTHER_LOG[]; /* the last: nobody's */

struct recover_sends recalled_new(void);
void recalled_drop(struct recover_sends *recovery);
const char *recalled_heard(void); /* what it complained of last */

const char *recalled_text(const json_t *object, const char *name); /* "(none)": there is none */
/* The message of a note, which must be of this topic. */
void recalled_read(const json_t *note, const struct topic *topic, void *ret);

#endif
