/*
 * subcommand.c: the tables of subcommands, put together
 *
 * Fails by: die(), when two tables have a subcommand of the same name: the command would run one of them and never the other.
 */
#include "services/cartbus/core/subcommand.h"
#include "bus/base/log.h"
#include "bus/base/memory.h"
#include <stdlib.h>
#include <string.h>

const char *subcommand_group_heading(enum subcommand_group group)
{
	static const char *const headings[SUBCOMMANDS_GROUPS] = {
		[SUBCOMMANDS_RUN] = "Run",
		[SUBCOMMANDS_HOSTS] = "Hosts",
		[SUBCOMMANDS_SHOPS] = "Shops",
		[SUBCOMMANDS_STOP] = "Stop",
		[SUBCOMMANDS_SEE] = "See",
		[SUBCOMMANDS_MEND] = "Mend",
	};

	return headings[group];
}

static size_t count_rows(const struct subcommand *const *tables)
{
	size_t count = 0;

	for (; *tables; tables++)
		for (const struct subcommand *row = *tables; row->name; row++)
			count++;
	return count;
}

static void add_row(struct subcommands *subcommands, const struct subcommand *row)
{
	for (size_t i = 0; i < subcommands->count; i++)
		if (strcmp(subcommands->all[i]->name, row->name) == 0)
			die("two subcommands are registered as \"%s\": rename one of them", row->name);
	subcommands->all[subcommands->count++] = row;
}

static void add_group(
	struct subcommands *subcommands, const struct subcommand *const *tables, enum subcommand_group group)
{
	for (; *tables; tables++)
		for (const struct subcommand *row = *tables; row->name; row++)
			if (row->group == group)
				add_row(subcommands, row);
}

struct subcommands subcommands_gather(const struct subcommand *const *tables)
{
	struct subcommands subcommands = { .all = memory_new((count_rows(tables) + 1) * sizeof(*subcommands.all)) };

	for (enum subcommand_group group = 0; group < SUBCOMMANDS_GROUPS; group++)
		add_group(&subcommands, tables, group);
	return subcommands;
}

void subcommands_free(struct subcommands *subcommands)
{
	free(subcommands->all);
	*subcommands = (struct subcommands){ 0 };
}
