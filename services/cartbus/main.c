/*
 * main.c: cartbus, the operator's command: run everything, and operate it
 *
 * Owns:      the table of subcommands, in the order in which an admin meets them.
 * Read next: dispatch.c (which one is meant), up.c (the supervisor), shop.c, status.c, trace.c, why.c, dead.c; client.c is how they reach the broker
 */
#include "bus/base/bytes.h"
#include "bus/base/cleanup.h"
#include "bus/base/log.h"
#include "services/cartbus/core/cartbus.h"
#include "services/cartbus/core/dispatch.h"
#include "services/cartbus/core/manual.h"
#include "services/cartbus/shops/shops.h"
#include <stdio.h>
#include <string.h>

static const struct subcommand subcommands[] = {
	{ NULL, NULL, "Run", NULL },
	{ "up", "", "run everything in the foreground, and stop it cleanly on Ctrl-C", command_up },
	{ "config check", "", "is the configuration right, with all shops, rules and secrets?", command_config_check },
	{ "doctor", "", "is the whole installation right, and what helps where it is not?", command_doctor },
	{ "secrets make", "", "the keys that everything needs; what is there stays", command_secrets_make },
	{ "secrets rotate", "link|bounce|admin", "a new key; what the one before signed holds on for a while",
		command_secrets_rotate },
	{ NULL, NULL, "Hosts", NULL },
	{ "keys make", "NAME", "a key for a service on another host", command_keys_make },
	{ "keys list", "", "who may come over TCP, as what", command_keys_list },
	{ "keys rotate", "NAME", "a new key; the old one stays good until --finish", command_keys_rotate },
	{ "keys revoke", "NAME", "a key is good no longer, and its sessions end", command_keys_revoke },
	{ NULL, NULL, "Shops", NULL },
	{ "shop add", "NAME", "make a shop: its files, its webhook secret, what to enter where", command_shop_add },
	{ "shop list", "", "the shops, their modes and their addresses", command_shop_list },
	{ "shop check", "SHOP", "which webhooks have arrived, and which never did", command_shop_check },
	{ "shop mode", "SHOP MODE", "observe, mail-me, live or paused: the kill switch", command_shop_mode },
	{ "shop secret", "SHOP", "where the webhook secret lies; --rotate makes a new one", command_shop_secret },
	{ "rules check", "FILE", "what do these rules mean, or where are they wrong?", command_rules_check },
	{ "rules try", "[SHOP] FILE", "what would these rules have done to the carts of the last days?",
		command_rules_try },
	{ "rules apply", "SHOP --pending", "move the timers that wait by older rules", command_rules_apply },
	{ "rules log", "SHOP", "every version of the rules that was in use", command_text_log },
	{ "rules show", "SHOP [VERSION]", "a version of the rules", command_text_show },
	{ "rules diff", "SHOP [VERSION [VERSION]]", "what differs between two versions", command_text_diff },
	{ "rules rollback", "SHOP [VERSION]", "an earlier version in use again", command_text_rollback },
	{ "voice log", "SHOP", "every version of the voice that was in use", command_text_log },
	{ "voice text", "SHOP [VERSION]", "a version of the voice", command_text_show },
	{ "voice diff", "SHOP [VERSION [VERSION]]", "what differs between two versions", command_text_diff },
	{ "voice rollback", "SHOP [VERSION]", "an earlier version in use again", command_text_rollback },
	{ "conf log", "SHOP", "every version of shop.conf that was in use", command_text_log },
	{ "conf show", "SHOP [VERSION]", "a version of shop.conf", command_text_show },
	{ "conf diff", "SHOP [VERSION [VERSION]]", "what differs between two versions", command_text_diff },
	{ "conf rollback", "SHOP [VERSION]", "an earlier version in use again", command_text_rollback },
	{ "voice check", "FILE", "are these words of reminders right, or where are they wrong?", command_voice_check },
	{ "voice show", "LANGUAGE", "the built-in words of reminders, to begin one's own with", command_voice_show },
	{ "preview", "SHOP [CART]", "the mail that a cart would get, in any language", command_preview },
	{ "send-test", "SHOP ADDRESS", "one real mail to an address of yours", command_send_test },
	{ "webhook send", "SHOP", "send a signed sample webhook to the gateway", command_webhook_send },
	{ NULL, NULL, "Stop", NULL },
	{ "stop", "[SHOP] --reason WHY", "nothing is mailed any more, for a shop or --all", command_stop },
	{ "resume", "[SHOP] --reason WHY", "ends a stop", command_resume },
	{ "unsubscribe", "SHOP ADDRESS", "never mail this shopper again", command_unsubscribe },
	{ "resubscribe", "SHOP ADDRESS", "take a shopper off the list again", command_resubscribe },
	{ "suppressions list", "SHOP", "who must not be mailed, by which way, since when", command_suppressions_list },
	{ "suppressions import", "SHOP [FILE]", "the list of another tool", command_suppressions_import },
	{ "suppressions save", "FILE", "the list of all shops, in a file that outlives the log",
		command_suppressions_save },
	{ "privacy list", "SHOP", "what storefronts ask for on behalf of a person's rights", command_privacy_list },
	{ "privacy done", "SHOP ID", "such a request was fulfilled", command_privacy_done },
	{ NULL, NULL, "See", NULL },
	{ "status", "", "is all well? green or red, and why", command_status },
	{ "top", "", "the living picture: rates, queues, processes, in a terminal", command_top },
	{ "carts", "SHOP", "a shop's carts, the newest first: which, how much, what comes next and why",
		command_carts },
	{ "tap", "", "what happens, live", command_tap },
	{ "log", "", "what happened, from the log, and what happens", command_log },
	{ "trace", "SHOP CART", "everything that was ever said about a cart, from the log", command_trace },
	{ "why", "SHOP CART", "what happened to a cart, what was decided, why, and when next", command_why },
	{ "export", "SHOP ADDRESS|CUSTOMER", "everything that is known of one shopper, for him", command_export },
	{ "report", "SHOP", "what a shop's mails brought, and the time before", command_report },
	{ "alarm list", "", "the alarms that stand, and who was told", command_alarm_list },
	{ "alarm test", "", "a real alarm on every way, and what each answered", command_alarm_test },
	{ "alarm ack", "KIND", "an alarm was seen, or is over: --end", command_alarm_ack },
	{ "queues", "", "what waits where", command_queues },
	{ "timers", "", "what will happen when", command_timers },
	{ "verify", "[DIR]", "is the log all there? of a stopped broker, or of a copy", command_verify },
	{ NULL, NULL, "Mend", NULL },
	{ "queues resume", "QUEUE", "a queue that is paused because everything failed goes on now",
		command_queues_resume },
	{ "dlq list", "", "dead letters: what could not be handled, and why", command_dlq_list },
	{ "dlq show", "QUEUE SEQ", "one dead letter with its history and payload", command_dlq_show },
	{ "dlq redrive", "QUEUE [SEQ]", "hand a dead letter out again, or many (--all, --shop ...)",
		command_dlq_redrive },
	{ "dlq drop", "QUEUE [SEQ]", "give a dead letter up, or many, with a reason", command_dlq_drop },
	{ "mailin list", "", "mails that came back and could not be read, and why", command_mailin_list },
	{ "mailin show", "NAME", "one of them, as it came", command_mailin_show },
	{ "mailin retry", "[NAME]", "have one read once more, or --all", command_mailin_retry },
	{ "mailin judge", "FILE...", "what mailin would do with a mail, without giving it the mail",
		command_mailin_judge },
	{ "replay", "--queue NAME --from SEQ|TIME", "decide on a part of the log once more", command_replay },
	{ "cart override", "SHOP CART FIRST SECOND", "waits of its own for one cart", command_cart_override },
	{ "cart suppress", "SHOP CART", "never mail about this cart", command_cart_suppress },
	{ "cart write-off", "SHOP CART", "end the chase of this cart", command_cart_write_off },
	{ "erase", "SHOP ADDRESS|CUSTOMER", "what is known of one shopper goes, everywhere", command_erase },
	{ "reconcile", "SHOP", "ask the storefront for orders and checkouts that no webhook told of",
		command_reconcile },
	{ "backup", "[DIR]", "a verified copy of the log, while everything runs", command_backup },
	{ "restore", "DIR", "put a backup in the log's place; --release lets mails go on", command_restore },
	{ "rebuild", "SERVICE", "have a service fold its state from the log anew", command_rebuild },
	{ "gateway strike", "NAME", "strike off a gateway that is lost for good", command_gateway_strike },
};

static int print_manifest(void)
{
	_cleanup_(buffer_free) struct buffer manifest = { 0 };

	service_manifest(&cartbus, &manifest);
	fputs(buffer_text(&manifest), stdout);
	return EXIT_FINE;
}

int main(int argc, char **argv)
{
	static const struct subcommands all = { subcommands, sizeof(subcommands) / sizeof(*subcommands) };

	log_open("cartbus", LOG_WARNING);
	if (argc < 2) {
		dispatch_help(&all);
		return EXIT_USAGE;
	}
	if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0 || strcmp(argv[1], "version") == 0)
		return puts("cartbus " CARTBUS_VERSION), EXIT_FINE;
	if (strcmp(argv[1], "--manifest") == 0)
		return print_manifest();
	if (strcmp(argv[1], "--manual") == 0) /* for what makes man pages and completions */
		return manual_print(all.all, all.count);
	if (strcmp(argv[1], "--shops") == 0) /* for a shell that completes a name */
		return shops_print(argc > 2 ? argv[2] : NULL);
	return dispatch(&all, argc - 1, argv + 1);
}
