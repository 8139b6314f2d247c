/*
 * say.c: cartbus-test-say CONFIG SHOP KEY=WORK...: messages for the tests' worker, confirmed when it ends
 */
#include "bus/actor/client.h"
#include "bus/base/clock.h"
#include "bus/base/text.h"
#include "services/kit/settings/settings.h"
#include "tests/system/programs/work.h"
#include <stdio.h>
#include <string.h>

TEST_WORK_TOPICS;

static const struct service talker = { .name = "talker", .says = SAYING(SAYS(test_work)) };

static int say(struct client *client, const char *shop, char *word, char why[256])
{
	char *what = strchr(word, '=');
	struct client_said said;
	Tick work = { 0 };

	if (!what)
		return -1;
	*what++ = '\0';
	TEXT_COPY(work.name, what);
	return CLIENT_SAY(client, test_work, &work, &said, why, .shop = shop, .key = word);
}

int main(int argc, char **argv)
{
	struct config_error error = { "" };
	struct clock clock = clock_system();
	struct config *config = NULL;
	struct client *client = NULL;
	char why[256] = "CONFIG SHOP KEY=WORK...";
	int r = -1;

	if (argc == 2 && strcmp(argv[1], "--manifest") == 0) {
		struct buffer manifest = { 0 };

		service_manifest(&talker, &manifest);
		fputs(buffer_text(&manifest), stdout);
		buffer_free(&manifest);
		return 0;
	}
	if (argc > 3 && config_load(argv[1], settings_keys, &config, &error) == 0)
		r = client_open(&talker, config, &clock, 10 * US_PER_S, &client, why);
	for (int i = 3; r == 0 && i < argc; i++)
		r = say(client, argv[2], argv[i], why);
	if (r < 0)
		fprintf(stderr, "%s %s\n", why, error.text);
	client_free(client);
	config_free(config);
	return r == 0 ? 0 : 1;
}
