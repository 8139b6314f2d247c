/*
 * alarms.c: the log's alarms, folded into those that stand; `cartbus alarm list | test | ack`
 *
 * Promises: an alarm that is published again while it stands changes its words, not since when it stands. A test goes the very ways that a
 *           real alarm goes, through the monitor, and says what each answered; the record names the admin who
 *           acknowledges.
 * Read next: services/platform/monitor/monitor.c
 */
#include "services/cartbus/watch/alarms.h"

#include "bus/base/cleanup.h"
#include "bus/base/text.h"
#include "services/cartbus/core/print.h"
#include "services/cartbus/core/record.h"
#include "services/cartbus/shops/shops.h"
#include "services/cartbus/watch/subcommands.h"
#include "services/carts/words/describe.h"
#include <poll.h>
#include <stdio.h>
#include <string.h>

static int find(const struct alarms *alarms, const char *shop, const char *kind)
{
	int at = 0;

	while (at < alarms->count &&
		(strcmp(alarms->each[at].shop, shop) != 0 || strcmp(alarms->each[at].alarm.kind, kind) != 0))
		at++;
	return at;
}

static const char *about(const char *shop)
{
	return strcmp(shop, SHOP_OF_ALL) == 0 ? "" : shop;
}

static void fold_alarm(struct alarms *alarms, const struct entry *entry, const Alarm *alarm)
{
	int at = find(alarms, about(entry->shop), alarm->kind);
	struct standing *one = &alarms->each[at];

	if (!alarm->raised || strcmp(alarm->kind, "test") == 0) {
		if (at < alarms->count)
			memmove(one, one + 1, (size_t)(--alarms->count - at) * sizeof(*one));
		return;
	}
	if (at == ALARMS_MAX)
		return;
	if (at == alarms->count) {
		*one = (struct standing){ .seq = entry->seq, .since_us = alarm->at_us };
		TEXT_COPY(one->shop, about(entry->shop));
		alarms->count++;
	}
	one->alarm = *alarm;
}

static void fold_told(struct alarms *alarms, const AlarmTold *told)
{
	int at = find(alarms, about(told->about), told->kind);

	if (at < alarms->count && alarms->each[at].seq == told->alarm_seq && told->raised &&
		alarms->each[at].told_count < TOLD_MAX)
		alarms->each[at].told[alarms->each[at].told_count++] = *told;
}

/* A service repeats what somebody outside said, or was taken over: its words must not move an admin's cursor. */
static void make_plain(Alarm *alarm)
{
	text_make_plain(alarm->kind);
	text_make_plain(alarm->text);
	text_make_plain(alarm->remedy);
	text_make_plain(alarm->acknowledged_by);
}

static void make_answer_plain(AlarmTold *told)
{
	text_make_plain(told->kind);
	text_make_plain(told->way);
	text_make_plain(told->words);
}

void alarms_fold(struct alarms *alarms, const struct entry *entry)
{
	const struct topic *topic = topic_of(entry->topic);
	_cleanup_free_ void *message = topic ? payload_decode(topic, entry->payload) : NULL;

	if (message && topic == &topic_alarm) {
		make_plain(message);
		fold_alarm(alarms, entry, message);
	} else if (message && topic == &topic_alarm_told) {
		make_answer_plain(message);
		fold_told(alarms, message);
	}
}

static bool fold_one(const struct entry *entry, void *context)
{
	alarms_fold(context, entry);
	return true;
}

static int alarms_read(const struct command *command, struct client *client, struct alarms *ret)
{
	static const char *const topics[] = { "alarm", "alarm.told", NULL };

	*ret = (struct alarms){ 0 };
	return reading_each(
		command, client, &(struct reading_filter){ .topics = topics, .masked = true }, fold_one, ret);
}

static json_t *alarm_told_json(const AlarmTold *told)
{
	return json_pack("{s:s,s:b,s:s,s:I}", "way", told->way, "reached", told->reached, "answer", told->words,
		"at_us", (json_int_t)told->at_us);
}

json_t *alarms_json(const struct alarms *alarms)
{
	json_t *list = json_array();

	for (int i = 0; i < alarms->count; i++) {
		const struct standing *one = &alarms->each[i];
		json_t *told = json_array();

		for (int j = 0; j < one->told_count; j++)
			json_array_append_new(told, alarm_told_json(&one->told[j]));
		json_array_append_new(list,
			json_pack("{s:s,s:s,s:s,s:s,s:I,s:s,s:o}", "kind", one->alarm.kind, "shop", one->shop, "text",
				one->alarm.text, "remedy", one->alarm.remedy, "since_us", (json_int_t)one->since_us,
				"acknowledged_by", one->alarm.acknowledged_by, "told", told));
	}
	return list;
}

