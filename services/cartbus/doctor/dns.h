/*
 * dns.h: questions to a name server
 *
 * ldns asks, because it decodes what comes, goes over to TCP where an answer is cut, and takes a server and a port to ask, which tests need
 * and an admin who waits for a cache as well; libresolv leaves decoding to its caller, libunbound would validate from the root on.
 */
#ifndef CARTBUS_DOCTOR_DNS_H
#define CARTBUS_DOCTOR_DNS_H

#include <stdbool.h>

enum { DNS_TEXTS_MAX = 32, DNS_TEXT_ROOM = 2048 };

struct dns;

enum dns_end {
	DNS_FOUND,
	DNS_NOTHING, /* there is no such name, or nothing of that kind */
	DNS_FAILED,  /* the server answers, and has no answer for this name: ret_why */
	DNS_AWAY     /* nobody answered: ret_why */
};

struct dns_texts {
	int count;
	char each[DNS_TEXTS_MAX][DNS_TEXT_ROOM]; /* the strings of one record, joined; longer ones are left out */
};

/* `server`: ADDRESS or ADDRESS@PORT; NULL: those of /etc/resolv.conf. NULL: there is none, ret_why. */
struct dns *dns_open(const char *server, char ret_why[256]);
void dns_close(struct dns *dns); /* takes NULL */
enum dns_end dns_texts(struct dns *dns, const char *name, struct dns_texts *ret, char ret_why[256]);
/* Has it an MX that is not "none", or an address? */
enum dns_end dns_takes_mail(struct dns *dns, const char *name, char ret_why[256]);

#endif
