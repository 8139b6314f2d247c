/*
 * operated.h: an installation in a folder, with a real broker, in which the operator's commands are run
 *
 * Its shop is "demo", in Berlin's time. What commands print is gathered as a transcript, in which everything that differs from run to
 * run is replaced: moments of today, the folder, and random names.
 */
#ifndef TESTS_SERVICE_CARTBUS_OPERATED_H
#define TESTS_SERVICE_CARTBUS_OPERATED_H

#include "bus/base/bytes.h"
#include "services/cartbus/core/subcommand.h"
#include "tests/unit/actor/world.h"

#define OPERATED_ADDRESS_KEY "0123456789abcdef0123456789abcdef"

struct operated;

/* The first thing of main(): a process that operated_run started becomes the command, and ends. */
void operated_main(const struct subcommand *const *tables, int argc, char **argv);

/* secrets/address.key from the beginning: where there is a log, none is made any more. */
#define OPERATED_ADDRESS_KEY "0123456789abcdef0123456789abcdef"

/* Before and after each test, also one that fails: *state is a struct operated. */
int operated_setup(void **state);
int operated_teardown(void **state);
struct operated *operated_new_with(const struct service *beside); /* which the bus knows, too; NULL: none */
void operated_free(struct operated *operated);
struct world *operated_world(
	struct operated *operated); /* "intake" runs in it: it refuses every cart.changed of key "bad" */
void operated_write(
	const struct operated *operated, const char *name, const char *text); /* a file that is not there yet */
void operated_config(const struct operated *operated, const char *name, const char *mail); /* with more of [mail] */
const char *operated_folder(const struct operated *operated);

/* Runs "carts demo --open" (FOLDER in it is the folder) in a process of its own; its words and its exit are appended to the transcript. Returns the exit.
 * What it says on stderr stands before what it prints at its end. "--manual" is as main() has it. */
int operated_run(struct operated *operated, const char *line);
struct bytes operated_transcript(const struct operated *operated);

#endif