/* ---- `cartbus alarm` ---- */

#define TEST_PATIENCE_US (90 * US_PER_S)
enum { LOOK_AGAIN_MS = 300 };

/* ---- list ---- */

static void print_told(const AlarmTold *told)
{
	printf("    %s: %s%s%s\n", told->way, told->reached ? "told" : "not reached", *told->words ? ", " : "",
		told->words);
}

static void print_one(const struct standing *one)
{
	char since[40];

	describe_time("Etc/UTC", one->since_us, since);
	printf("%s%s%s, since %s UTC\n  %s\n", one->alarm.kind, one->shop[0] ? " of shop " : "", one->shop, since,
		one->alarm.text);
	if (one->alarm.remedy[0])
		printf("  what to do: %s\n", one->alarm.remedy);
	if (one->alarm.acknowledged_by[0])
		printf("  seen by %s\n", one->alarm.acknowledged_by);
	for (int i = 0; i < one->told_count; i++)
		print_told(&one->told[i]);
}

int command_alarm_list(struct command *command, int argc, char **argv)
{
	static struct alarms alarms;
	struct client *client;

	command_take(command, argc, argv,
		&(struct arguments){
			.help = "Shows the alarms that stand, since when, what to do, and whom it was told to. It "
				"exits with 1 when there are any.\vExample:\n  cartbus alarm list --json" });
	client = command_connect(command);
	int ended = alarms_read(command, client, &alarms);

	client_free(client);
	if (ended)
		return ended;
	if (command->json) {
		json_print_list("alarms", alarms_json(&alarms));
	} else if (!alarms.count) {
		puts("no alarm stands");
	}
	for (int i = 0; !command->json && i < alarms.count; i++)
		print_one(&alarms.each[i]);
	return alarms.count ? EXIT_NO : EXIT_FINE;
}

/* ---- test ---- */

static int count_value(const char *value, void *context)
{
	*(int *)context += *value != '\0';
	return 0;
}

static int count_ways(const struct command *command)
{
	int count = 0;

	config_each_value(command->config, "monitor", NULL, "admin", count_value, &count);
	config_each_value(command->config, "monitor", NULL, "webhook", count_value, &count);
	return count;
}

struct answers {
	uint64_t seq; /* of the test */
	int count;
	AlarmTold each[TOLD_MAX];
};

static bool note_answer(const struct entry *entry, void *context)
{
	struct answers *answers = context;
	_cleanup_free_ AlarmTold *told = payload_decode(&topic_alarm_told, entry->payload);

	if (told && told->alarm_seq == answers->seq && answers->count < TOLD_MAX)
		answers->each[answers->count++] = *told;
	return true;
}

static int await_answers(const struct command *command, struct client *client, int ways, struct answers *answers)
{
	int64_t until_us = clock_boot_us(&command->clock) + TEST_PATIENCE_US;
	int ended = EXIT_FINE;

	while (ended == EXIT_FINE && answers->count < ways && clock_boot_us(&command->clock) < until_us) {
		poll(NULL, 0, LOOK_AGAIN_MS);
		answers->count = 0;
		ended = reading_each(command, client,
			&(struct reading_filter){ .topic = "alarm.told", .from = answers->seq }, note_answer, answers);
	}
	return ended;
}

static int print_answers(const struct command *command, const struct answers *answers, int ways)
{
	json_t *list = json_array();
	int reached = 0;

	for (int i = 0; i < answers->count; i++) {
		reached += answers->each[i].reached;
		json_array_append_new(list, alarm_told_json(&answers->each[i]));
		if (!command->json)
			print_told(&answers->each[i]);
	}
	if (command->json)
		json_print_list("answers", json_incref(list));
	json_decref(list);
	if (answers->count < ways)
		complain(command, "%d of %d ways did not answer in time; is the monitor running? cartbus status",
			ways - answers->count, ways);
	return reached == ways ? EXIT_FINE : EXIT_NO;
}

static int test(const struct command *command, struct client *client, int ways)
{
	static struct answers answers;
	Alarm alarm = { .kind = "test", .raised = true, .at_us = clock_wall_us(&command->clock) };
	struct client_said said;
	char idem[64], why[256];

	snprintf(alarm.text, sizeof(alarm.text), "this is a test by %.60s: alarms arrive here", operator_name());
	TEXT_COPY(alarm.remedy, "nothing: no alarm stands because of it");
	text_random_name(idem);
	if (CLIENT_SAY(client, alarm, &alarm, &said, why, .shop = SHOP_OF_ALL, .key = alarm.kind, .idem = idem,
		    .version = (uint64_t)alarm.at_us)) {
		complain(command, "%s", why);
		return EXIT_NO;
	}
	answers.seq = said.seq;
	int ended = await_answers(command, client, ways, &answers);
	return ended ? ended : print_answers(command, &answers, ways);
}

