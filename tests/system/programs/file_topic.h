/* file_topic.h: the topic whose messages name files, for the gateway that says it (file_endpoint.c) and the command that reads it */
#ifndef PROGRAMS_FILE_TOPIC_H
#define PROGRAMS_FILE_TOPIC_H

#include "bus/actor/topic.h"
#include "platform.pb.h"

/* digest: the blob; version: its bytes; source: who sent it */
TOPIC_DECLARE(test_file, Document);

extern const struct topic *const file_topics[];

#endif
