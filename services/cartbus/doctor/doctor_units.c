/*
 * doctor_units.c: checks this machine's clock and disk, the units of systemd, an upgrade that was cut short
 * (dpkg), and whether the processes run with the cartbus.conf that is on the disk
 *
 * Each process tells the broker when it last took the configuration (bus/actor/process/process_config.c), by
 * the machine's clock, which also dates files. The broker does not tell this of itself: `systemctl status
 * cartbus-broker` tells what waits for its next start.
 *
 * Promises: a process that ended has told systemd why (notify_failed): doctor repeats those words, and does
 *           not guess. If systemd could not start a program, systemd's own exit codes explain why
 *           (systemd.exec(5)).
 * Fails by: reporting nothing of units if systemd does not run this cartbus (`cartbus up`, another --config).
 */
#include "services/cartbus/doctor/doctor.h"

#include "bus/actor/client.h"
#include "bus/base/cleanup.h"
#include "bus/base/notify.h"
#include "bus/base/text.h"
#include "services/cartbus/backup/backup_folder.h"
#include "services/cartbus/core/reading.h"
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/timex.h>
#include <time.h>
#include <unistd.h>

/* ---- clock and disk ---- */

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

/* The date of this program's file is surely past, so the clock must not show an earlier one. */
static void look_at_date(struct doctor *doctor)
{
	struct stat program;
	struct clock clock = clock_system(); /* the configuration's clock may run faster */
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
		 headroom = disk_headroom(doctor->command->config, (uint64_t)disk.f_blocks * disk.f_frsize);
	bool is_full = free < headroom, is_tight = free < DISK_HEADROOMS * headroom;

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

/* ---- the configuration that processes run with ---- */

static const char AREA_READING[] = "configuration";
static const int64_t SAME_MOMENT_US = 1 * US_PER_S; /* a file's date is that of the kernel's last tick */

DEFINE_CLEANUP(DIR *, closedir)

static int64_t changed_us(const char *path)
{
	struct stat about;

	return stat(path, &about) < 0 ? 0 : (int64_t)about.st_mtim.tv_sec * US_PER_S + about.st_mtim.tv_nsec / 1000;
}

static int64_t later(int64_t a_us, int64_t b_us)
{
	return a_us > b_us ? a_us : b_us;
}

/* The folder's own date tells that a drop-in was removed. */
static int64_t last_changed_us(const char *config_path)
{
	char folder[PATH_ROOM], path[PATH_ROOM + 260];
	int64_t last_us = changed_us(config_path);

	snprintf(folder, sizeof(folder), "%s.d", config_path);

	_cleanup_(closedirp) DIR *listing = opendir(folder);
	struct dirent *entry;

	last_us = later(last_us, changed_us(folder));
	while (listing && (entry = readdir(listing))) {
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		if (entry->d_name[0] != '.')
			last_us = later(last_us, changed_us(path));
	}
	return last_us;
}

static int64_t count_of(const json_t *session, const char *name)
{
	return json_integer_value(json_object_get(json_object_get(session, "counts"), name));
}

static bool is_of_this_host(const json_t *session)
{
	const char *who = json_string_value(json_object_get(session, "who"));

	return who && text_starts(who, "uid:");
}

void look_at_reading(struct doctor *doctor, struct client *client)
{
	json_t *status = command_look(doctor->command, client, "status", NULL), *session;
	int64_t last_us = last_changed_us(doctor->command->config_path);
	char behind[400] = "";
	size_t i, used = 0;

	json_array_foreach(json_object_get(status, "sessions"), i, session)
	{
		int64_t read_us = count_of(session, "config_read_us");

		if (!read_us || !is_of_this_host(session) || used >= sizeof(behind) ||
			(read_us + SAME_MOMENT_US >= last_us && !count_of(session, "config_kept")))
			continue;
		used += (size_t)snprintf(behind + used, sizeof(behind) - used, "%s%s", used ? ", " : "",
			json_string_value(json_object_get(session, "instance")));
	}
	if (used)
		found(doctor, FINDING_DOUBTFUL, AREA_READING,
			command_has_units(doctor->command)
				? "systemctl reload cartbus.target; what is not right is not taken, "
				  "and the journal says why"
				: "stop cartbus up with Ctrl-C and start it again",
			"%s was changed since these read it: %s", doctor->command->config_path, behind);
	json_decref(status);
}

/* ---- units and packages ---- */

static const char AREA_UNITS[] = "units";
static const char ASK_UNITS[] =
	"systemctl show --no-pager 'cartbus*.service' 'cartbus*.socket' --property="
	"Id,ActiveState,SubState,Result,ExecMainStatus,MainPID,NeedDaemonReload,StatusText,Listen 2>/dev/null";
static const char ASK_PACKAGE[] = "dpkg-query --show --showformat='${db:Status-Status}' cartbus 2>/dev/null";

struct unit {
	char id[96], active[24], sub[24], result[32], words[1024], listen[160];
	int status, pid;
	bool is_outdated; /* its file was changed, and systemd has not read it again */
};

/* The exit codes by which systemd tells why it could not start a program. */
static const struct {
	int status;
	const char *words, *remedy;
} unbegun[] = {
	{ 200, "its working directory cannot be entered", "systemd-tmpfiles --create" },
	{ 203, "its program is not there, or may not be executed",
		"install the package again (apt install --reinstall cartbus)" },
	{ 217, "its user is not there", "systemd-sysusers" },
	{ 226, "its view of the file system cannot be set up",
		"systemd-tmpfiles --create; is a folder of it gone or full?" },
	{ 233, "its folder below /run cannot be made", "is something else at /run/cartbus? Move it away" },
	{ 238, "its folder below /var/lib/cartbus cannot be made",
		"is the disk full or read-only, or something else there?" },
	{ 243, "its secrets cannot be handed over", "cartbus secrets make; ls -l /etc/cartbus/secrets" },
};

static void take(struct unit *unit, const char *key, const char *value)
{
	const struct {
		const char *key;
		char *to;
		size_t room;
	} texts[] = { { "Id", unit->id, sizeof(unit->id) }, { "ActiveState", unit->active, sizeof(unit->active) },
		{ "SubState", unit->sub, sizeof(unit->sub) }, { "Result", unit->result, sizeof(unit->result) },
		{ "StatusText", unit->words, sizeof(unit->words) }, { "Listen", unit->listen, sizeof(unit->listen) } };

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		if (strcmp(texts[i].key, key) == 0)
			text_copy(texts[i].to, texts[i].room, value);
	if (strcmp(key, "ExecMainStatus") == 0)
		unit->status = atoi(value);
	else if (strcmp(key, "MainPID") == 0)
		unit->pid = atoi(value);
	else if (strcmp(key, "NeedDaemonReload") == 0)
		unit->is_outdated = strcmp(value, "yes") == 0;
}

static bool is_one_of(const char *word, const char *one, const char *other)
{
	return strcmp(word, one) == 0 || strcmp(word, other) == 0;
}

static void say_ended(struct doctor *doctor, const struct unit *unit)
{
	char remedy[300];

	for (size_t i = 0; i < sizeof(unbegun) / sizeof(*unbegun); i++) {
		if (unbegun[i].status != unit->status)
			continue;
		found(doctor, FINDING_WRONG, AREA_UNITS, unbegun[i].remedy, "%s does not start: %s (systemd says %d)",
			unit->id, unbegun[i].words, unit->status);
		return;
	}
	snprintf(remedy, sizeof(remedy), "journalctl -u %s -n 20; then systemctl start %s", unit->id, unit->id);
	found(doctor, FINDING_WRONG, AREA_UNITS, remedy, "%s does not run: it ended with \"%s\", status %d", unit->id,
		unit->result, unit->status);
}

/*
 * The last status text of a process, if it tells why the process ended, or why it runs and cannot work. NULL:
 * all is well.
 */
static const char *trouble_of(const struct unit *unit)
{
	static const char *const beginnings[] = { "away from the broker", "nothing new is taken" };

	if (text_starts(unit->words, NOTIFY_FAILED))
		return unit->words + strlen(NOTIFY_FAILED);
	for (size_t i = 0; i < sizeof(beginnings) / sizeof(*beginnings); i++)
		if (text_starts(unit->words, beginnings[i]))
			return unit->words;
	return NULL;
}

static void say_socket(struct doctor *doctor, const struct unit *unit)
{
	char remedy[400];

	snprintf(remedy, sizeof(remedy),
		"ss -ltnp shows who has the port: end that, or choose another (systemctl edit %s); then systemctl "
		"start cartbus.target",
		unit->id);
	found(doctor, FINDING_WRONG, AREA_UNITS, remedy, "%s does not listen on %s: systemd says \"%s\"", unit->id,
		unit->listen, unit->result);
}

/* true: the process still runs a program whose file was replaced. */
static bool is_of_before(const struct unit *unit)
{
	char path[64], program[PATH_MAX];
	ssize_t len;

	snprintf(path, sizeof(path), "/proc/%d/exe", unit->pid);
	len = unit->pid > 0 ? readlink(path, program, sizeof(program) - 1) : -1;
	program[len > 0 ? len : 0] = '\0';
	return strstr(program, " (deleted)") != NULL;
}

/* Reports at most one finding on a unit, the first that applies. true: all is well. */
static bool judge(struct doctor *doctor, const struct unit *unit)
{
	const char *trouble = trouble_of(unit);
	char remedy[300];

	if (strstr(unit->id, ".socket") && strcmp(unit->active, "failed") == 0) {
		say_socket(doctor, unit);
	} else if (doctor->is_away && text_starts(unit->words, "away from the broker")) {
		return true; /* the broker's absence was reported */
	} else if (trouble) {
		snprintf(remedy, sizeof(remedy), "what helps stands there; journalctl -u %s tells more", unit->id);
		found(doctor, FINDING_WRONG, AREA_UNITS, remedy, "%s: %s", unit->id, trouble);
	} else if (is_one_of("failed", unit->active, unit->sub) || strcmp(unit->sub, "auto-restart") == 0) {
		say_ended(doctor, unit);
	} else if (unit->is_outdated) {
		found(doctor, FINDING_DOUBTFUL, AREA_UNITS,
			"systemctl daemon-reload, then systemctl restart cartbus.target",
			"%s was changed, and systemd has not read it again", unit->id);
	} else if (is_of_before(unit)) {
		found(doctor, FINDING_DOUBTFUL, AREA_UNITS,
			"dpkg --configure -a, which restarts it; or systemctl restart cartbus.target",
			"%s runs the program that was there before an upgrade", unit->id);
	} else {
		return true;
	}
	return false;
}

static void look_at_each(struct doctor *doctor, FILE *answer)
{
	static const struct unit none;
	struct unit unit = none;
	int count = 0, well = 0;
	char line[2048];

	for (bool more = true; more;) {
		more = fgets(line, sizeof(line), answer) != NULL;
		line[more ? strcspn(line, "\n") : 0] = '\0';
		char *value = strchr(line, '=');
		if (value) {
			*value = '\0';
			take(&unit, line, value + 1);
		} else if (unit.id[0]) {
			count++;
			well += judge(doctor, &unit);
			unit = none;
		}
	}
	if (count > 0 && well == count)
		found(doctor, FINDING_FINE, AREA_UNITS, "", "systemd has nothing to say against its %d units", count);
}

/* Between unpacking and configuring, the programs are new, but the processes still run the old ones. */
static void look_at_package(struct doctor *doctor)
{
	FILE *answer = popen(ASK_PACKAGE, "r");
	char state[64] = "";

	if (answer && fgets(state, sizeof(state), answer) && strcmp(state, "installed") != 0 &&
		strcmp(state, "not-installed") != 0 && strcmp(state, "config-files") != 0)
		found(doctor, FINDING_WRONG, "package",
			"dpkg --configure -a, or apt install --fix-broken, which ends it",
			"an upgrade was cut short: dpkg says that cartbus is %s", state);
	if (answer)
		pclose(answer);
}

void look_at_units(struct doctor *doctor)
{
	FILE *answer;

	if (!command_has_units(doctor->command))
		return;
	answer = popen(ASK_UNITS, "r");
	if (!answer)
		return;
	look_at_each(doctor, answer);
	pclose(answer);
	look_at_package(doctor);
}
