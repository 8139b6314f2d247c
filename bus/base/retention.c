/*
 * retention.c: the section [retention] of cartbus.conf, read
 *
 * Promises:  the returned values are consistent: no age is below the least that folds need, and personal
 *            payloads stay for 30 days at most, as the rows of its keys say.
 */
#include "bus/base/retention.h"

static uint64_t read_mib(const struct config *config, const char *key)
{
	return (uint64_t)config_number(config, "retention", NULL, key) << 20;
}

struct retention_limits retention_read(const struct config *config)
{
	return (struct retention_limits){ .raw_us = config_number(config, "retention", NULL, "raw"),
		.facts_us = config_number(config, "retention", NULL, "facts"),
		.raw_bytes = read_mib(config, "raw-mib"),
		.facts_bytes = read_mib(config, "facts-mib") };
}
