/*
 * doctor.c: `cartbus doctor`: checks this installation, from the modes of its files to the DNS of its mails
 *
 * Owns:      the order of the checks, and how findings are shown.
 * Promises:  changes nothing and mails nothing; goes on after each finding; tells for each finding what
 *            helps. The findings of one area hide nothing of another area, except if the configuration cannot
 *            be read.
 * Fails by:  exit 1 when something is wrong, 3 when the broker is away.
 * Read next: doctor_files.c, doctor_units.c, doctor_ways.c, doctor_shops.c, doctor_backups.c
 */
#include "services/cartbus/doctor/doctor.h"

#include "bus/base/text.h"
#include "services/cartbus/core/print.h"
#include "services/cartbus/texts/check.h"
#include "services/kit/settings/settings.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const words_of[] = {
	[FINDING_FINE] = "fine", [FINDING_DOUBTFUL] = "doubtful", [FINDING_WRONG] = "wrong"
};

static bool is_told(const struct doctor *doctor, enum finding finding, const char *text)
{
	const json_t *told;
	size_t i;

	json_array_foreach(doctor->findings, i, told)
	{
		if (strcmp(json_string_value(json_object_get(told, "finding")), words_of[finding]) == 0 &&
			strcmp(json_string_value(json_object_get(told, "text")), text) == 0)
			return true;
	}
	return false;
}

void found(struct doctor *doctor, enum finding finding, const char *area, const char *remedy, const char *format, ...)
{
	char text[1024];
	va_list values;

	va_start(values, format);
	vsnprintf(text, sizeof(text), format, values);
	va_end(values);
	text_make_plain(text); /* a path may be any bytes */
	if (finding != FINDING_FINE && is_told(doctor, finding, text))
		return; /* another area found the same, and has told what helps */
	doctor->count[finding]++;
	json_array_append_new(doctor->findings,
		json_pack("{s:s,s:s,s:s,s:s}", "area", area, "finding", words_of[finding], "text", text, "remedy",
			remedy));
	if (doctor->command->json)
		return;
	printf("%-8s  %-13s  %s\n", words_of[finding], area, text);
	if (*remedy)
		printf("%-8s  %-13s  -> %s\n", "", "", remedy);
	fflush(stdout);
}

/* ---- the configuration ---- */

static void hear_complaint(const char *words, void *context)
{
	static const char warning[] = "warning: ";
	bool is_warning = text_starts(words, warning);

	found(context, is_warning ? FINDING_DOUBTFUL : FINDING_WRONG, "configuration",
		"mend it, and ask `cartbus config check`", "%s", is_warning ? words + strlen(warning) : words);
}

static void look_at_config(struct doctor *doctor)
{
	int shops = 0;

	doctor->command->hear = hear_complaint;
	doctor->command->hearer = doctor;
	if (config_judge(doctor->command, &shops) == 0 && doctor->count[FINDING_WRONG] == 0)
		found(doctor, FINDING_FINE, "configuration", "", "%s and what it leads to",
			doctor->command->config_path);
	doctor->command->hear = NULL;
	if (shops == 0 && !doctor->is_far)
		found(doctor, FINDING_DOUBTFUL, "configuration", "cartbus shop add NAME ...", "there is no shop");
}

static bool load(struct doctor *doctor)
{
	struct config_error error = { "" };

	/* Loads as a reader that needs no value, so that the checks go on after a wrong value. */
	int r = config_load_for(
		doctor->command->config_path, settings_keys, "doctor", &doctor->command->config, &error);

	if (error.text[0])
		found(doctor, FINDING_WRONG, "configuration",
			r < 0 ? "mend or make it (it may be empty), or name yours with --config FILE"
			      : "mend it, and ask `cartbus config check`",
			"%s", error.text);
	if (r < 0)
		return false;
	command_set_clock(doctor->command);
	doctor->is_far = command_is_far(doctor->command);
	return true;
}

/* ---- the whole ---- */

static int print_sum(struct doctor *doctor)
{
	const int *count = doctor->count;

	if (doctor->command->json) {
		json_t *whole = json_pack("{s:b,s:i,s:i,s:O}", "well", count[FINDING_WRONG] == 0, "wrong",
			count[FINDING_WRONG], "doubtful", count[FINDING_DOUBTFUL], "findings", doctor->findings);
		json_print(whole);
		json_decref(whole);
	} else {
		printf("\n%d wrong, %d doubtful, %d fine\n", count[FINDING_WRONG], count[FINDING_DOUBTFUL],
			count[FINDING_FINE]);
	}
	if (doctor->is_away)
		return EXIT_AWAY;
	return count[FINDING_WRONG] ? EXIT_NO : EXIT_FINE;
}

static int command_doctor(struct command *command, int argc, char **argv)
{
	struct doctor doctor = { .command = command, .findings = json_array() };
	const struct take takes[] = { { "resolver", "ADDRESS[@PORT]", "ask this name server, and not the system's",
					      &doctor.resolver, NULL },
		{ 0 } };

	command_take(command, argc, argv,
		&(struct arguments){ .takes = takes,
			.no_config = true,
			.help = "Checks this installation from end to end: the configuration with all shops; owners "
				"and modes of "
				"folders, secrets and keys; clock, disk and backups; the broker and what runs; the "
				"mail server and its login; "
				"whether public-url leads to our gateway; storefronts' APIs; and SPF, DKIM and DMARC "
				"of the domains "
				"that mails come from. Says what helps for each finding. Sends and changes nothing. "
				"Run it as the "
				"user, or root, who may read the secrets. It exits with 0 if nothing is wrong, 1 if "
				"something is, 3 if the broker is away.\v"
				"Examples:\n  cartbus doctor\n  cartbus doctor --json\n  cartbus doctor --resolver "
				"9.9.9.9" });
	if (load(&doctor)) {
		look_at_config(&doctor);
		look_at_files(&doctor);
		look_at_readers(&doctor);
		look_at_machine(&doctor);
		look_at_backups(&doctor);
		look_at_blobs(&doctor);
		look_at_keys(&doctor);
		look_at_ways(&doctor);
		look_at_units(&doctor);
		look_at_domains(&doctor);
	}
	int ended = print_sum(&doctor);
	json_decref(doctor.findings);
	return ended;
}

const struct subcommand doctor_subcommands[] = {
	{ SUBCOMMANDS_RUN, "doctor", "", "is the whole installation right, and what helps where it is not?",
		command_doctor },
	{ .name = NULL },
};
