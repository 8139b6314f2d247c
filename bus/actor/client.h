/*
 * client.h: a command's connection to the bus: it connects, publishes or asks, waits for the answer and says
 * goodbye
 *
 * This is the only blocking code of the runtime. It blocks at most as long as the caller allows. It serves
 * the operator's command and load generators; services are written against service.h.
 */
#ifndef ACTOR_CLIENT_H
#define ACTOR_CLIENT_H

#include "bus/actor/runtime/runtime.h"
#include "bus/base/config.h"

struct client;

/*
 * Says hello as `service` to the broker of [paths] run. -ETIMEDOUT: no broker answers. -ECONNREFUSED: the
 * broker refused the session. -EACCES: the broker does not know our key. ret_why gives the reason in words
 * for an admin. `clock` is borrowed for the client's life.
 */
int client_open(const struct service *service, const struct config *config, const struct clock *clock,
	int64_t patience_us, struct client **ret, char ret_why[256]);
void client_free(struct client *client); /* says goodbye; takes NULL */

/*
 * Publishes one message. 0: it is committed, and `ret` tells whether it is fresh or a duplicate. -EPERM: the
 * broker refused it; ret_why gives the reason. -ETIMEDOUT: it is unknown whether it was committed.
 */
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
 * Asks the broker the operator's question. ret_json receives the whole answer as JSON. -EPERM: the broker
 * refuses; ret_why gives the reason. -ECONNRESET: the session broke while waiting, and the broker may have
 * received the question. -ETIMEDOUT: no answer came in time.
 */
int client_ask(
	struct client *client, const char *verb, const char *argument, struct buffer *ret_json, char ret_why[256]);

/*
 * Sets a function that is called repeatedly while client_ask waits for an answer. If it returns false, the
 * wait stops and client_ask returns -ECANCELED. NULL: client_ask waits as long as client_open was allowed.
 */
typedef bool client_meanwhile_fn(void *context);
void client_meanwhile(struct client *client, client_meanwhile_fn *go_on, void *context);
/*
 * The phase of the runtime. AWAY: the broker does not answer; the client reconnects by itself and becomes
 * READY. REFUSED: the broker refused for good; ret_why gives the reason.
 */
enum runtime_phase client_phase(const struct client *client, char ret_why[256]);
/* Runs one round of the runtime. It waits at most most_us and ends early when `fd` is readable. */
void client_work_beside(struct client *client, int fd, int64_t most_us);

/*
 * For load generators: client_work runs one round of the runtime and waits at most most_us; client_runtime
 * gives the runtime itself.
 */
void client_work(struct client *client, int64_t most_us);
struct runtime *client_runtime(struct client *client);

#endif
