/*
 * postman.c: a simulated way to a mail server
 *
 * Promises:  delivers exactly when the last byte is let through and the weather permits; what happens to the nth try of a mail is
 *            a function of the mail and n, so that the same story has the same weather.
 */
#include "postman.h"
#include "bus/base/list.h"
#include "bus/base/map.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "services/kit/mail/message.h"
#include <stdio.h>
#include <stdlib.h>

#define CONNECT_US (40 * US_PER_MS)
#define ANSWER_US (700 * US_PER_MS)

enum luck { LUCK_SENT, LUCK_NO_CONNECTION, LUCK_4XX, LUCK_5XX, LUCK_DIES_BEFORE, LUCK_DIES_AFTER };

struct letterbox {
	size_t delivered, tries;
};

struct mailbox {
	struct map *mails; /* message id -> struct letterbox */
};

struct ride { /* one mail on its way */
	struct list hook;
	struct effect *effect;
	struct letterbox *box;
	enum luck luck;
	bool let_go;    /* the last byte went */
	int64_t due_us; /* INT64_MAX: waits to be told */
};

struct postman {
	struct effect_driver driver;
	struct effect_driver *drivers[2];
	const struct clock *clock;
	struct mailbox *mailbox;
	enum weather weather;
	struct list rides;
};

struct mailbox *mailbox_new(void)
{
	struct mailbox *mailbox = memory_new(sizeof(*mailbox));

	mailbox->mails = map_new();
	return mailbox;
}

static void free_box(struct bytes key, void *value, void *context)
{
	(void)key, (void)context;
	free(value);
}

void mailbox_free(struct mailbox *mailbox)
{
	map_each(mailbox->mails, free_box, NULL);
	map_free(mailbox->mails);
	free(mailbox);
}

size_t mailbox_count(const struct mailbox *mailbox, const char *message_id)
{
	const struct letterbox *box = map_get(mailbox->mails, bytes_of(message_id));

	return box ? box->delivered : 0;
}

struct each_mail {
	void (*each)(const char *message_id, size_t times, void *context);
	void *context;
};

static void each_box(struct bytes key, void *value, void *context)
{
	const struct each_mail *to = context;
	const struct letterbox *box = value;
	char message_id[200];

	text_copy_bytes(message_id, sizeof(message_id), key);
	if (box->delivered > 0)
		to->each(message_id, box->delivered, to->context);
}

void mailbox_each(
	const struct mailbox *mailbox, void (*each)(const char *message_id, size_t times, void *context), void *context)
{
	struct each_mail to = { each, context };

	map_each(mailbox->mails, each_box, &to);
}

static struct letterbox *box_of(struct mailbox *mailbox, const char *message_id)
{
	struct letterbox *box = map_get(mailbox->mails, bytes_of(message_id));

	if (!box) {
		box = memory_new(sizeof(*box));
		map_put(mailbox->mails, bytes_of(message_id), box);
	}
	return box;
}

static enum luck luck_of(enum weather weather, const char *message_id, size_t nth)
{
	static const enum luck lucks[] = { LUCK_NO_CONNECTION, LUCK_NO_CONNECTION, LUCK_4XX, LUCK_4XX, LUCK_5XX,
		LUCK_DIES_BEFORE, LUCK_DIES_AFTER };
	char line[220];
	uint64_t drawn;

	if (weather == FAIR)
		return LUCK_SENT;
	snprintf(line, sizeof(line), "%s %zu", message_id, nth);
	drawn = text_hash(bytes_of(line)) % 40;
	return drawn < sizeof(lucks) / sizeof(lucks[0]) ? lucks[drawn] : LUCK_SENT;
}

static void end(struct ride *ride, enum mail_end how, const char *words)
{
	struct mail_result result = { .end = how, .transport = "postman" };
	struct effect *effect = ride->effect;

	TEXT_COPY(result.words, words);
	list_remove(&ride->hook);
	free(ride);
	effect_done(effect, &result);
}

