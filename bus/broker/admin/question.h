/*
 * question.h: one function per question of the operator
 *
 * Each takes the argument (a JSON object, never NULL) and returns the answer, or NULL with ret_error filled: what was wrong with
 * the question, in words.
 */
#ifndef BROKER_ADMIN_QUESTION_H
#define BROKER_ADMIN_QUESTION_H

#include "bus/broker/session/session.h"
#include <jansson.h>

typedef json_t *answer_fn(struct broker *broker, json_t *argument, char ret_error[256]);

answer_fn answer_status, answer_queues;                                              /* answer_status.c */
answer_fn answer_read;                                                               /* answer_read.c */
answer_fn answer_dead_list, answer_dead_show, answer_dead_redrive, answer_dead_drop; /* answer_dead.c */
answer_fn answer_redrive, answer_redrive_cancel, answer_redrive_resume, answer_replay,
	answer_replay_count;                                /* answer_redrive.c */
answer_fn answer_snapshot, answer_rebuild, answer_release;  /* answer_admin.c */
answer_fn answer_erase, answer_erasure, answer_erased;      /* answer_erase.c */
answer_fn answer_keys_reload, answer_strike, answer_resume; /* answer_status.c */

/* NULL or "": not given. A number that is not one is 0. */
const char *argument_text(json_t *argument, const char *name);
uint64_t argument_number(json_t *argument, const char *name, uint64_t otherwise);
json_t *json_base64(struct bytes bytes);
struct queue *queue_by_name(struct broker *broker, const char *name);
/* The queue that the argument names; NULL: there is none, ret_error says so. */
struct queue *argument_queue(struct broker *broker, json_t *argument, char ret_error[256]);
/* Which dead letters: topic, shop, reason, died_after_us, died_before_us. */
void argument_filter(json_t *argument, Feed *ret);
/* Begins a redrive or a replay; its state, or NULL when the queue has one already. */
json_t *begin_redrive(struct broker *broker, struct queue *queue, const Feed *what, char ret_error[256]);

#endif
