/*
 * client.h: a command on the bus: connects, says or asks, waits for the answer, leaves
 *
 * The one place of the runtime that blocks, and only up to the given patience. For the operator's command and for load
 * generators; services are written against service.h.
 */
#ifndef ACTOR_CLIENT_H
#define ACTOR_CLIENT_H

#include "bus/actor/runtime/runtime.h"
#include "bus/base/config.h"

struct client;

/*
 * Says hello as `service` to the broker of [paths] run. -ETIMEDOUT: nobody answers; -ECONNREFUSED: it answered no; -EACCES: it does
 * not know our key; ret_why says it in words for an admin. `clock` is borrowed for the client's life.
 */
int client_open(const struct service *service, const struct config *config, const struct clock *clock,
	int64_t patience_us, struct client **ret, char ret_why[256]);
void client_free(struct client *client); /* says goodbye; takes NULL */

/* Says one message. 0: committed, `ret` tells fresh or duplicate; -EPERM: refused, ret_why; -ETIMEDOUT: unknown. */
struct client_said {
	enum said_result result;
	uint64_t seq;
};
int client_publish(struct client *client, const struct topic *topic, const struct publish_options *how,
	const void *message, struct client_said *ret, char ret_why[256]);
#define CLIENT_SAY(client, topic, message, ret, ret_why, ...)                                                          \
	client_publish((client), &topic_##topic, &(struct publish_options){ __VA_ARGS__ },                             \
		(const topic_message_##topic *)(message), (ret), (ret_why))

/*
 * Asks the operator's question; the whole answer, joined, as JSON. -EPERM: the broker says no, ret_why; -ECONNRESET: the session broke
 * meanwhile, and the question may have been heard; -ETIMEDOUT.
 */
int client_ask(
	struct client *client, const char *verb, const char *argument, struct buffer *ret_json, char ret_why[256]);

/*
 * For who cannot wait without looking around: called again and again while an answer is waited for; false: it is not waited for any
 * more, and the question ends with -ECANCELED. NULL: the usual patience.
 */
typedef bool client_meanwhile_fn(void *context);
void client_meanwhile(struct client *client, client_meanwhile_fn *go_on, void *context);
/* As the runtime has it: AWAY while the broker does not answer, and READY again by itself; REFUSED for good, ret_why says why. */
enum runtime_phase client_phase(const struct client *client, char ret_why[256]);
/* One round of the runtime that ends early when something can be read from `fd`. */
void client_work_beside(struct client *client, int fd, int64_t most_us);

/* For load generators: one round of the runtime, waiting at most this long; and the runtime itself. */
void client_work(struct client *client, int64_t most_us);
struct runtime *client_runtime(struct client *client);

#endif