static void start(void *self, struct effect *effect, const void *request)
{
	struct postman *postman = self;
	const struct mail *mail = request;
	struct ride *ride = memory_new(sizeof(*ride));

	ride->effect = effect;
	ride->box = box_of(postman->mailbox, mail->message_id);
	ride->luck = luck_of(postman->weather, mail->message_id, ride->box->tries++);
	ride->due_us = clock_boot_us(postman->clock) + CONNECT_US;
	list_append(&postman->rides, &ride->hook);
}

static struct ride *ride_of(struct postman *postman, const struct effect *effect)
{
	LIST_EACH (hook, &postman->rides) {
		struct ride *ride = LIST_ENTRY(hook, struct ride, hook);

		if (ride->effect == effect)
			return ride;
	}
	return NULL;
}

static void proceed(void *self, struct effect *effect, bool go)
{
	struct postman *postman = self;
	struct ride *ride = ride_of(postman, effect);

	if (!go) {
		end(ride, MAIL_NOT_SENT, "dropped before the last byte");
		return;
	}
	ride->let_go = true;
	ride->due_us = clock_boot_us(postman->clock) + ANSWER_US;
	if (ride->luck == LUCK_SENT || ride->luck == LUCK_DIES_AFTER)
		ride->box->delivered++;
}

static void stop(void *self, struct effect *effect)
{
	struct ride *ride = ride_of(self, effect);

	list_remove(&ride->hook);
	free(ride);
}

static void arrive(struct ride *ride)
{
	if (!ride->let_go && ride->luck != LUCK_NO_CONNECTION) {
		ride->due_us = INT64_MAX;
		effect_claim(ride->effect);
		return;
	}
	switch (ride->luck) {
	case LUCK_SENT:
		end(ride, MAIL_SENT, "250 taken");
		return;
	case LUCK_NO_CONNECTION:
		end(ride, MAIL_NOT_SENT, "no connection");
		return;
	case LUCK_4XX:
		end(ride, MAIL_LATER, "451 try later");
		return;
	case LUCK_5XX:
		end(ride, MAIL_REFUSED, "550 no");
		return;
	case LUCK_DIES_BEFORE:
	case LUCK_DIES_AFTER:
		end(ride, MAIL_UNKNOWN, "the connection died");
		return;
	}
}

static struct ride *first_due(struct postman *postman)
{
	LIST_EACH (hook, &postman->rides) {
		struct ride *ride = LIST_ENTRY(hook, struct ride, hook);

		if (ride->due_us <= clock_boot_us(postman->clock))
			return ride;
	}
	return NULL;
}

static void work(void *self)
{
	struct ride *ride;

	while ((ride = first_due(self)))
		arrive(ride);
}

static int64_t wait_us(void *self)
{
	struct postman *postman = self;
	int64_t first_us = INT64_MAX;

	LIST_EACH (hook, &postman->rides) {
		const struct ride *ride = LIST_ENTRY(hook, struct ride, hook);

		if (ride->due_us < first_us)
			first_us = ride->due_us;
	}
	if (first_us == INT64_MAX)
		return -1;
	first_us -= clock_boot_us(postman->clock);
	return first_us > 0 ? first_us : 0;
}

struct postman *postman_new(const struct clock *clock, struct mailbox *mailbox, enum weather weather)
{
	struct postman *postman = memory_new(sizeof(*postman));

	postman->clock = clock;
	postman->mailbox = mailbox;
	postman->weather = weather;
	list_init(&postman->rides);
	postman->driver = (struct effect_driver){ .name = "mail",
		.noted = true,
		.self = postman,
		.start = start,
		.proceed = proceed,
		.stop = stop,
		.wait_us = wait_us,
		.work = work };
	postman->drivers[0] = &postman->driver;
	return postman;
}

void postman_free(struct postman *postman)
{
	LIST_EACH_SAFE (hook, &postman->rides)
		free(LIST_ENTRY(hook, struct ride, hook));
	free(postman);
}

struct effect_driver *const *postman_drivers(struct postman *postman)
{
	return postman->drivers;
}
