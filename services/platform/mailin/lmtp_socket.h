/* lmtp_socket.h: where LMTP listens: a Unix socket that belongs to a group, or a port of this machine */
#ifndef PLATFORM_MAILIN_LMTP_SOCKET_H
#define PLATFORM_MAILIN_LMTP_SOCKET_H

struct lmtp_socket {
	int fd;         /* does not block */
	char path[108]; /* as sockaddr_un has room for; "": a port */
};

/* `where` and `group`: see lmtp_server.h. die()s with a remedy. */
void lmtp_socket_listen(struct lmtp_socket *ret, const char *where, const char *group, int backlog);
/* Could this process listen there, and is there such a group? 0; else a negative errno, and why it would die(). Nothing is listened at. */
int lmtp_socket_try(const char *where, char ret_why[512]);
int lmtp_socket_try_group(const char *group, char ret_why[512]); /* "": none is named */
void lmtp_socket_close(struct lmtp_socket *at);                  /* and takes its path away */

#endif
