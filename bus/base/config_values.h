/*
 * config_values.h: the values that config_read.c reads and config.c answers from; no other file includes it
 */
#ifndef BASE_CONFIG_VALUES_H
#define BASE_CONFIG_VALUES_H

#include "bus/base/config.h"

struct config_value {
	char *section; /* the word before the space in [section name] */
	char *name;    /* NULL: the plain section */
	char *key;
	char *value;
	char *file;
	unsigned line;
	struct config_meaning meaning;
	/*
	 * given but refused; kept only while all faults are collected, so that the key is not reported as
	 * missing
	 */
	bool is_wrong;
};

struct config_faults; /* config_judge.c */

struct config {
	char *file;         /* the file that was read first */
	const char *reader; /* NULL: everything is checked */
	struct config_error passed_over;
	struct config_key *keys;     /* the rows of all tables; each key once */
	bool *asked;                 /* for each key: was it asked for? */
	struct config_value *values; /* in the order read */
	size_t count;
	size_t room;
	/* NULL: the first fault ends the reading; otherwise all faults are noted here */
	struct config_faults *faults;
};

struct config *config_new(const struct config_key *keys, const char *file);
int config_read_drop_ins(struct config *config, const char *path, struct config_error *ret_error);
/* Notes a fault. `file` NULL: it has no line. false: faults are not collected. */
bool config_note_fault(struct config *config, const char *file, unsigned line, const char *text);

int config_read_file(struct config *config, const char *path, struct config_error *ret_error);
int config_read_text(struct config *config, const char *text, const char *name, struct config_error *ret_error);
const struct config_key *config_find_key(const struct config_key *keys, const char *section, const char *key);
bool config_is_for_others(const struct config *config, const struct config_key *key);
const struct config_value *config_last(
	const struct config *config, const char *section, const char *name, const char *key);
/* to be called after all files are read */
int config_check_needs(struct config *config, struct config_error *ret_error);
int config_fail(struct config_error *ret_error, int error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
