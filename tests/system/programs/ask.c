/*
 * ask.c: cartbus-test-ask CONFIG: the operator's questions, for tests from the outside
 *
 * Reads one question per line, VERB and its argument with a blank between, and answers each with a line: "+" and the whole answer as
 * JSON, or "-" and why there is none. Each is asked as by a command of its own: the configuration as it is then, a session of its
 * own. The operator's own command shows people what they need; this shows a test everything.
 */
#include "bus/actor/client.h"
#include "bus/base/clock.h"
#include "services/kit/settings/settings.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct service asker = { .name = "cartbus", .operator_ = true };

static int ask(const char *path, const char *verb, const char *argument, struct buffer *ret, char why[256])
{
	struct config_error error = { "" };
	struct clock clock = clock_system();
	struct config *config = NULL;
	struct client *client = NULL;
	int r = config_load(path, settings_keys, &config, &error);

	snprintf(why, 256, "%.255s", error.text);
	if (r == 0)
		r = client_open(&asker, config, &clock, 10 * US_PER_S, &client, why);
	if (r == 0)
		r = client_ask(client, verb, argument, ret, why);
	client_free(client);
	config_free(config);
	return r;
}

static void answer(const char *path, char *line)
{
	struct buffer json = { 0 };
	char why[256] = "expected VERB ARGUMENT";
	char *argument = strchr(line, ' ');
	int r = -1;

	if (argument) {
		*argument++ = '\0';
		r = ask(path, line, argument, &json, why);
	}
	printf("%c%s\n", r == 0 ? '+' : '-', r == 0 ? buffer_text(&json) : why);
	fflush(stdout);
	buffer_free(&json);
}

int main(int argc, char **argv)
{
	char *line = NULL;
	size_t room = 0;
	ssize_t len;

	if (argc != 2)
		return 2;
	while ((len = getline(&line, &room, stdin)) > 0) {
		if (line[len - 1] == '\n')
			line[len - 1] = '\0';
		answer(argv[1], line);
	}
	free(line);
	return 0;
}