int command_alarm_test(struct command *command, int argc, char **argv)
{
	command_take(command, argc, argv,
		&(struct arguments){
			.help = "Sends an alarm of kind \"test\" to each [monitor] admin and webhook, on the ways "
				"that real alarms go, and says what each answered. It is not tried again. It "
				"exits with 0 when all were reached.\vExample:\n  cartbus alarm test" });
	int ways = count_ways(command);

	if (!ways) {
		complain(command, "nobody would be told: give [monitor] admin or webhook in cartbus.conf");
		return EXIT_NO;
	}
	struct client *client = command_connect(command);
	int ended = test(command, client, ways);

	client_free(client);
	return ended;
}

/* ---- ack ---- */

static void complain_of_none(
	const struct command *command, const struct alarms *alarms, const char *kind, const char *shop)
{
	for (int i = 0; !*shop && i < alarms->count; i++) {
		if (strcmp(alarms->each[i].alarm.kind, kind) == 0) {
			complain(command, "alarm \"%s\" stands for a shop: cartbus alarm ack %s --shop %s", kind, kind,
				alarms->each[i].shop);
			return;
		}
	}
	complain(command, "no alarm \"%s\"%s%s stands: cartbus alarm list", kind, *shop ? " of shop " : "", shop);
}

static const struct standing *find_standing(const struct alarms *alarms, const char *kind, const char *shop)
{
	for (int i = 0; i < alarms->count; i++)
		if (strcmp(alarms->each[i].alarm.kind, kind) == 0 && strcmp(alarms->each[i].shop, shop) == 0)
			return &alarms->each[i];
	return NULL;
}

static void tell_seen(const struct command *command, const Alarm *alarm, const char *shop)
{
	if (command->json) {
		json_t *json = json_pack("{s:s,s:s,s:b,s:s}", "kind", alarm->kind, "shop", shop, "stands",
			alarm->raised, "remedy", alarm->remedy);

		json_print(json);
		json_decref(json);
	} else if (alarm->raised) {
		printf("Noted, and nothing is mended by it: %s stands until its cause is gone%s%s.\n", alarm->kind,
			*alarm->remedy ? ". What to do: " : "", alarm->remedy);
	}
}

static int acknowledge(const struct command *command, struct client *client, const struct standing *one, bool end)
{
	const char *shop = one->shop[0] ? one->shop : SHOP_OF_ALL;
	Alarm alarm = one->alarm;
	struct client_said said;
	char idem[64], why[256];
	json_t *what = json_pack("{s:s,s:s,s:b}", "kind", alarm.kind, "shop", shop, "end", end);
	int ended = record_act(command, client, "alarm ack", what);

	json_decref(what);
	if (ended)
		return ended;
	alarm.raised = !end;
	alarm.at_us = clock_wall_us(&command->clock);
	TEXT_COPY(alarm.acknowledged_by, operator_name());
	text_random_name(idem);
	if (!CLIENT_SAY(client, alarm, &alarm, &said, why, .shop = shop, .key = alarm.kind, .idem = idem,
		    .version = (uint64_t)alarm.at_us)) {
		tell_seen(command, &alarm, one->shop);
		return EXIT_FINE;
	}
	complain(command, "%s", why);
	return EXIT_NO;
}

int command_alarm_ack(struct command *command, int argc, char **argv)
{
	static struct alarms alarms;
	const char *kind, *shop = "";
	bool end = false;
	const struct take takes[] = { { "shop", "SHOP", "of this shop; without it, of the installation", &shop, NULL },
		{ "end", NULL, "it is over: for what nobody else ends", NULL, &end }, { 0 } };

	command_take(command, argc, argv,
		&(struct arguments){ .takes = takes,
			.words_help = "KIND",
			.words = &kind,
			.words_least = 1,
			.words_most = 1,
			.help = "Notes that somebody has seen an alarm: it stands on, but `cartbus status` is not red "
				"for the alarm any more; what the alarm tells of may be red by itself. What causes it "
				"ends it; with --end you do. When it comes again it is told again.\vExample:\n  "
				"cartbus alarm ack ambiguous" });
	struct client *client = command_connect(command);
	int ended = shops_know_if_named(command, client, shop);
	ended = ended ? ended : alarms_read(command, client, &alarms);
	const struct standing *one = ended ? NULL : find_standing(&alarms, kind, shop);

	if (!ended && !one)
		complain_of_none(command, &alarms, kind, shop);
	if (!ended)
		ended = one ? acknowledge(command, client, one, end) : EXIT_NO;
	client_free(client);
	return ended;
}
