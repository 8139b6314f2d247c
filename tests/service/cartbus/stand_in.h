/*
 * stand_in.h: a broker for commands under test, in their own process, in the place of bus/actor/process/client.c
 *
 * It keeps a log of messages, answers "read" and "status" from it as the broker does, three messages a page, and any other question with
 * what the test gave it. What a command says is printed on its standard output, behind "> ", and is in the log from then on, also for
 * commands in later child processes. Time stands still but while a command waits.
 */
#ifndef TESTS_SERVICE_CARTBUS_STAND_IN_H
#define TESTS_SERVICE_CARTBUS_STAND_IN_H

#include <jansson.h>
#include <stdint.h>

#define STAND_IN_NOW_US INT64_C(1795348800000000) /* 2026-11-22T12:00:00Z */

void stand_in_open(void); /* before the first fork */
/* A message into the log, at STAND_IN_NOW_US plus `at_us`. "cause" in it is no field, but the number of the message that it was said
 * about; it is taken out. What is wrong with it ends the test. */
void stand_in_add(
	const char *topic, const char *said_by, const char *shop, const char *key, int64_t at_us, json_t *message);
/* The answer to a question; of "status": what is added to it; of "say": why nothing is taken. Several answers have " || " between them:
 * each command gets the first one first, and the last one ever after. NULL: the broker is away from now on. */
void stand_in_answer(const char *verb, const char *answer);

#endif
