/*
 * circuit.c: a circuit breaker: decides when to pause after failures, and when to try again
 *
 * Promises:  while the circuit is open, one failure counts for each try, so the pause grows with the tries
 *            and not with the number of calls that fail. If a try never reports its end, another one may
 *            begin after the pause.
 */
#include "services/kit/effect/circuit.h"

bool circuit_is_open(const struct circuit *circuit)
{
	return circuit->failures > 0 && circuit->failed >= circuit->failures;
}

bool circuit_may_try(const struct circuit *circuit, int64_t now_us)
{
	return !circuit_is_open(circuit) || now_us >= circuit->next_us;
}

void circuit_tried(struct circuit *circuit, int64_t now_us)
{
	if (!circuit_is_open(circuit))
		return;
	circuit->is_tried = true;
	circuit->next_us = now_us + circuit->pause_us;
}

void circuit_worked(struct circuit *circuit)
{
	circuit->failed = 0;
	circuit->pause_us = 0;
	circuit->is_tried = false;
}

static int64_t longer_us(const struct circuit *circuit)
{
	if (!circuit->pause_us)
		return circuit->first_us;
	return circuit->pause_us < circuit->most_us / 2 ? 2 * circuit->pause_us : circuit->most_us;
}

bool circuit_failed(struct circuit *circuit, int64_t now_us)
{
	if (circuit_is_open(circuit) && !circuit->is_tried)
		return false;
	circuit->failed++;
	circuit->is_tried = false;
	if (!circuit_is_open(circuit))
		return false;
	circuit->pause_us = longer_us(circuit);
	circuit->next_us = now_us + circuit->pause_us;
	return true;
}
