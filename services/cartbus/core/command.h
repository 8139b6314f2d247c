/*
 * command.h: the context of every subcommand, and how it reads its arguments: options, words, numbers,
 * moments and rates
 *
 * A subcommand is one function. It declares what it takes as a table (struct take), calls command_take, and
 * finds its words and options in its own variables, the configuration and the clock in `struct command`. All
 * subcommands have --config, --json and --help.
 *
 * Read next: subcommand.h (the tables of subcommands), arguments.c
 */
#ifndef CARTBUS_CORE_COMMAND_H
#define CARTBUS_CORE_COMMAND_H

#include "bus/base/clock.h"
#include "bus/base/config.h"
#include "services/kit/shop/shop.h"

/* The meaning of the command's exit code. */
enum command_exit {
	EXIT_FINE = 0,
	EXIT_NO = 1,    /* red, not found, refused, a file that is wrong */
	EXIT_USAGE = 2, /* the arguments are invalid */
	EXIT_AWAY = 3   /* the broker cannot be reached; for verify: the broker has the log open */
};

#define CONFIG_PATH_DEFAULT "/etc/cartbus/cartbus.conf"

struct subcommand;

struct command {
	const char *name; /* "shop add" */
	const struct subcommand *subcommand;
	bool is_told_of; /* only prints its options (subcommand.h) */
	const char *config_given,
		*home_given;     /* --config and --home, before the subcommand or in it; NULL: not given */
	const char *config_path; /* the resulting path (home.h) */
	bool json;
	/* Receives the texts of complain() instead of stderr; NULL: stderr. */
	void (*hear)(const char *words, void *context);
	void *hearer;
	struct config *config; /* loaded by command_take; NULL for a subcommand that needs none */
	/* for a subcommand that checks the configuration: the number of reported errors */
	int config_faults;
	struct clock clock; /* the clock of the configuration, for the times of decisions and messages */
};

enum { TAKE_REPEATED = 16 };

struct take {
	const char *option; /* "time-zone"; NULL ends the table */
	/* the name of its value in --help; "ROLE...": the option may be repeated; NULL: it is a switch */
	const char *value;
	const char *help; /* one line */
	/* where the value goes, borrowed from argv; of a repeated option an array of TAKE_REPEATED, ended by a NULL */
	const char **text;
	bool *is_given; /* where a switch goes */
};

struct arguments {
	const char *words_help;   /* "NAME" or "SHOP CART" */
	const char *help;         /* a description, then a blank line and examples */
	const struct take *takes; /* NULL: only the common options */
	const char **words;
	int words_least, words_most;
	bool no_config; /* does not read cartbus.conf by command_take */
	/* nor with this switch and a first word, which name everything that is needed */
	const bool *no_config_with;
	bool needs_no_home; /* and the home may be missing */
	bool makes_home;    /* makes a missing home of --home */
	/* prints each error in it, also of keys that only other programs need; config_faults counts them */
	bool judges_config;
};

/* Reads argv (argv[0] is the subcommand's last word). Prints what is wrong and exits with EXIT_USAGE, or with --help exits 0. */
void command_take(struct command *command, int argc, char **argv, const struct arguments *arguments);

/* returns an exit code, enum command_exit */
typedef int command_fn(struct command *command, int argc, char **argv);

/* `clock` as the configuration says; command_take does it where it reads one. */
void command_set_clock(struct command *command);

/*
 * Writes one line to stderr, "cartbus shop add: ...", or passes it to `hear`. Control characters in it become
 * spaces.
 */
void complain(const struct command *command, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Is the broker on another host? */
bool command_is_far(const struct command *command);
/*
 * Does systemd run this installation? An installation in a home, or with its own configuration, is run by
 * `cartbus up`.
 */
bool command_has_units(const struct command *command);
/* Paths from the configuration, into `ret` of 512. */
enum { PATH_ROOM = 512 };
void command_shop_path(const struct command *command, const char *shop, const char *file, char ret[PATH_ROOM]);
void command_secret_path(const struct command *command, const char *name, char ret[PATH_ROOM]);
/* shop.conf of this shop; complains and returns an exit code if it cannot be used. */
int command_shop(const struct command *command, const char *name, struct shop *ret);
/* The zone in the shop's shop.conf; "UTC" if it is missing here. Borrowed until the next call. */
const char *zone_of_shop(const struct command *command, const char *shop);
/* The shop whose shop.conf lies beside an owner's file; false: there is none, or it is wrong, and `ret` is empty. */
bool command_shop_beside(const char *file, struct shop *ret);

/*
 * ---- numbers, moments and rates that an admin types; a text that is not understood as a whole is refused
 */

/*
 * Reads a sequence number such as "4711", 1 or more. -EINVAL: anything else, also "4711x", "-1" and a number
 * that is too large.
 */
int range_seq(const char *text, int64_t *ret);
/* Reads a rate such as "5/s" or "5". -EINVAL: anything else, zero, or more than 100000. */
int range_rate(const char *text, int64_t *ret);

/* One end of a part of the log: a sequence number, or a moment. */
struct range_end {
	int64_t seq;     /* 0: it is a moment */
	int64_t time_us; /* wall time */
};
/*
 * Reads "4711", "2h" (two hours ago) or "2026-11-21T06:00:00Z", in which seconds may be left out. -EINVAL:
 * anything else.
 */
int range_end_parse(const char *text, const struct clock *clock, struct range_end *ret);

#endif
