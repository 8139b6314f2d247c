/*
 * fetch.h: what the gateway met at SNS and does not fetch itself: the certificate it signs with, and a subscription's confirmation
 */
#ifndef PLATFORM_MAILIN_FETCH_H
#define PLATFORM_MAILIN_FETCH_H

#include "bus/actor/service.h"
#include "proto/platform_topics.h"

enum verdict fetch_hear(const struct state *state, const FeedbackFetch *wanted, struct turn *turn);
extern const struct effect_kind fetch_effect;

#endif
