/* given.h: mailin in front of a bus, with a shop whose mails come back, in virtual time, and a folder of its own */
#ifndef TESTS_SERVICE_MAILIN_GIVEN_H
#define TESTS_SERVICE_MAILIN_GIVEN_H

#include "bus/actor/sim/sim.h"
#include "services/kit/keys/keyring.h"
#include "services/platform/mailin/quarantine.h"
#include "services/platform/mailin/reader.h"
#include "services/platform/mailin/routed.h"
#include "tests/unit/cmocka_all.h"

extern struct given {
	char path[64]; /* aside/ and the others lie in it */
	struct sim *sim;
	struct runtime *runtime;
	struct keyring keys;
	struct reader *reader;
	struct quarantine *quarantine;
	struct routing routing; /* of mailin's own routes */
} given;

/* `reader`: the program that reads mails; NULL: this one, whose main() then is given_main. */
void given_begin(const char *reader);
void given_end(void); /* folders and doors over it have to be freed before */
int given_main(int argc, char **argv, int (*run)(void));

void given_pass(int64_t us);
int given_told(void); /* how many mails' words are on the bus by now */
/* Until the reader has answered once; then the bus has heard of it. */
void given_read_one(void);
/* From now on, to given_end, a reader that is started never answers. */
void given_let_readers_hang(void);
/* The mail that is being read is given up as one that finds no end. */
void given_give_up_one(void);

const char *given_tagged(void); /* the address that the shop's mail bounces to */
/* A bounce as a mail server writes it; `to` "": it does not say to whom. Borrowed until the next call. */
const char *given_bounce(const char *to, const char *action, const char *words);

bool given_has(const char *name);
/* Its size is `size`, of which all but `text` takes no room on the disk; it was written so long ago. */
void given_lay(const char *name, const char *text, int64_t size, int64_t age_s);
struct quarantine_note given_note(const char *name);

#endif
