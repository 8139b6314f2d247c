/* work.h: a topic of the tests' own, for a worker that does what a message says: fail, die, or well */
#ifndef SYSTEM_PROGRAMS_WORK_H
#define SYSTEM_PROGRAMS_WORK_H

#include "bus/actor/service.h"
#include "platform.pb.h"

TOPIC_DECLARE(test_work, Tick); /* name: what to do */
TOPIC_DECLARE(test_done, Tick); /* name: what was done */

#define TEST_WORK_TOPICS                                                                                               \
	TOPIC_DEFINE(test_work, "test.work", Tick, RETAIN_FACT, NULL);                                                 \
	TOPIC_DEFINE(test_done, "test.done", Tick, RETAIN_FACT, NULL)

#endif
