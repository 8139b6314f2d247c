/*
 * name_server.h: a name server at a port of this machine, which knows a few records by heart
 */
#ifndef TESTS_SERVICE_CARTBUS_NAME_SERVER_H
#define TESTS_SERVICE_CARTBUS_NAME_SERVER_H

struct name_server;

/* `records` in the form of a zone file, "shop.example. 60 IN MX 10 mail.example.", ending with NULL; borrowed. A question about
 * another name is answered with "there is no such name". */
struct name_server *name_server_new(const char *const *records);
void name_server_free(struct name_server *server);
const char *name_server_address(const struct name_server *server); /* "127.0.0.1@4711" */

#endif
