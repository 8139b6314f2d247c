/*
 * letters.c: which dead letters are meant, read page by page
 *
 * Read next: dead.c (the subcommands), feed.c
 */
#include "services/cartbus/recover/letters.h"
#include "services/cartbus/core/reading.h"
#include "services/kit/time/moment.h"

#define AGE_MOST_US (INT64_C(3660) * US_PER_DAY)

bool letter_filter_is_given(const struct letter_filter *filter)
{
	return filter->topic || filter->shop || filter->reason || filter->older || filter->younger;
}

static void add_text(json_t *what, const char *name, const char *text)
{
	if (text)
		json_object_set_new(what, name, json_string(text));
}

static int add_age(const struct command *command, json_t *what, const char *name, const char *age)
{
	int64_t ago_us;

	if (!age)
		return EXIT_FINE;
	if (span_parse(age, AGE_MOST_US, &ago_us)) {
		complain(command, "\"%s\" is no age; say 45s, 30min, 6h or 2d", age);
		return EXIT_USAGE;
	}
	json_object_set_new(what, name, json_integer(clock_wall_us(&command->clock) - ago_us));
	return EXIT_FINE;
}

int letter_filter_add(const struct command *command, const struct letter_filter *filter, json_t *what)
{
	int ended = add_age(command, what, "died_before_us", filter->older);

	if (!ended)
		ended = add_age(command, what, "died_after_us", filter->younger);
	add_text(what, "topic", filter->topic);
	add_text(what, "shop", filter->shop);
	add_text(what, "reason", filter->reason);
	return ended;
}

static int each_of_page(const json_t *page, letter_fn *each, void *context)
{
	const json_t *letter;
	int ended = EXIT_FINE;
	size_t i;

	json_array_foreach(json_object_get(page, "dead"), i, letter)
	{
		ended = each(letter, context);
		if (ended)
			break;
	}
	return ended;
}

int letters_each(const struct command *command, struct client *client, json_t *what, letter_fn *each, void *context)
{
	int ended = EXIT_FINE;
	bool more = true;

	while (more && !ended) {
		json_t *page = command_look(command, client, "dead.list", json_deep_copy(what));
		json_t *next = json_object_get(page, "next");

		ended = page ? each_of_page(page, each, context) : EXIT_NO;
		more = json_is_object(next);
		if (more)
			json_object_set(what, "from", next);
		json_decref(page);
	}
	json_decref(what);
	return ended;
}
