/*
 * delivery.h: handles a mail over LMTP: the functions of struct lmtp_owner (lmtp.h) that check recipients and
 * take mails
 */
#ifndef PLATFORM_MAILIN_DELIVERY_H
#define PLATFORM_MAILIN_DELIVERY_H

#include "services/kit/keys/keyring.h"
#include "services/platform/mailin/lmtp.h"
#include "services/platform/mailin/quarantine.h"
#include "services/platform/mailin/reader.h"
#include "services/platform/mailin/routed.h"

struct deliveries;
struct saying;

struct delivery_needs { /* borrowed */
	struct quarantine *quarantine;
	const struct keyring *keys;
	struct reader *reader;
	struct routing *routing;
	struct runtime *runtime;
	const struct clock *clock;
};

/* The delivery of one connection. The owner fills the first five fields and sets the rest to zero. */
struct delivery {
	struct deliveries *all;
	struct lmtp **lmtp;
	void *self; /* argument of the next two functions */
	/* answers the mail that was taken; may be called inside `take` */
	void (*answer)(void *self, const char *reply);
	void (*wake)(void *self); /* an answer was given later and must be sent now */
	struct reading reading;
	bool is_read;                /* `reading` is in use */
	struct quarantine_note note; /* for the mail that is being read */
	struct saying *saying;       /* the mail whose message is being published; NULL: none */
	struct mailbox mailbox;      /* of the recipients, after the first one */
	bool has_mailbox;
	struct routed *routed; /* the mail for a route; NULL: none */
	bool is_taking;        /* `take` runs, and its caller sends the answer */
};

struct deliveries *deliveries_new(const struct delivery_needs *needs);
void deliveries_free(struct deliveries *all); /* neither runtime nor reader may call back after this. Takes NULL */
void delivery_end(struct delivery *delivery); /* to be called when its connection has ended */

/* For struct lmtp_owner; `self` is a struct delivery. */
enum lmtp_knows delivery_knows(void *self, const char *recipient);
size_t delivery_bytes_most(void *self);
bool delivery_is_in_parts(void *self);
void delivery_take_part(void *self, struct bytes part);
void delivery_begin_anew(void *self);
void delivery_take(void *self, const struct lmtp_mail *mail);

#endif
