/*
 * delivery.h: what becomes of a mail over LMTP: the functions of struct lmtp_owner (lmtp.h) that judge recipients and take mails
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

/* Of one connection. The owner fills the first five and lets the rest be zero. */
struct delivery {
	struct deliveries *all;
	struct lmtp **lmtp;
	void *self; /* for the next two */
	void (*answer)(
		void *self, const char *reply); /* to the mail that was taken; may be called from inside `take` */
	void (*wake)(void *self);               /* an answer was given later: it is to be sent now */
	struct reading reading;
	bool is_read;                /* `reading` is in use */
	struct quarantine_note note; /* of the mail that is being read */
	struct saying *saying;       /* of the mail that is being said; NULL: none */
	struct mailbox mailbox;      /* of the recipients, once there is one */
	bool has_mailbox;
	struct routed *routed; /* of a mail that a route says a message about; NULL: none */
	bool is_taking;        /* `take` is at it, and its caller sends the answer */
};

struct deliveries *deliveries_new(const struct delivery_needs *needs);
void deliveries_free(struct deliveries *all); /* neither runtime nor reader may call back after this. Takes NULL */
void delivery_end(struct delivery *delivery); /* its connection has gone */

/* For struct lmtp_owner; `self` is a struct delivery. */
enum lmtp_knows delivery_knows(void *self, const char *recipient);
size_t delivery_bytes_most(void *self);
bool delivery_is_in_parts(void *self);
void delivery_take_part(void *self, struct bytes part);
void delivery_begin_anew(void *self);
void delivery_take(void *self, const struct lmtp_mail *mail);

#endif
