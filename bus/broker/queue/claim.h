/*
 * claim.h: a claim waits until no gateway can have an unpublished stop in its spool
 *
 * A claim is parked until all gateways have drained. If a gateway has a spool again at the time of the
 * commit, the claim's answer is held. Only claim.c knows the struct.
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
/* for the operator: releases the claims; true: they were held */
bool claims_free_again(struct broker *broker);
int gateways_open(struct broker *broker);
void gateway_meet(struct broker *broker, const char *name, const char *who);
/* true: the gateway's name is new, and its key or user already has as many names as it may have. */
bool gateway_is_one_too_many(
	struct broker *broker, const char *name, const struct identity *identity, const char *who, char ret_why[256]);
bool gateway_strike(struct broker *broker, const char *name);
/* removes the answer from its list; claims_release sends it */
void claim_hold(struct broker *broker, struct answer *answer);
/* true: all claims are held, because the log got a new identity */
bool claims_are_held(const struct broker *broker);
/* Calls each(name, NULL, context) once per gateway that ever said hello. */
void gateways_each(
	const struct broker *broker, void (*each)(struct bytes name, void *value, void *context), void *context);

#endif
