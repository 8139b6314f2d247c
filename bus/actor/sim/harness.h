/*
 * harness.h: unit tests of decisions: given these facts, when this message, then these facts
 *
 * Runs a service's functions alone, without a broker or a session. It has what a unit test of decisions needs
 * and nothing more.
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
/*
 * For a service with a context: harness_new_in(exporter_in(&exporter), now_us). The context is borrowed, and
 * may be changed between turns.
 */
struct harness *harness_new_in(struct service_context context, int64_t now_us);
void harness_free(struct harness *harness);
void harness_now(struct harness *harness, int64_t now_us);
/* sets the wall time at which the run began; without this call it is unknown */
void harness_began(struct harness *harness, int64_t began_us);

/*
 * Names the service that the following facts and messages come from; without this call it is "harness".
 * `service` must be a constant.
 */
void harness_said_by(struct harness *harness, const char *service);
/*
 * Folds a fact, as if the log had projected it; if the service does not remember the topic, the test is wrong
 * (assert).
 */
void harness_given(
	struct harness *harness, const struct topic *topic, const struct publish_options *how, const void *fact);
/* Decides on a message; afterwards harness_said tells what was said in this turn. */
enum verdict harness_when(
	struct harness *harness, const struct topic *topic, const struct publish_options *how, const void *message);
enum verdict harness_again(struct harness *harness);         /* the same message, delivered once more */
uint64_t harness_message_seq(const struct harness *harness); /* its sequence number */
/*
 * Tells the service that an earlier run noted a claim and left it unused. Afterwards harness_said gives the
 * messages of this turn.
 */
void harness_unused(struct harness *harness, const struct claim_note *note);
/* Runs the clock's turns up to `now_us`, one by one; their messages are appended. */
void harness_tick(struct harness *harness, int64_t now_us);

#define GIVEN(h, topic, message, ...)                                                                                  \
	harness_given((h), &topic_##topic, &(struct publish_options){ __VA_ARGS__ },                                   \
		(const topic_message_##topic *)(message))
#define WHEN(h, topic, message, ...)                                                                                   \
	harness_when((h), &topic_##topic, &(struct publish_options){ __VA_ARGS__ },                                    \
		(const topic_message_##topic *)(message))

/* How many messages of this topic the last harness_when or harness_tick said. */
/* topic NULL: of all topics */
size_t harness_count(const struct harness *harness, const struct topic *topic);
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
