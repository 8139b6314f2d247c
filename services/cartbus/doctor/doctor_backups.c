/*
 * doctor_backups.c: is there a copy of the log that is fresh, and was one ever read as a whole?
 *
 * Where the log is: other hosts have nothing to back up. What lies elsewhere it does not know.
 */
#include "services/cartbus/backup/backup_shelf.h"
#include "services/cartbus/doctor/doctor.h"
#include "services/cartbus/people/erase_copy.h"

#include "bus/base/clock.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const int64_t FRESH_US = 2 * US_PER_DAY, PROVED_US = 14 * US_PER_DAY;
static const char AREA[] = "backup",
		  MAKE_ONE[] = "systemctl start cartbus-backup; journalctl -u cartbus-backup says why not",
		  PROVE_ONE[] = "systemctl start cartbus-verify; journalctl -u cartbus-verify says what is wrong",
		  MAKE_ONE_BY_HAND[] = "cartbus backup", PROVE_ONE_BY_HAND[] = "cartbus verify DIR";

static bool has_log(const struct doctor *doctor)
{
	char path[PATH_ROOM];

	snprintf(path, sizeof(path), "%s/broker", config_get(doctor->command->config, "paths", NULL, "state"));
	return access(path, F_OK) == 0;
}

static long long hours(int64_t us)
{
	return us / US_PER_HOUR;
}

static const char *to_make_one(const struct doctor *doctor)
{
	return command_has_units(doctor->command) ? MAKE_ONE : MAKE_ONE_BY_HAND;
}

static const char *to_prove_one(const struct doctor *doctor)
{
	return command_has_units(doctor->command) ? PROVE_ONE : PROVE_ONE_BY_HAND;
}

static void look_at_newest(struct doctor *doctor, const struct shelf *shelf, int64_t now_us)
{
	const struct shelf_copy *newest = shelf_newest(shelf), *proved = shelf_newest_proved(shelf);
	bool is_old;

	if (!newest) {
		found(doctor, FINDING_DOUBTFUL, AREA, to_make_one(doctor), "none was made yet in %s", shelf->folder);
		return;
	}
	is_old = now_us - newest->at_us > FRESH_US;
	found(doctor, is_old ? FINDING_WRONG : FINDING_FINE, AREA, is_old ? to_make_one(doctor) : "",
		"the newest, %s/%s, is %lld hours old", shelf->folder, newest->name, hours(now_us - newest->at_us));
	if (!proved)
		found(doctor, FINDING_DOUBTFUL, AREA, to_prove_one(doctor),
			"none was read as a whole yet, to see that its log is sound");
	else if (now_us - proved->proved_us > PROVED_US)
		found(doctor, FINDING_WRONG, AREA, to_prove_one(doctor),
			"none was found sound for %lld hours; %s was the last", hours(now_us - proved->proved_us),
			proved->name);
	else
		found(doctor, FINDING_FINE, AREA, "", "%s was found sound %lld hours ago", proved->name,
			hours(now_us - proved->proved_us));
}

static void tell_owed(const char *folder, size_t persons, void *context)
{
	char remedy[PATH_ROOM + 60];

	snprintf(remedy, sizeof(remedy), "cartbus backup --erase %s; below [backup] folder the next night does it",
		folder);
	found(context, FINDING_WRONG, AREA, remedy, "%s holds %zu yet who were erased: that was cut short", folder,
		persons);
}

void look_at_backups(struct doctor *doctor)
{
	struct shelf shelf = { 0 };
	size_t keep = shelf_keep(doctor->command);
	int r;

	if (!has_log(doctor))
		return;
	erase_copies_owed(doctor->command, tell_owed, doctor);
	r = shelf_read(doctor->command, &shelf);
	if (keep == 0)
		found(doctor, FINDING_FINE, AREA, "", "not made by itself: [backup] keep is 0");
	else if (r < 0)
		found(doctor, FINDING_DOUBTFUL, AREA, "run the doctor as root", "%s: %s", shelf.folder, strerror(-r));
	else
		look_at_newest(doctor, &shelf, clock_wall_us(&doctor->command->clock));
	shelf_free(&shelf);
}
