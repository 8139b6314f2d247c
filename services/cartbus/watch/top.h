/* top.h: the repeated looks of `cartbus top` */
#ifndef CARTBUS_WATCH_TOP_H
#define CARTBUS_WATCH_TOP_H

#include "services/cartbus/watch/health.h"
#include "services/cartbus/watch/top_draw.h"

struct top {
	struct command *command;
	struct client *client; /* NULL: the broker never answered */
	struct health *health;
	struct looks looks;
	struct top_figures figures; /* of the newest look, if there is one */
	enum top_order order;
	double interval_s;
	int64_t away_since_us; /* boot time; 0: the last look had its answer */
	char why[256];         /* why the last look had no answer */
	bool gave_up;          /* the user did not want to wait any longer */
};

/* Looks once, and connects first if needed. true: there was an answer. */
bool top_look(struct top *top, int64_t connect_within_us);
/* Asks one more question. NULL: no answer; `why` gives the reason. Takes ownership of `what`. */
json_t *top_ask(struct top *top, const char *verb, json_t *what);
bool top_is_asked_to_stop(void);
void top_arrange(struct top *top); /* sorts the newest look again in another order */
/* Runs until the user quits. Returns an exit code. */
int top_live(struct top *top);

enum { TOP_INTERVAL_LEAST_MS = 200, TOP_INTERVAL_MOST_S = 3600 };

#endif
