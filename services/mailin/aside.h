/*
 * aside.h: the folder of mails that say nothing to us, for a person to look at: the latest 200, for 30 days
 */
#ifndef MAILIN_ASIDE_H
#define MAILIN_ASIDE_H

#include "bus/base/bytes.h"

void aside_make_room(const char *folder);
int aside_write(const char *folder, struct bytes mail); /* under a name of its own, and makes room */

#endif
