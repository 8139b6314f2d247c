/* retain.h: what of the log may go, by age and size, and what must stay */
#ifndef BROKER_LOG_RETAIN_H
#define BROKER_LOG_RETAIN_H

#include "bus/broker/core.h"

void retain_open(struct broker *broker);
void retain_close(struct broker *broker);
void retain(struct broker *broker);
bool retain_is_too_old(const struct broker *broker, int peer, uint64_t cursor);
/* Repeats the last message about what is forgotten; returns its number. */
uint64_t retain_publish_again(struct broker *broker);

#endif
