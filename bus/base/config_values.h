/*
 * config_values.h: what config_read.c reads and config.c answers from; nobody else includes it
 */
#ifndef BUS_BASE_CONFIG_VALUES_H
#define BUS_BASE_CONFIG_VALUES_H

#include "bus/base/config.h"

struct config_value {
	char *section; /* the word before the space in [section name] */
	char *name;    /* NULL: the plain section */
	char *key;
	char *value;
	char *file;
	unsigned line;
};

struct config {
	const struct config_key *keys;
	bool *asked;                 /* for each key: did anybody want to know it? */
	struct config_value *values; /* in the order read */
	size_t count;
	size_t room;
};

int config_read_file(struct config *config, const char *path, struct config_error *ret_error);
int config_read_text(struct config *config, const char *text, const char *name, struct config_error *ret_error);
const struct config_key *config_find_key(const struct config_key *keys, const char *section, const char *key);
int config_fail(struct config_error *ret_error, int error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
