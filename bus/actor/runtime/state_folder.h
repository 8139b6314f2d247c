/*
 * state_folder.h: the folded state of a process that does not run, for the operator's command
 */
#ifndef ACTOR_RUNTIME_STATE_FOLDER_H
#define ACTOR_RUNTIME_STATE_FOLDER_H

#include "bus/actor/state.h"

bool state_folder_is_in_use(const char *path); /* its process runs */
/* Nothing in it is changed, and what is done to the state stays in memory. < 0: why it cannot be read, in words. */
int state_open_folder(const char *path, struct state **ret, char ret_why[512]);
void state_close_folder(struct state *state);               /* takes NULL */
const char *state_folder_log_id(const struct state *state); /* of the log it was folded from; "": none yet */

#endif
