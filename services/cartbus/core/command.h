/*
 * command.h: what every subcommand is given, and how it reads its arguments: options, words, numbers, moments and rates
 *
 * A subcommand is one function. It declares what it takes as a table (struct take), calls command_take, and finds its words and
 * options in its own variables, the configuration and the clock in `struct command`. --config, --json and --help are everybody's.
 *
 * Read next: subcommand.h (the tables of subcommands), arguments.c
 */
#ifndef CARTBUS_CORE_COMMAND_H
#define CARTBUS_CORE_COMMAND_H

#include "bus/base/clock.h"
#include "bus/base/config.h"
#include "services/kit/shop/shop.h"

/* What the command's exit says to a script. */
enum command_exit {
	EXIT_FINE = 0,
	EXIT_NO = 1,    /* red, not found, refused, a file that is wrong */
	EXIT_USAGE = 2, /* the arguments make no sense */
	EXIT_AWAY = 3   /* the broker cannot be reached; of verify: it has the log open */
};

#define CONFIG_PATH_DEFAULT "/etc/cartbus/cartbus.conf"

struct subcommand;

struct command {
	const char *name; /* "shop add" */
	const struct subcommand *subcommand;
	bool is_told_of; /* tells what it takes (subcommand.h), and does nothing */
	const char *config_given,
		*home_given;     /* --config and --home, before the subcommand or in it; NULL: not given */
	const char *config_path; /* what follows from them (home.h) */
	bool json;
	/* Who hears what complain() says in place of stderr; NULL: nobody. */
	void (*hear)(const char *words, void *context);
	void *hearer;
	struct config *config; /* loaded by command_take; NULL for a subcommand that needs none */
	int config_faults;     /* of a subcommand that judges it: so much is wrong in it, and said */
	struct clock clock;    /* the configuration's: what decisions and messages are dated with */
};

struct take {
	const char *option; /* "time-zone"; NULL ends the table */
	const char *value;  /* what its value is called in --help; NULL: a switch */
	const char *help;   /* one line */
	const char **text;  /* where the value goes, borrowed from argv */
	bool *is_given;     /* where a switch goes */
};

struct arguments {
	const char *words_help;   /* "NAME" or "SHOP CART" */
	const char *help;         /* what it does, then a blank line and examples */
	const struct take *takes; /* NULL: no options but everybody's */
	const char **words;
	int words_least, words_most;
	bool no_config;             /* does not read cartbus.conf by command_take */
	const bool *no_config_with; /* nor with this switch and a first word: these name all that there is to look at */
	bool needs_no_home;         /* and a home that is not there does no harm */
	bool makes_home;            /* a home of --home that is not there yet is made */
	bool judges_config; /* each fault in it is printed, also of keys that only others need; config_faults counts them */
};

/* Reads argv (argv[0] is the subcommand's last word). Prints what is wrong and exits with EXIT_USAGE, or with --help exits 0. */
void command_take(struct command *command, int argc, char **argv, const struct arguments *arguments);

typedef int command_fn(struct command *command, int argc, char **argv); /* returns a command_exit */

/* `clock` as the configuration says; command_take does it where it reads one. */
void command_set_clock(struct command *command);

/* One line on stderr, "cartbus shop add: ...", or told to who hears. */
void complain(const struct command *command, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Is the broker on another host? */
bool command_is_far(const struct command *command);
/* Does systemd run this installation? One in a home, or with a configuration of its own, is run by `cartbus up`. */
bool command_has_units(const struct command *command);
/* Paths from the configuration, into `ret` of 512. */
enum { PATH_ROOM = 512 };
void command_shop_path(const struct command *command, const char *shop, const char *file, char ret[PATH_ROOM]);
void command_secret_path(const struct command *command, const char *name, char ret[PATH_ROOM]);
/* shop.conf of this shop; complains and returns an exit when it cannot be used. */
int command_shop(const struct command *command, const char *name, struct shop *ret);
/* The shop whose shop.conf lies beside an owner's file; false: there is none, or it is wrong, and `ret` is empty. */
bool command_shop_beside(const char *file, struct shop *ret);

/* ---- numbers, moments and rates as an admin types them; what is not understood as a whole is refused ---- */

/* "4711": a sequence number, 1 or more. -EINVAL: anything else, also "4711x", "-1" and what does not fit. */
int range_seq(const char *text, int64_t *ret);
/* "5/s", or "5". -EINVAL: anything else, zero, more than 100000. */
int range_rate(const char *text, int64_t *ret);

/* One end of a part of the log: a sequence number, or a moment. */
struct range_end {
	int64_t seq;     /* 0: it is a moment */
	int64_t time_us; /* wall time */
};
/* "4711"; "2h" (so long ago); "2026-11-21T06:00:00Z", seconds may be left out. -EINVAL: anything else. */
int range_end_parse(const char *text, const struct clock *clock, struct range_end *ret);

#endif
