/*
 * ask.c: cartbus-test-ask CONFIG VERB ARGUMENT: one of the operator's questions, for tests from the outside
 *
 * Prints the whole answer as JSON. The operator's own command shows people what they need; this shows a test everything.
 */
#include "bus/actor/client.h"
#include "bus/base/clock.h"
#include "services/kit/settings.h"
#include <stdio.h>
#include <string.h>

static const struct service asker = { .name = "cartbus", .operator_ = true };

int main(int argc, char **argv)
{
	struct config_error error = { "" };
	struct clock clock = clock_system();
	struct config *config = NULL;
	struct client *client = NULL;
	struct buffer answer = { 0 };
	char why[256] = "CONFIG VERB ARGUMENT";
	int r = -1;

	if (argc == 4 && config_load(argv[1], settings_keys, &config, &error) == 0) {
		r = client_open(&asker, config, &clock, 10 * US_PER_S, &client, why);
		if (r == 0)
			r = client_ask(client, argv[2], argv[3], &answer, why);
	}
	if (r == 0)
		puts(buffer_text(&answer));
	else
		fprintf(stderr, "%s %s\n", why, error.text);
	client_free(client);
	config_free(config);
	buffer_free(&answer);
	return r == 0 ? 0 : 1;
}
