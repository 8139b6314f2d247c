/*
 * dns.h: asks a name server
 *
 * It uses ldns, which decodes the answers, goes over to TCP if an answer is cut, and takes a server and a
 * port to ask. Tests need that, and so does an admin who waits for a cache. libresolv leaves decoding to its
 * caller; libunbound would validate from the root on.
 */
#ifndef CARTBUS_DOCTOR_DNS_H
#define CARTBUS_DOCTOR_DNS_H

#include <stdbool.h>

enum { DNS_TEXTS_MAX = 32, DNS_TEXT_ROOM = 2048 };

struct dns;

enum dns_end {
	DNS_FOUND,
	DNS_NOTHING, /* there is no such name, or nothing of that kind */
	DNS_FAILED,  /* the server has no answer for this name; ret_why tells why */
	DNS_AWAY     /* no server answered; ret_why tells why */
};

struct dns_texts {
	int count;
	char each[DNS_TEXTS_MAX][DNS_TEXT_ROOM]; /* one record's strings, joined; cut where one does not fit */
};

/*
 * `server` is ADDRESS or ADDRESS@PORT; NULL: the servers of /etc/resolv.conf. Returns NULL if there is no
 * server; ret_why tells why.
 */
struct dns *dns_open(const char *server, char ret_why[256]);
void dns_close(struct dns *dns); /* takes NULL */
enum dns_end dns_texts(struct dns *dns, const char *name, struct dns_texts *ret, char ret_why[256]);
/* Does the domain have an MX other than "none", or an address? */
enum dns_end dns_takes_mail(struct dns *dns, const char *name, char ret_why[256]);

#endif
