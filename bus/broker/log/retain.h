/* retain.h: decides which messages the log may drop, by age and size */
#ifndef BROKER_LOG_RETAIN_H
#define BROKER_LOG_RETAIN_H

#include "bus/broker/core.h"

void retain_open(struct broker *broker);
void retain_close(struct broker *broker);
void retain(struct broker *broker);
bool retain_is_too_old(const struct broker *broker, int peer, uint64_t cursor);
/* Publishes the last Forgotten message again; returns its number. */
uint64_t retain_publish_again(struct broker *broker);

#endif
