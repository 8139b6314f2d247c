/*
 * conformance.h: what the files of the conformance suite share
 */
#ifndef TESTS_UNIT_ACTOR_CONFORMANCE_H
#define TESTS_UNIT_ACTOR_CONFORMANCE_H

#include "tests/unit/actor/cast.h"
#include "tests/unit/actor/world.h"

#define SHOP "demo"

void await_count(struct world *world, const struct topic *topic, const char *key, size_t count);
void await_ready(struct world *world, const char *instance);
void click(struct world *world, const char *cart, uint32_t step);

/* conformance_effects.c */
void two_postmen_deliver_once(void **context);
void a_stop_confirmed_before_the_claim_forbids_it(void **context);
void a_claim_waits_while_a_gateway_is_away_or_has_spooled(void **context);
void an_answer_that_was_heard_late_is_none(void **context);
void a_claims_answer_grows_old(void **context);
void an_outcome_is_said_though_the_broker_died_meanwhile(void **context);
void each_outcome_of_one_message_is_its_own(void **context);
void a_lease_is_kept_while_its_work_goes_on(void **context);
void a_lease_is_kept_over_the_death_of_the_broker(void **context);
void what_kills_its_worker_every_time_is_given_up(void **context);

/* conformance_notes.c */
void a_claim_that_a_killed_run_did_not_use_is_released(void **context);
void any_other_instance_may_release_it(void **context);
void what_went_before_the_kill_is_never_released(void **context);
void without_its_notes_nobody_knows_what_a_killed_run_did(void **context);

#endif
