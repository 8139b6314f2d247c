/*
 * doctor_units.c: what systemd and dpkg know of this installation: what does not run, and in whose words; half an upgrade
 *
 * Promises: a process that ended told systemd why (notify_failed): doctor repeats those words, and does not guess. What never came to
 *           be a process is explained by systemd's own exit codes (systemd.exec(5)).
 * Fails by: saying nothing where systemd is not the one that runs cartbus (`cartbus up`, another --config).
 */
#include "services/cartbus/doctor/doctor.h"

#include "bus/base/notify.h"
#include "bus/base/text.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char AREA[] = "units";
static const char ASK_UNITS[] =
	"systemctl show --no-pager 'cartbus*.service' 'cartbus*.socket' --property="
	"Id,ActiveState,SubState,Result,ExecMainStatus,MainPID,NeedDaemonReload,StatusText,Listen 2>/dev/null";
static const char ASK_PACKAGE[] = "dpkg-query --show --showformat='${db:Status-Status}' cartbus 2>/dev/null";

struct unit {
	char id[96], active[24], sub[24], result[32], words[1024], listen[160];
	int status, pid;
	bool is_outdated; /* its file was changed, and systemd has not read it again */
};

/* What systemd answers for a program that it could not begin. */
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
		found(doctor, FINDING_WRONG, AREA, unbegun[i].remedy, "%s does not start: %s (systemd says %d)",
			unit->id, unbegun[i].words, unit->status);
		return;
	}
	snprintf(remedy, sizeof(remedy), "journalctl -u %s -n 20; then systemctl start %s", unit->id, unit->id);
	found(doctor, FINDING_WRONG, AREA, remedy, "%s does not run: it ended with \"%s\", status %d", unit->id,
		unit->result, unit->status);
}

/* What a process last said of itself, where that is why it ended, or why it runs and cannot work. NULL: all is well. */
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
	found(doctor, FINDING_WRONG, AREA, remedy, "%s does not listen on %s: systemd says \"%s\"", unit->id,
		unit->listen, unit->result);
}

/* A program that was exchanged goes on as it was until its process ends. */
static bool is_of_before(const struct unit *unit)
{
	char path[64], program[PATH_MAX];
	ssize_t len;

	snprintf(path, sizeof(path), "/proc/%d/exe", unit->pid);
	len = unit->pid > 0 ? readlink(path, program, sizeof(program) - 1) : -1;
	program[len > 0 ? len : 0] = '\0';
	return strstr(program, " (deleted)") != NULL;
}

/* The state of one unit: one finding at most, the one that comes first. */
static bool judge(struct doctor *doctor, const struct unit *unit)
{
	const char *trouble = trouble_of(unit);
	char remedy[300];

	if (strstr(unit->id, ".socket") && strcmp(unit->active, "failed") == 0) {
		say_socket(doctor, unit);
	} else if (doctor->is_away && text_starts(unit->words, "away from the broker")) {
		return true; /* the broker's absence was told */
	} else if (trouble) {
		snprintf(remedy, sizeof(remedy), "what helps stands there; journalctl -u %s tells more", unit->id);
		found(doctor, FINDING_WRONG, AREA, remedy, "%s: %s", unit->id, trouble);
	} else if (is_one_of("failed", unit->active, unit->sub) || strcmp(unit->sub, "auto-restart") == 0) {
		say_ended(doctor, unit);
	} else if (unit->is_outdated) {
		found(doctor, FINDING_DOUBTFUL, AREA, "systemctl daemon-reload, then systemctl restart cartbus.target",
			"%s was changed, and systemd has not read it again", unit->id);
	} else if (is_of_before(unit)) {
		found(doctor, FINDING_DOUBTFUL, AREA,
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
		found(doctor, FINDING_FINE, AREA, "", "systemd has nothing to say against its %d units", count);
}

/* Between unpacking and configuring, the programs are new, and what runs is not. */
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
