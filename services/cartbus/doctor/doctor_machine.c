/*
 * doctor_machine.c: the clock that decides when mails go, and the disk that the log grows on
 */
#include "services/cartbus/backup/backup_folder.h"
#include "services/cartbus/doctor/doctor.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/timex.h>
#include <time.h>

enum { INODES_PERCENT = 1 };

static void look_at_sync(struct doctor *doctor)
{
	struct timex clock = { 0 };
	int state = adjtimex(&clock);

	if (state < 0 || state == TIME_ERROR || clock.status & STA_UNSYNC)
		found(doctor, FINDING_DOUBTFUL, "clock",
			"apt install systemd-timesyncd (or chrony), then timedatectl set-ntp true; a container's clock "
			"is its host's",
			"nothing keeps the clock right: the kernel does not know it to be synchronised");
	else
		found(doctor, FINDING_FINE, "clock", "", "synchronised, to within %ld ms", clock.maxerror / 1000);
}

/* The one date that is surely past: this program was there before. */
static void look_at_date(struct doctor *doctor)
{
	struct stat program;
	struct clock clock = clock_system(); /* the configuration's may run faster */
	time_t now = (time_t)(clock_wall_us(&clock) / US_PER_S);
	char shown[40];

	strftime(shown, sizeof(shown), "%Y-%m-%d %H:%M:%S", gmtime(&now));
	if (stat("/proc/self/exe", &program) == 0 && now < program.st_ctime)
		found(doctor, FINDING_WRONG, "clock", "stop cartbus, set the clock (timedatectl), start cartbus",
			"it shows %s UTC, which is before this program was installed", shown);
}

static void look_at_rate(struct doctor *doctor)
{
	const struct config *config = doctor->command->config;
	double rate = config_real(config, "clock", NULL, "rate");

	if (rate < 1 || rate > 1)
		found(doctor, FINDING_DOUBTFUL, "clock", "remove [clock] rate",
			"it runs at %s times its speed, which is for demos", config_get(config, "clock", NULL, "rate"));
}

static void look_at_disk(struct doctor *doctor)
{
	const char *path = config_get(doctor->command->config, "paths", NULL, "state");
	struct statvfs disk;

	if (statvfs(path, &disk) < 0) {
		found(doctor, FINDING_WRONG, "disk", "make the folder of [paths] state", "%s: %s", path,
			strerror(errno));
		return;
	}
	uint64_t free = (uint64_t)disk.f_bavail * disk.f_frsize,
		 headroom = room_headroom(doctor->command->config, (uint64_t)disk.f_blocks * disk.f_frsize);
	bool is_full = free < headroom, is_tight = free < ROOM_HEADROOMS * headroom;

	found(doctor,
		is_full            ? FINDING_WRONG
			: is_tight ? FINDING_DOUBTFUL
				   : FINDING_FINE,
		"disk", is_tight ? "make room in the file system of [paths] state, or a larger one" : "",
		"%" PRIu64 " MiB are free at %s%s; below %" PRIu64 " nothing new is taken", free >> 20, path,
		is_full ? ", and nothing new is taken" : "", headroom >> 20);
	if (disk.f_files && disk.f_favail < disk.f_files / 100 * INODES_PERCENT)
		found(doctor, FINDING_DOUBTFUL, "disk",
			"remove files there that are not needed, or make a file system with more inodes",
			"%s has hardly any inodes left", path);
}

void look_at_machine(struct doctor *doctor)
{
	look_at_sync(doctor);
	look_at_date(doctor);
	look_at_rate(doctor);
	look_at_disk(doctor);
}
