/*
 * answer_erase.c: the operator names the messages to erase, and asks for the progress
 *
 * "erase" takes numbers in several questions: {"begin": true}, {"messages": [..], "with_keys": [..]}, {"run":
 * true}, or all in one. Messages in with_keys lose their idempotency keys as well. Nothing happens, and
 * nothing is on the disk, before "run" is answered; from then on nothing stops the erasure.
 *
 * Read next: erase.c
 */
#include "bus/broker/admin/erase.h"
#include "bus/broker/admin/question.h"
#include "bus/broker/commit.h"
#include <stdio.h>

enum { LOOK_AT_MOST = 20000, LIST_MOST = 500, ERASE_MOST = 10 * 1000 * 1000 };

static const char *phase_word(const struct broker *broker)
{
	if (!broker->erasure->erasing)
		return "none";
	switch (broker->erasure->erasing->phase) {
	case ERASE_ASKED:
		return "asked";
	case ERASE_SETTLING:
		return "settling";
	case ERASE_REWRITING:
		return "rewriting";
	case ERASE_TELLING:
		return "telling";
	case ERASE_PURGING:
		return "purging";
	case ERASE_DONE:
		return broker->commit->over < broker->erasure->erasing->wait_commits ? "purging" : "done";
	}
	return "none";
}

json_t *answer_erasure(struct broker *broker, json_t *argument, char ret_error[256])
{
	(void)argument;
	(void)ret_error;
	return json_pack("{s:s,s:b,s:I}", "phase", phase_word(broker), "running", (int)erase_is_running(broker),
		"messages", (json_int_t)(broker->erasure->erasing ? broker->erasure->erasing->count : 0));
}

static void add(struct broker *broker, const json_t *numbers, bool with_idem)
{
	const json_t *number;
	size_t i;

	json_array_foreach(numbers, i, number) if (json_integer_value(number) > 0)
		erase_add(broker, (uint64_t)json_integer_value(number), with_idem);
}

json_t *answer_erase(struct broker *broker, json_t *argument, char ret_error[256])
{
	bool begins = json_is_true(json_object_get(argument, "begin"));
	const json_t *messages = json_object_get(argument, "messages"),
		     *with_keys = json_object_get(argument, "with_keys");

	if (erase_is_running(broker) || (begins && !erase_begin(broker))) {
		snprintf(ret_error, 256, "an erasure is running: wait until it is done");
		return NULL;
	}
	if (!broker->erasure->erasing || broker->erasure->erasing->phase != ERASE_ASKED) {
		snprintf(ret_error, 256, "no erasure has begun");
		return NULL;
	}
	if (broker->erasure->erasing->count + json_array_size(messages) + json_array_size(with_keys) > ERASE_MOST) {
		snprintf(ret_error, 256, "at most %d messages are erased at a time", ERASE_MOST);
		return NULL;
	}
	add(broker, messages, false);
	add(broker, with_keys, true);
	if (json_is_true(json_object_get(argument, "run")))
		erase_run(broker);
	return answer_erasure(broker, argument, ret_error);
}

/*
 * Lists the erased messages: a copy of the log that was made earlier must lose them as well. The key's hash
 * identifies each message.
 */
json_t *answer_erased(struct broker *broker, json_t *argument, char ret_error[256])
{
	uint64_t head = log_head(broker->log), seq = argument_number(argument, "from", 1);
	json_t *list = json_array();

	for (int looked = 0; seq > 0 && seq <= head && looked < LOOK_AT_MOST && json_array_size(list) < LIST_MOST;
		looked++, seq++) {
		struct logged logged;
		char hash[24];

		if (log_look(broker->log, seq, &logged) < 0) {
			json_decref(list);
			snprintf(ret_error, 256, "message %llu cannot be read", (unsigned long long)seq);
			return NULL;
		}
		if (!(logged.flags & FLAG_ERASED))
			continue;
		snprintf(hash, sizeof(hash), "%016llx", (unsigned long long)logged.key_hash);
		json_array_append_new(list,
			json_pack("{s:I,s:I,s:s}", "seq", (json_int_t)seq, "time_us", (json_int_t)logged.time_us,
				"hash", hash));
	}
	return json_pack("{s:o,s:s,s:o}", "erased", list, "log", log_id(broker->log), "next",
		seq > 0 && seq <= head ? json_integer((json_int_t)seq) : json_null());
}
