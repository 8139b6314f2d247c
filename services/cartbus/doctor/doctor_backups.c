/*
 * doctor_backups.c: checks whether a copy of the log is fresh and one was ever read as a whole; and whether
 * the blobs that messages name are there and whole, and there is space for more
 *
 * Copies are checked on the host of the log; other hosts have nothing to back up. It does not know of copies
 * in other places. Blobs are checked on the host of the processes that write them. Contents are read up to a
 * bound, because reading all may take long (cartbus blobs --verify).
 */
#include "services/cartbus/doctor/doctor.h"

#include "bus/base/cleanup.h"
#include "bus/base/clock.h"
#include "services/cartbus/backup/backup_shelf.h"
#include "services/cartbus/people/erase_copy.h"
#include "services/kit/blobs/blob_places.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const int64_t FRESH_US = 2 * US_PER_DAY, PROVED_US = 14 * US_PER_DAY;
static const char AREA_BACKUPS[] = "backup",
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
		found(doctor, FINDING_DOUBTFUL, AREA_BACKUPS, to_make_one(doctor), "none was made yet in %s",
			shelf->folder);
		return;
	}
	is_old = now_us - newest->at_us > FRESH_US;
	found(doctor, is_old ? FINDING_WRONG : FINDING_FINE, AREA_BACKUPS, is_old ? to_make_one(doctor) : "",
		"the newest, %s/%s, is %lld hours old", shelf->folder, newest->name, hours(now_us - newest->at_us));
	if (!proved)
		found(doctor, FINDING_DOUBTFUL, AREA_BACKUPS, to_prove_one(doctor),
			"none was read as a whole yet, to see that its log is sound");
	else if (now_us - proved->proved_us > PROVED_US)
		found(doctor, FINDING_WRONG, AREA_BACKUPS, to_prove_one(doctor),
			"none was found sound for %lld hours; %s was the last", hours(now_us - proved->proved_us),
			proved->name);
	else
		found(doctor, FINDING_FINE, AREA_BACKUPS, "", "%s was found sound %lld hours ago", proved->name,
			hours(now_us - proved->proved_us));
}

static void tell_owed(const char *folder, size_t persons, void *context)
{
	char remedy[PATH_ROOM + 60];

	snprintf(remedy, sizeof(remedy), "cartbus backup --erase %s; below [backup] folder the next night does it",
		folder);
	found(context, FINDING_WRONG, AREA_BACKUPS, remedy, "%s holds %zu yet who were erased: that was cut short",
		folder, persons);
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
		found(doctor, FINDING_FINE, AREA_BACKUPS, "", "not made by itself: [backup] keep is 0");
	else if (r < 0)
		found(doctor, FINDING_DOUBTFUL, AREA_BACKUPS, "run the doctor as root", "%s: %s", shelf.folder,
			strerror(-r));
	else
		look_at_newest(doctor, &shelf, clock_wall_us(&doctor->command->clock));
	shelf_free(&shelf);
}

/* ---- blobs ---- */

enum { FULL_PERCENT = 90 };
#define READ_MOST (UINT64_C(256) << 20)    /* bytes of contents: about a second's work */
#define SURPLUS_LATEST_US (2 * US_PER_DAY) /* its writer removes such a blob after a day and an hour */

static const char AREA_BLOBS[] = "blobs";

struct looking {
	struct doctor *doctor;
	const struct blob_place *place;
	struct blob_counts sum;
	uint64_t stores, most, bytes_left;
	uint64_t found[BLOB_FINDINGS]; /* of BLOB_SURPLUS only blobs that should have been removed */
};

/* It uses the machine's clock, which dates the files; the installation's clock may show another time. */
static bool should_have_gone(const struct looking *looking, const char *name)
{
	const struct clock clock = clock_system();
	char path[PATH_MAX];
	struct stat there;

	snprintf(path, sizeof(path), "%s/blobs/%.2s/%s", looking->place->path, name, name);
	return lstat(path, &there) == 0 &&
		clock_wall_us(&clock) - (int64_t)there.st_mtim.tv_sec * US_PER_S > SURPLUS_LATEST_US;
}

