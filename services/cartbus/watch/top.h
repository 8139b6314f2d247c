/* top.h: one look after the other, as `cartbus top` shows them */
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
	char why[256];         /* it had none */
	bool gave_up;          /* somebody did not want to wait for it any longer */
};

/* Looks; true: there was an answer. Connects first, when there is no connection. */
bool top_look(struct top *top, int64_t connect_within_us);
/* One more question; NULL: no answer, `why` says why. Takes `what`. */
json_t *top_ask(struct top *top, const char *verb, json_t *what);
bool top_is_asked_to_stop(void);
void top_arrange(struct top *top); /* the newest look once more, in another order */
/* Until somebody has seen enough; an exit. */
int top_live(struct top *top);

enum { TOP_INTERVAL_LEAST_MS = 200, TOP_INTERVAL_MOST_S = 3600 };

#endif
