/*
 * transport.h: the mail transports, each an effect driver named "mail"
 *
 * Only for the kit; services call mail_driver_new (message.h). If the mail asks for a claim, a transport
 * sends the last byte only after proceed(go = true). Each reports its result as a struct mail_result.
 */
#ifndef KIT_MAIL_TRANSPORT_H
#define KIT_MAIL_TRANSPORT_H

#include "services/kit/http/http.h"
#include "services/kit/mail/message.h"

struct effect_driver *transport_null_new(void);
struct effect_driver *transport_maildir_new(const char *folder); /* makes the folder; die()s if it cannot */

/* [mail] transport and smtp-tls, in the order of their words */
enum mail_transport { TRANSPORT_MAILDIR, TRANSPORT_SMTP, TRANSPORT_SES, TRANSPORT_NULL };
enum smtp_tls { SMTP_STARTTLS, SMTP_PLAIN };

struct smtp_settings {
	const char *host;
	int port;
	bool starttls;
	const char *ca;            /* NULL: the system's */
	const char *user;          /* NULL: no login */
	const char *password_file; /* read for each connection, so a new password needs no restart */
	int connections;           /* the most connections at a time */
	const struct clock *clock;
};
struct effect_driver *transport_smtp_new(const struct smtp_settings *settings); /* copies all but the clock */
/*
 * Reads the settings of [mail]. They borrow from the configuration and from `password_file`, which is filled.
 * A negative errno; ret_why gives the reason.
 */
int smtp_settings_of(const struct config *config, const struct clock *clock, char password_file[256],
	struct smtp_settings *ret, char ret_why[512]);
/*
 * Connects, demands TLS and logs in as for a mail, but sends none. It blocks. A negative errno: ret_why has
 * the server's words.
 */
int smtp_probe(const struct smtp_settings *settings, char ret_why[256]);

#define SES_ERROR_HEADER "x-amzn-ErrorType"
struct ses_settings {
	const char *region;
	const char *endpoint;          /* NULL: the region's own */
	const char *configuration_set; /* NULL: none */
	const char *ca;                /* NULL: the system's */
	struct http_settings http;
};
struct effect_driver *transport_ses_new(const struct ses_settings *settings); /* copies all but the clock */
/* `went`: the last byte of the mail was released before this answer came. */
struct mail_result ses_result_of(const struct http_answer *answer, bool went);

/* Does a mail server's reply ask us to slow down: 4.7.x, or too many of something (RFC 3463, RFC 5321)? */
bool mail_is_throttled(long code, const char *reply);
/* Does SES ask us to slow down, by its error name or 429? */
bool ses_is_throttled(const struct http_answer *answer);

struct mail_result mail_result_of(enum mail_end end, const char *transport, const char *words);

#endif
