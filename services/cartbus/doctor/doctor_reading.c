/*
 * doctor_reading.c: is what lies in cartbus.conf what the processes of this host run with?
 *
 * Each tells the broker when it last took the configuration that it found (bus/actor/process/process_config.c), by the machine's clock, as files
 * are dated. Of the broker itself it does not know: `systemctl status cartbus-broker` says what waits for its next start.
 */
#include "services/cartbus/doctor/doctor.h"

#include "bus/actor/client.h"
#include "bus/base/cleanup.h"
#include "bus/base/text.h"
#include "services/cartbus/core/reading.h"
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static const char AREA[] = "configuration";
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

/* The folder's own date tells of a drop-in that went. */
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
		found(doctor, FINDING_DOUBTFUL, AREA,
			command_has_units(doctor->command)
				? "systemctl reload cartbus.target; what is not right is not taken, "
				  "and the journal says why"
				: "stop cartbus up with Ctrl-C and start it again",
			"%s was changed since these read it: %s", doctor->command->config_path, behind);
	json_decref(status);
}
