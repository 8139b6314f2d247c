/*
 * retention.c: the section [retention] of cartbus.conf, read
 *
 * Promises:  what it returns adds up: no age is below what folds need, and personal payloads stay for 30 days at most.
 * Fails by:  -EINVAL with the key, what it says and what was expected.
 */
#include "bus/base/retention.h"
#include <errno.h>
#include <stdio.h>

enum { MIB_MOST = 1 << 30 };

static int read_mib(const struct config *config, const char *key, uint64_t *ret_bytes, struct config_error *ret_error)
{
	int64_t mib = 0;
	int r = config_get_int(config, "retention", NULL, key, 0, MIB_MOST, &mib, ret_error);

	*ret_bytes = (uint64_t)mib << 20;
	return r;
}

static int refuse(const struct config *config, const char *key, const char *expected, struct config_error *ret_error)
{
	snprintf(ret_error->text, sizeof(ret_error->text), "[retention] %s \"%s\": expected %s", key,
		config_get(config, "retention", NULL, key), expected);
	return -EINVAL;
}

int retention_read(const struct config *config, struct retention_limits *ret, struct config_error *ret_error)
{
	int r;

	if ((r = config_get_span(config, "retention", NULL, "raw", &ret->raw_us, ret_error)) < 0 ||
		(r = config_get_span(config, "retention", NULL, "facts", &ret->facts_us, ret_error)) < 0 ||
		(r = read_mib(config, "raw-mib", &ret->raw_bytes, ret_error)) < 0 ||
		(r = read_mib(config, "facts-mib", &ret->facts_bytes, ret_error)) < 0)
		return r;
	if (ret->raw_us < RETENTION_RAW_LEAST_US || ret->raw_us > RETENTION_RAW_MOST_US)
		return refuse(config, "raw",
			"21d to 30d: less would take a stop away while a mail may be decided on, and more would keep "
			"personal data without need",
			ret_error);
	if (ret->facts_us < RETENTION_FACTS_LEAST_US)
		return refuse(config, "facts",
			"120d or more: what was decided about a cart is asked for in the months after it", ret_error);
	return 0;
}