static int count_finding(void *context, enum blob_finding finding, const char *name)
{
	struct looking *looking = context;

	if (finding != BLOB_SURPLUS || should_have_gone(looking, name))
		looking->found[finding]++;
	return 0;
}

static int look_at_store(void *context, const struct blob_place *place)
{
	struct looking *looking = context;
	_cleanup_(blob_store_closep) struct blob_store *store = NULL;
	int r = blob_store_open_to_read(place->path, &store);

	looking->place = place;
	if (r == 0)
		r = blob_store_count(store);
	if (r == 0)
		r = blob_verify_within(store, &looking->bytes_left, count_finding, looking);
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	struct blob_counts counts = blob_store_counts(store);
	if (looking->most > 0 && counts.bytes >= looking->most / 100 * FULL_PERCENT)
		found(looking->doctor, FINDING_DOUBTFUL, AREA_BLOBS,
			"raise [blobs] shop-mib, or find out who sends so much: further contents are refused",
			"%s holds %" PRIu64 " MiB, and %" PRIu64 " MiB is its limit", place->path, counts.bytes >> 20,
			looking->most >> 20);
	looking->sum.files += counts.files;
	looking->sum.bytes += counts.bytes;
	looking->stores++;
	return 0;
}

static const struct trouble {
	enum finding kind;
	const char *what, *help;
} troubles[BLOB_FINDINGS] = {
	[BLOB_DAMAGED] = { FINDING_WRONG, "damaged",
		"`cartbus blobs --verify` names each; copy it from blobs/ of a backup to the same place, and check the "
		"disk" },
	[BLOB_MISSING] = { FINDING_WRONG, "named by messages, and not there",
		"`cartbus blobs --verify` names each; copy it from blobs/ of a backup to the same place, and check the "
		"disk" },
	[BLOB_SURPLUS] = { FINDING_DOUBTFUL, "named by no message, and not removed",
		"see whether the process that writes them runs, and what its log says" },
	[BLOB_FOREIGN] = { FINDING_DOUBTFUL, "entries that cartbus did not make",
		"`cartbus blobs --verify` names each: look at it and remove it" },
	[BLOB_LINKED] = { FINDING_DOUBTFUL, "with a second name, by which somebody else may change them",
		"`cartbus blobs --verify` names each: look for the second name (find -samefile)" },
};

/* Reports what was counted. true: there is at least one finding. */
static bool tell_troubles(const struct looking *looking)
{
	bool is_told = false;

	for (int finding = 0; finding < BLOB_FINDINGS; finding++) {
		const struct trouble *trouble = &troubles[finding];

		if (looking->found[finding] == 0)
			continue;
		found(looking->doctor, trouble->kind, AREA_BLOBS, trouble->help, "%" PRIu64 " %s",
			looking->found[finding], trouble->what);
		is_told = true;
	}
	return is_told;
}

void look_at_blobs(struct doctor *doctor)
{
	const struct config *config = doctor->command->config;
	struct looking looking = { .doctor = doctor,
		.most = (uint64_t)config_number(config, "blobs", NULL, "shop-mib") << 20,
		.bytes_left = READ_MOST };
	char root[PATH_MAX];

	blob_places_root(config_get(config, "paths", NULL, "state"), root);
	int r = blob_places_each(root, look_at_store, &looking);

	if (r < 0)
		found(doctor, FINDING_DOUBTFUL, AREA_BLOBS, "run the doctor as root", "%s: %s", root, strerror(-r));
	else if (!tell_troubles(&looking) && looking.stores > 0)
		found(doctor, FINDING_FINE, AREA_BLOBS, "", "%" PRIu64 ", %" PRIu64 " MiB, none is missing%s",
			looking.sum.files, looking.sum.bytes >> 20,
			looking.sum.bytes <= READ_MOST ? " or damaged"
						       : "; not all were read, as `cartbus blobs --verify` does");
}
