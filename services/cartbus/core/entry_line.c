/* entry_line.c: a message of the log as one line on stdout */
#include "services/cartbus/core/entry_line.h"
#include "services/cartbus/core/describe.h"

#include "bus/base/cleanup.h"
#include <stdio.h>

static void print_words(
	const struct command *command, const struct entry *entry, const struct topic *topic, const void *message)
{
	const char *zone = zone_of_shop(command, entry->shop);
	_cleanup_(buffer_free) struct buffer words = { 0 };
	char at[40];

	describe(topic, message, zone, &words);
	describe_time(zone, entry->time_us, at);
	printf("%8llu  %s  %-10s %-10s %-18s %s\n", (unsigned long long)entry->seq, at, entry->shop, entry->said_by,
		entry->topic, buffer_text(&words));
}

void entry_line(
	const struct command *command, const struct entry *entry, const struct topic *topic, const void *message)
{
	if (command->json) {
		json_t *json = entry_json(entry);

		json_dumpf(json, stdout, JSON_COMPACT);
		json_decref(json);
		putchar('\n');
	} else {
		print_words(command, entry, topic, message);
	}
	fflush(stdout);
}
