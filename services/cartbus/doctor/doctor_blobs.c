/*
 * doctor_blobs.c: are the blobs there that messages name, are they whole, and is there room for more?
 *
 * On the host of the processes that write them. Contents are read up to a bound, as reading all may take long (cartbus blobs --verify).
 */
#include "services/cartbus/doctor/doctor.h"

#include "bus/base/cleanup.h"
#include "bus/base/clock.h"
#include "services/kit/blobs/blob_places.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { FULL_PERCENT = 90 };
#define READ_MOST (UINT64_C(256) << 20)    /* bytes of contents: about a second's work */
#define SURPLUS_LATEST_US (2 * US_PER_DAY) /* a writer removes it after a day and an hour */

static const char AREA[] = "blobs";

struct looking {
	struct doctor *doctor;
	const struct blob_place *place;
	struct blob_counts sum;
	uint64_t stores, most, bytes_left;
	uint64_t found[BLOB_FINDINGS]; /* of BLOB_SURPLUS only those that should have gone */
};

/* Files are dated by the machine's clock, whatever the installation's clock says. */
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
		found(looking->doctor, FINDING_DOUBTFUL, AREA,
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

/* true: there is something to tell. */
static bool tell_troubles(const struct looking *looking)
{
	bool is_told = false;

	for (int finding = 0; finding < BLOB_FINDINGS; finding++) {
		const struct trouble *trouble = &troubles[finding];

		if (looking->found[finding] == 0)
			continue;
		found(looking->doctor, trouble->kind, AREA, trouble->help, "%" PRIu64 " %s", looking->found[finding],
			trouble->what);
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
		found(doctor, FINDING_DOUBTFUL, AREA, "run the doctor as root", "%s: %s", root, strerror(-r));
	else if (!tell_troubles(&looking) && looking.stores > 0)
		found(doctor, FINDING_FINE, AREA, "", "%" PRIu64 ", %" PRIu64 " MiB, none is missing%s",
			looking.sum.files, looking.sum.bytes >> 20,
			looking.sum.bytes <= READ_MOST ? " or damaged"
						       : "; not all were read, as `cartbus blobs --verify` does");
}
