/* file_topic.c: see file_topic.h */
#include "file_topic.h"

static const size_t names[] = { offsetof(Document, digest), TOPIC_NOWHERE };
TOPIC_DEFINE_NAMING(test_file, "test.file", Document, RETAIN_RAW, NULL, names);

const struct topic *const file_topics[] = { &topic_test_file, NULL };
