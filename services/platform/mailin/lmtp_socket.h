/*
 * lmtp_socket.h: the listening socket of LMTP: a Unix socket that belongs to a group, or a port of this
 * machine
 */
#ifndef PLATFORM_MAILIN_LMTP_SOCKET_H
#define PLATFORM_MAILIN_LMTP_SOCKET_H

struct lmtp_socket {
	int fd;         /* does not block */
	char path[108]; /* the size is that of sockaddr_un; "": it is a port */
};

/* `where` and `group`: see lmtp_server.h. die()s with a remedy. */
void lmtp_socket_listen(struct lmtp_socket *ret, const char *where, const char *group, int backlog);
/*
 * Could this process listen there, and does the group exist? 0, or a negative errno with the reason of the
 * die(). They do not listen.
 */
int lmtp_socket_try(const char *where, char ret_why[512]);
int lmtp_socket_try_group(const char *group, char ret_why[512]); /* "": no group is configured */
void lmtp_socket_close(struct lmtp_socket *at);                  /* also removes its path */

#endif
