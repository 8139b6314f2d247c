/*
 * doctor.h: the checks of `cartbus doctor`, and their findings
 *
 * Each look_ function checks one area and reports its findings, also the good ones. None of them changes
 * anything.
 */
#ifndef CARTBUS_DOCTOR_DOCTOR_H
#define CARTBUS_DOCTOR_DOCTOR_H

#include "bus/actor/client.h"
#include "services/cartbus/core/subcommand.h"
#include <jansson.h>

enum finding { FINDING_FINE, FINDING_DOUBTFUL, FINDING_WRONG, FINDING_KINDS };

struct doctor {
	struct command *command;
	const char *resolver; /* ADDRESS or ADDRESS@PORT of the name server to ask; NULL: the system's */
	bool is_away;         /* the broker did not answer */
	bool is_far;          /* the broker is on another host */
	json_t *findings;     /* array of {area, finding, text, remedy} */
	int count[FINDING_KINDS];
};

/*
 * Reports a finding. `remedy` is "" if nothing needs to be done. A finding that is not fine is reported only
 * once with the same words.
 */
void found(struct doctor *doctor, enum finding finding, const char *area, const char *remedy, const char *format, ...)
	__attribute__((format(printf, 5, 6)));

/*
 * doctor_files.c: owners and modes of secrets, keys and states; may each service's user read and reach what
 * it needs?
 */
void look_at_files(struct doctor *doctor);
void look_at_readers(struct doctor *doctor);

/*
 * doctor_units.c: the clock and the disk; processes that run with another configuration; systemd's units; an
 * upgrade that was cut short
 */
void look_at_machine(struct doctor *doctor);
void look_at_reading(struct doctor *doctor, struct client *client);
void look_at_units(struct doctor *doctor);

/* doctor_backups.c: the scheduled copies; is a blob missing, is a shop's space for blobs full? */
void look_at_backups(struct doctor *doctor);
void look_at_blobs(struct doctor *doctor);

/*
 * doctor_ways.c: does the broker on another host know the keys, and does its clock show this host's time?
 * Checks the broker, the mail server, public-url and the storefronts.
 */
void look_at_keys(struct doctor *doctor);
void look_at_ways(struct doctor *doctor);

/* doctor_shops.c: SPF, DKIM and DMARC of each shop; do the links of a shop's carts lead to the shop? */
void look_at_domains(struct doctor *doctor);
void look_at_carts(struct doctor *doctor, struct client *client);

extern const struct subcommand doctor_subcommands[]; /* registered in services/cartbus/CMakeLists.txt */

#endif
