/*
 * judge.h: what the log says of a week, held against the plan and the mailbox
 */
#ifndef TESTS_WEEK_JUDGE_H
#define TESTS_WEEK_JUDGE_H

#include "plan.h"
#include "postman.h"

struct judged; /* what the log says of each planned cart */

struct judged *judge_read(struct sim *sim, const struct plan *plan);
void judged_free(struct judged *judged);

enum ended { ENDED_NOT, ENDED_SENT, ENDED_REFUSED, ENDED_AMBIGUOUS, ENDED_SKIPPED };
enum ended judged_step(const struct judged *judged, int cart, int step);
CartStatus judged_status(const struct judged *judged, int cart);
ClosedReason judged_reason(const struct judged *judged, int cart);
const char *judged_message_id(const struct judged *judged, int cart, int step); /* "" if none was ever said */

/* Mails whose last byte went although a stop of their cart lies before their claim in the log; must be 0. */
size_t judged_sends_after_stops(const struct judged *judged);
size_t judged_claims(const struct judged *judged);
size_t judged_dead(const struct judged *judged);

#endif
