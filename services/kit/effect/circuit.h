/*
 * circuit.h: a circuit breaker: what failed so many times in a row is left alone for a while, and then tried by one at a time
 *
 * Closed until `failures` in a row. Then open: one try after a pause, which doubles with each try that fails, from first_us to
 * most_us. The first that works closes it.
 */
#ifndef KIT_EFFECT_CIRCUIT_H
#define KIT_EFFECT_CIRCUIT_H

#include <stdbool.h>
#include <stdint.h>

struct circuit {
	int failures; /* in a row, which open it; 0: it never opens */
	int64_t first_us, most_us;
	int failed;                /* in a row, but for those that were under way when it opened */
	bool is_tried;             /* somebody tries while it is open */
	int64_t pause_us, next_us; /* boot time of the next try */
};

bool circuit_is_open(const struct circuit *circuit);
/* Always true while it is closed. A caller that then tries calls circuit_tried. */
bool circuit_may_try(const struct circuit *circuit, int64_t now_us);
/* Nobody else may try for another pause. */
void circuit_tried(struct circuit *circuit, int64_t now_us);
void circuit_worked(struct circuit *circuit);
/* true: it begins a pause, of pause_us. */
bool circuit_failed(struct circuit *circuit, int64_t now_us);

#endif
