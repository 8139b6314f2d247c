/*
 * circuit.h: a circuit breaker: after several failures in a row it allows no tries for a while, then one at a
 * time
 *
 * It is closed until `failures` failures in a row. Then it is open: it allows one try after a pause. The
 * pause doubles with each failed try, from first_us to most_us. The first success closes it.
 */
#ifndef KIT_EFFECT_CIRCUIT_H
#define KIT_EFFECT_CIRCUIT_H

#include <stdbool.h>
#include <stdint.h>

struct circuit {
	int failures; /* how many failures in a row open it; 0: it never opens */
	int64_t first_us, most_us;
	int failed;                /* failures in a row, without those that were running when it opened */
	bool is_tried;             /* a try runs while it is open */
	int64_t pause_us, next_us; /* pause_us: the present pause; next_us: boot time of the next try */
};

bool circuit_is_open(const struct circuit *circuit);
/* Always true while it is closed. A caller that then tries must call circuit_tried. */
bool circuit_may_try(const struct circuit *circuit, int64_t now_us);
/* Notes a try: no other try is allowed for one more pause. */
void circuit_tried(struct circuit *circuit, int64_t now_us);
void circuit_worked(struct circuit *circuit);
/* Notes a failure. true: a pause of pause_us begins. */
bool circuit_failed(struct circuit *circuit, int64_t now_us);

#endif
