/*
 * cast.h: the services that are rehearsed, each with its state
 */
#ifndef CARTS_REHEARSAL_CAST_H
#define CARTS_REHEARSAL_CAST_H

#include "bus/actor/runtime/replay.h"

enum role { ROLE_INTAKE, ROLE_WAITER, ROLE_SENDER, ROLE_TIMER, ROLES, ROLE_NONE = ROLES };

struct cast;

struct cast *cast_new(const char *folder, char ret_why[512]); /* as replay_new */
void cast_free(struct cast *cast);                            /* takes NULL */
struct replay *cast_alone(const struct cast *cast, enum role role);
enum role cast_hears(const struct cast *cast, const char *topic); /* who decides on it; ROLE_NONE: nobody */
uint32_t cast_failures_max(enum role role); /* so many failures make a dead letter of what it decides on */
bool cast_says(const struct cast *cast, const char *topic); /* one of them does */
/* Folded by all but `has_it`, which may be ROLE_NONE. */
void cast_fold(struct cast *cast, const struct message_meta *said, struct bytes payload, enum role has_it);

#endif
