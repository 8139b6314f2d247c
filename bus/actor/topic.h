/*
 * topic.h: a topic and the one kind of message it carries, tied together for the compiler
 *
 * proto/ declares and defines topics with these macros; a service only names them: HEARS(cart_changed, ...). The typedef
 * `topic_message_<name>` lets the tables check a handler's parameter type against the topic.
 */
#ifndef BUS_ACTOR_TOPIC_H
#define BUS_ACTOR_TOPIC_H

#include <pb.h>
#include <stddef.h>

enum retention { RETAIN_RAW, RETAIN_FACT, RETAIN_KEEP };

struct topic {
	const char *name;            /* "cart.changed", at most 31 bytes */
	const pb_msgdesc_t *message; /* nanopb's descriptor */
	size_t size;                 /* sizeof the decoded struct */
	enum retention retention;
	const char *group; /* compaction group; NULL: not compacted */
};

#define TOPIC_DECLARE(name, type)                                                                                      \
	typedef type topic_message_##name;                                                                             \
	extern const struct topic topic_##name

#define TOPIC_DEFINE(identifier, text, type, retained, compacted)                                                      \
	const struct topic topic_##identifier = { .name = (text),                                                      \
		.message = &type##_msg,                                                                                \
		.size = sizeof(type),                                                                                  \
		.retention = (retained),                                                                               \
		.group = (compacted) }

#endif
