/*
 * backups.c: when the log was backed up last, and whether that copy is sound
 *
 * Owns:      the row of table backup, from the records that `cartbus backup` says.
 * Promises:  an admin who never had automatic backups gets no alarm about them; a backup made by hand is as
 *            good as any.
 * Read next: services/cartbus/backup/backup_shelf.c, check.c
 */
#include "services/platform/monitor/backups.h"
#include "bus/base/clock.h"
#include "bus/base/text.h"
#include <stdio.h>

STATE_STRUCTS(backup, "backup", struct backups);

static const char by_itself[] = "system";

struct backups backups_of(const struct state *state)
{
	struct backups row;

	STATE_GET(state, backup, SHOP_OF_ALL, "", &row);
	row.why[sizeof(row.why) - 1] = '\0';
	return row;
}

static void put(struct state *state, const struct backups *from)
{
	struct backups row;

	memset(&row, 0, sizeof(row)); /* rows are compared as bytes */
	row.expected_us = from->expected_us;
	row.made_us = from->made_us;
	row.proved_us = from->proved_us;
	row.failed_us = from->failed_us;
	row.damaged_us = from->damaged_us;
	TEXT_COPY(row.why, from->why);
	STATE_PUT(state, backup, SHOP_OF_ALL, "", &row);
}

void backups_remember(struct state *state, const Audit *audit)
{
	struct backups row = backups_of(state);
	const char *action = audit->action;

	if (strcmp(action, "backed_up") == 0) {
		row.made_us = audit->at_us;
		row.failed_us = 0;
	} else if (strcmp(action, "backup_failed") == 0) {
		row.failed_us = audit->at_us;
		TEXT_COPY(row.why, audit->grounds);
	} else if (strcmp(action, "backup_verified") == 0) {
		row.proved_us = audit->at_us;
		row.damaged_us = 0;
	} else if (strcmp(action, "backup_damaged") == 0) {
		row.damaged_us = audit->at_us;
		TEXT_COPY(row.why, audit->grounds);
	} else {
		return;
	}
	if (!row.expected_us && strcmp(audit->who, by_itself) == 0)
		row.expected_us = audit->at_us;
	put(state, &row);
}

bool backups_wrong(const struct backups *backups, int64_t now_us, int64_t within_us, char ret[500])
{
	int64_t last_us = backups->made_us ? backups->made_us : backups->expected_us;

	if (backups->damaged_us)
		snprintf(ret, 500, "the newest backup is not sound: %s", backups->why);
	else if (backups->failed_us)
		snprintf(ret, 500, "the last backup failed: %s", backups->why);
	else if (backups->expected_us && now_us - last_us > within_us)
		snprintf(ret, 500, "the last backup is %lld hours old", (long long)((now_us - last_us) / US_PER_HOUR));
	else
		return false;
	return true;
}
