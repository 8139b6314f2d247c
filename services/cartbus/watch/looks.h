/*
 * looks.h: the broker's answers of the last minute, so that what only grows can be told as a rate
 */
#ifndef CARTBUS_WATCH_LOOKS_H
#define CARTBUS_WATCH_LOOKS_H

#include <jansson.h>
#include <stdint.h>

enum { LOOKS_MAX = 64 };

struct looks {
	int count; /* the last one is the newest */
	struct look {
		json_t *status; /* the broker's answer to "status" */
		int64_t at_us;  /* boot time */
	} each[LOOKS_MAX];
};

void looks_add(struct looks *looks, json_t *status, int64_t at_us); /* shares it; forgets what is older than a minute */
void looks_forget(struct looks *looks);

/* How fast the log grew between the look before `at` and that one, a second; negative: not known. */
double looks_messages_s(const struct looks *looks, int at);

/* What a process counted within the last `within_us`, as far as it was seen: since it is there, by the same broker. */
struct counted {
	double amount, seconds; /* seconds 0: not known */
};
struct counted looks_counted(const struct looks *looks, const json_t *session, const char *name, int64_t within_us);

#endif
