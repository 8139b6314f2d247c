/* recalled.c: a restore that begins to learn, and what it has noted */
#include "tests/service/cartbus/recalled.h"
#include "bus/actor/runtime/state_layers.h"

#include "bus/actor/state.h"
#include "bus/base/cleanup.h"
#include "services/cartbus/core/reading.h"
#include "tests/unit/cmocka_all.h"
#include <stdio.h>

const char RECALLED_LOG[] = "log-b", RECALLED_ORIGIN[] = "log-a", RECALLED_OTHER_LOG[] = "log-z";

static char heard[1000];

static void hear(const char *words, void *context)
{
	(void)context;
	snprintf(heard, sizeof(heard), "%s", words);
}

struct recover_sends recalled_new(void)
{
	static const struct command command = { .name = "restore", .hear = hear };

	heard[0] = '\0';
	return (struct recover_sends){ .command = &command,
		.log_id = RECALLED_LOG,
		.origin = RECALLED_ORIGIN,
		.head = RECALLED_HEAD,
		.known_to = RECALLED_HEAD,
		.from_us = RECALLED_FROM_US,
		.sends = json_object(),
		.said = json_object(),
		.modes = json_object(),
		.let_back = json_object(),
		.sidelogs = json_array() };
}

void recalled_drop(struct recover_sends *recovery)
{
	json_decref(recovery->sends);
	json_decref(recovery->said);
	json_decref(recovery->modes);
	json_decref(recovery->let_back);
	json_decref(recovery->sidelogs);
}

const char *recalled_heard(void)
{
	return heard;
}

const char *recalled_text(const json_t *object, const char *name)
{
	const char *found = json_string_value(json_object_get(object, name));

	return found ? found : "(none)";
}

void recalled_read(const json_t *note, const struct topic *topic, void *ret)
{
	_cleanup_(buffer_free) struct buffer payload = { 0 };

	assert_string_equal(recalled_text(note, "topic"), topic->name);
	payload_from_base64(recalled_text(note, "payload"), &payload);
	assert_true(state_row(buffer_bytes(&payload), topic->message, ret));
}
