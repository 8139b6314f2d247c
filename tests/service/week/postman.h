/*
 * postman.h: a mail server and the way to it, simulated: the effect driver "mail", and the mailbox it fills
 */
#ifndef TESTS_WEEK_POSTMAN_H
#define TESTS_WEEK_POSTMAN_H

#include "bus/actor/effect.h"
#include "bus/base/clock.h"

struct mailbox;

struct mailbox *mailbox_new(void);
void mailbox_free(struct mailbox *mailbox);
size_t mailbox_count(const struct mailbox *mailbox, const char *message_id); /* how often this mail was delivered */
void mailbox_each(const struct mailbox *mailbox, void (*each)(const char *message_id, size_t times, void *context),
	void *context);

enum weather { FAIR, FOUL }; /* foul: 4xx, 5xx, no connection, connections that die before or after the last byte */

struct postman;
/* The clock, the mailbox are borrowed. */
struct postman *postman_new(const struct clock *clock, struct mailbox *mailbox, enum weather weather);
void postman_free(struct postman *postman);
struct effect_driver *const *postman_drivers(struct postman *postman);

#endif
