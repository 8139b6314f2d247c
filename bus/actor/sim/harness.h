/*
 * harness.h: given these facts, when this message, then these facts
 *
 * Runs a service's functions alone: no broker, no session. What a unit test of decisions needs, and nothing else.
 *
 *     struct harness *h = harness_new(&unsub, now_us);
 *     GIVEN(h, suppression, &already, .shop = "demo", .key = hash);
 *     assert_int_equal(WHEN(h, optout_request, &asked, .shop = "demo", .key = hash), TURN_DONE);
 *     assert_int_equal(harness_count(h, &topic_suppression), 0);
 */
#ifndef ACTOR_SIM_HARNESS_H
#define ACTOR_SIM_HARNESS_H

#include "bus/actor/service.h"

struct harness;

struct harness *harness_new(const struct service *service, int64_t now_us);
/* Of a service that has a context: harness_new_in(exporter_in(&exporter), now_us). The context is borrowed, and may be changed between turns. */
struct harness *harness_new_in(struct service_context context, int64_t now_us);
void harness_free(struct harness *harness);
void harness_now(struct harness *harness, int64_t now_us);
void harness_began(
	struct harness *harness, int64_t began_us); /* what the run takes for its beginning; else it does not know */

/* Which service the given facts and messages come from: this constant from now on, else "harness". */
void harness_said_by(struct harness *harness, const char *service);
/* Folds a fact, as if the log had projected it; a topic that the service does not remember is a mistake of the test (assert). */
void harness_given(
	struct harness *harness, const struct topic *topic, const struct publish_options *how, const void *fact);
/* Decides on a message; afterwards harness_said tells what was said in this turn. */
enum verdict harness_when(
	struct harness *harness, const struct topic *topic, const struct publish_options *how, const void *message);
enum verdict harness_again(struct harness *harness);         /* the same message, delivered once more */
uint64_t harness_message_seq(const struct harness *harness); /* its sequence number */
/* What an earlier run noted of a claim of its own and left unused; afterwards harness_said tells what was said about it. */
void harness_unused(struct harness *harness, const struct claim_note *note);
/* Runs the clock's turns up to `now_us`, one by one; what they said is appended. */
void harness_tick(struct harness *harness, int64_t now_us);

#define GIVEN(h, topic, message, ...)                                                                                  \
	harness_given((h), &topic_##topic, &(struct publish_options){ __VA_ARGS__ },                                   \
		(const topic_message_##topic *)(message))
#define WHEN(h, topic, message, ...)                                                                                   \
	harness_when((h), &topic_##topic, &(struct publish_options){ __VA_ARGS__ },                                    \
		(const topic_message_##topic *)(message))

/* What the last when (or tick) said. */
size_t harness_count(const struct harness *harness, const struct topic *topic); /* topic NULL: all */
/* Decodes the nth (from 0) of that topic; false: there is none. `ret_how` may be NULL. */
bool harness_said(const struct harness *harness, const struct topic *topic, size_t nth, void *ret_message,
	struct message_meta *ret_how);
const char *harness_reason(const struct harness *harness);         /* of TURN_RETRY and TURN_DEAD_LETTER */
int64_t harness_delay_us(const struct harness *harness);           /* of TURN_RETRY */
const void *harness_effect_request(const struct harness *harness); /* of TURN_PENDING; NULL: none */
/* Ends the running effect: kind.may_proceed when asked for, kind.decide with this result. */
bool harness_may_proceed(struct harness *harness);
enum verdict harness_result(struct harness *harness, const void *result, enum claim_answer claimed);
const struct state *harness_state(const struct harness *harness);

#endif
