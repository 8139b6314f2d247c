/*
 * topic.h: a topic and the one kind of message it carries, tied together for the compiler
 *
 * proto/ declares and defines topics with these macros; a service only names them: HEARS(cart_changed, ...). The typedef
 * `topic_message_<name>` lets the tables check a handler's parameter type against the topic.
 */
#ifndef ACTOR_TOPIC_H
#define ACTOR_TOPIC_H

#include <pb.h>
#include <stddef.h>

/* A claim is kept for ever too, and nothing else is said under its topic. */
enum retention { RETAIN_RAW, RETAIN_FACT, RETAIN_KEEP, RETAIN_CLAIM };

/* A string that may be seen by who has no right to see payloads: it names no person. Of all others only their length is. */
struct topic_shown {
	const pb_msgdesc_t *message;
	pb_size_t tag;
};

struct topic;

/* What a process tells the journal when it says such a message, or fails at one. Offsets of strings in the decoded struct. */
struct topic_told {
	const struct topic *topic;
	size_t cart;       /* TOPIC_NOWHERE: it names none */
	size_t word;       /* a word about it that names nobody; TOPIC_NOWHERE: none */
	const char *event; /* id of its kind (log.h); NULL: saying it is not told, failing at it is */
};
#define TOPIC_NOWHERE ((size_t)-1)

struct topic {
	const char *name;            /* "cart.changed", at most 31 bytes */
	const pb_msgdesc_t *message; /* nanopb's descriptor */
	size_t size;                 /* sizeof the decoded struct */
	enum retention retention;
	const char *group; /* compaction group; NULL: not compacted */
	/* Of all topics those that outlive the log (bus/broker/log/sidelog.h), up to NULL; NULL: none does */
	const struct topic *const *outliving;
	const struct topic_shown *shown; /* up to one without a message; NULL: none */
	const struct topic_told *told;   /* of all topics, up to one without a topic; NULL: none is told */
};

#define TOPIC_DECLARE(name, type)                                                                                      \
	typedef type topic_message_##name;                                                                             \
	extern const struct topic topic_##name

#define TOPIC_DEFINE(identifier, text, type, retained, compacted)                                                      \
	TOPIC_DEFINE_SHOWN(identifier, text, type, retained, compacted, NULL, NULL, NULL)

#define TOPIC_DEFINE_SHOWN(identifier, text, type, retained, compacted, stops, harmless, journal)                      \
	const struct topic topic_##identifier = { .name = (text),                                                      \
		.message = &type##_msg,                                                                                \
		.size = sizeof(type),                                                                                  \
		.retention = (retained),                                                                               \
		.group = (compacted),                                                                                  \
		.outliving = (stops),                                                                                  \
		.shown = (harmless),                                                                                   \
		.told = (journal) }

#endif
