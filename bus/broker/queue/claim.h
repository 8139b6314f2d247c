/*
 * claim.h: a claim waits until no gateway can hold a stop that nobody has seen
 *
 * A claim that is said is parked until all gateways have drained. Its answer is held when a gateway has a spool again by the time of the
 * commit. Nobody but claim.c sees inside.
 */
#ifndef BROKER_QUEUE_CLAIM_H
#define BROKER_QUEUE_CLAIM_H

#include "bus/broker/core.h"

struct claims *claims_new(void);
void claims_free(struct claims *claims);

void claim_park(struct broker *broker, const struct session *session, uint64_t request, struct bytes message);
void claims_retry(struct broker *broker);   /* stages parked claims whose gateways have drained */
void claims_release(struct broker *broker); /* sends held answers whose gateways have drained */
void claims_stir(struct broker *broker);
bool gateways_drained(const struct broker *broker);
void claims_forget(struct broker *broker, uint64_t epoch);
size_t claims_parked(const struct broker *broker);
bool claims_free_again(struct broker *broker); /* the operator releases the claims; true: they were held */
int gateways_open(struct broker *broker);
void gateway_meet(struct broker *broker, const char *name, const char *who);
/* The gateway's name is new, and its key or user has as many names as it may have. */
bool gateway_is_one_too_many(
	struct broker *broker, const char *name, const struct identity *identity, const char *who, char ret_why[256]);
bool gateway_strike(struct broker *broker, const char *name);
void claim_hold(
	struct broker *broker, struct answer *answer); /* takes the answer off its list; claims_release lets it out */
bool claims_are_held(const struct broker *broker);     /* all, since the log got another identity */
/* Calls each(name, NULL, context) once per gateway that ever said hello. */
void gateways_each(
	const struct broker *broker, void (*each)(struct bytes name, void *value, void *context), void *context);

#endif
