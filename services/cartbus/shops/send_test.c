/*
 * send_test.c: `cartbus send-test`: one real mail, by the transport that reminders take
 *
 * Promises:  it goes to the address that was named and to no other; it says that it is a test, unsubscribes
 *            nobody, claims
 *            nothing and is no reminder to any service. Who sent it is on record before it goes.
 * Fails by:  the mail server's own words, and what to look at.
 * Read next: reminder_mail.c (the mail), services/kit/mail/transport.c
 */
#include "proto/platform_topics.h"
#include "services/cartbus/core/print.h"
#include "services/cartbus/core/record.h"
#include "services/cartbus/shops/subcommands.h"
#include "services/cartbus/texts/reminder_mail.h"

#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define PATIENCE_US (2 * US_PER_MINUTE)

struct sending {
	struct command *command;
	struct mail_options options;
	char address[ADDRESS_MAX + 1], hash[ADDRESS_HASH_LEN + 1];
	struct mail *mail;
	struct mail_result result; /* of the transport; words "" and MAIL_UNKNOWN: none came */
};

/* ---- may this address be written to at all? ---- */

static int read_hash(struct sending *sending)
{
	_cleanup_(buffer_free) struct buffer key = { 0 };
	char path[PATH_ROOM];

	command_secret_path(sending->command, "address.key", path);
	int failed = file_read_secret(path, &key);
	if (failed) {
		complain(sending->command, "%s: %s", path, strerror(-failed));
		return EXIT_NO;
	}
	address_hash(buffer_bytes(&key), sending->options.shop, sending->address, sending->hash);
	return EXIT_FINE;
}

static bool see_suppression(const struct entry *entry, void *context)
{
	Suppression *fact = payload_decode(&topic_suppression, entry->payload);

	if (fact)
		*(bool *)context = !fact->lifted && !entry->tombstone;
	free(fact);
	return true;
}

/* A test goes to no address that this shop must not mail: it was suppressed, or shop.conf lists it under `never`. */
static int check_address(struct sending *sending, struct client *client)
{
	struct shop shop;
	bool suppressed = false;

	int failed = command_shop(sending->command, sending->options.shop, &shop);
	failed = failed ? failed : read_hash(sending);
	if (failed)
		return failed;
	if (shop_never_mails(&shop, sending->address)) {
		complain(sending->command, "shop.conf says `never` to this address; name another one");
		return EXIT_NO;
	}
	failed = reading_each(sending->command, client,
		&(struct reading_filter){ .topic = "suppression", .shop = sending->options.shop, .key = sending->hash },
		see_suppression, &suppressed);
	if (failed || !suppressed)
		return failed;
	complain(sending->command, "this address has unsubscribed from the shop; name another one");
	return EXIT_NO;
}

/* ---- the record, and the mail ---- */

static int record(const struct sending *sending, struct client *client)
{
	const struct mail_options *options = &sending->options;
	Audit audit = { .at_us = clock_wall_us(&sending->command->clock) };
	struct client_said said;
	char idem[64], why[256];

	TEXT_COPY(audit.action, "send_test");
	TEXT_COPY(audit.who, operator_name());
	TEXT_COPY(audit.address_hash, sending->hash);
	snprintf(audit.grounds, sizeof(audit.grounds), "a test of reminder %s, of %s%.80s, in %.23s, message id %.150s",
		options->step, options->cart ? "cart " : "a sample cart", options->cart ? options->cart : "",
		options->locale ? options->locale : "the cart's language", sending->mail->message_id);
	text_random_name(idem); /* each command is an act of its own */
	if (CLIENT_SAY(client, audit, &audit, &said, why, .shop = options->shop, .key = sending->hash, .idem = idem) ==
		0)
		return EXIT_FINE;
	complain(sending->command, "nothing was sent, because it could not be put on record: %s", why);
	return EXIT_NO;
}

static void take_result(const void *result, void *context)
{
	*(struct mail_result *)context = *(const struct mail_result *)result;
}

static const char *remedy(enum mail_end end)
{
	switch (end) {
	case MAIL_SENT:
		return "";
	case MAIL_NOT_SENT:
		return "the server could not be reached or let the connection go: look at [mail] smtp-host, smtp-port "
		       "and smtp-tls, at the firewall, and at the login";
	case MAIL_LATER:
		return "the server asks to try again later; reminders do so by themselves";
	case MAIL_REFUSED:
		return "the server refuses it for good: is [mail] from of shop.conf an address that it may send for?";
	case MAIL_UNKNOWN:
		return "the server did not answer in time: it may or may not have taken the mail";
	}
	return "";
}

static int print_result(const struct sending *sending)
{
	static const char *const ends[] = { [MAIL_SENT] = "sent",
		[MAIL_NOT_SENT] = "not_sent",
		[MAIL_LATER] = "later",
		[MAIL_REFUSED] = "refused",
		[MAIL_UNKNOWN] = "no_answer" };
	const struct mail_result *result = &sending->result;

	if (sending->command->json) {
		json_t *whole = json_pack("{s:s,s:s,s:s,s:s}", "end", ends[result->end], "transport", result->transport,
			"words", result->words, "message_id", sending->mail->message_id);
		json_print(whole);
		json_decref(whole);
	}
	if (result->end != MAIL_SENT)
		complain(sending->command, "%s%s%s", result->words, *result->words ? "; " : "", remedy(result->end));
	else if (!sending->command->json)
		printf("sent by %s: %s (Message-ID <%s>)\n", result->transport, result->words,
			sending->mail->message_id);
	return result->end == MAIL_SENT ? EXIT_FINE : EXIT_NO;
}

static int hand_over(struct sending *sending)
{
	struct effect_driver *driver = mail_driver_new(sending->command->config, &sending->command->clock);

	sending->result.end = MAIL_UNKNOWN;
	effect_run(driver, sending->mail, PATIENCE_US, take_result, &sending->result);
	driver->close(driver->self);
	return print_result(sending);
}

static int send_test(struct sending *sending)
{
	struct client *client = command_connect(sending->command);

	int failed = check_address(sending, client);
	failed =
		failed ? failed : reminder_mail_make(sending->command, client, &sending->options, &sending->mail, NULL);
	failed = failed ? failed : record(sending, client);
	client_free(client);
	failed = failed ? failed : hand_over(sending);
	mail_free(sending->mail);
	return failed;
}

int command_send_test(struct command *command, int argc, char **argv)
{
	const char *words[2];
	char test_id[33];
	struct sending sending = { .command = command, .options = { .step = "1" } };
	const struct take takes[] = { { "cart", "CART", "of this cart (a sample)", &sending.options.cart, NULL },
		{ "step", "1|2", "which reminder (1)", &sending.options.step, NULL },
		{ "locale", "LOCALE", "as a shopper of this language would get it", &sending.options.locale, NULL },
		{ "voice", "FILE", "with these words, which need not be published", &sending.options.voice, NULL },
		{ 0 } };

	command_take(command, argc, argv,
		&(struct arguments){ .takes = takes,
			.words_help = "SHOP ADDRESS",
			.words = words,
			.words_least = 2,
			.words_most = 2,
			.help = "Sends one real reminder to an address of yours, by the configured transport. Its "
				"subject "
				"begins with [Test], it unsubscribes nobody, and no cart takes it for its reminder.\v"
				"Examples:\n  cartbus send-test demo me@shop.example\n  cartbus send-test demo "
				"me@shop.example --cart 9f2c41 --step 2 --locale fr" });
	if (address_normalise(words[1], sending.address) < 0) {
		complain(command, "\"%s\" is no mail address", words[1]);
		return EXIT_USAGE;
	}
	text_random_name(test_id);
	sending.options.shop = words[0];
	sending.options.to = sending.address;
	sending.options.test_id = test_id;
	int failed = mail_options_check(command, &sending.options);
	return failed ? failed : send_test(&sending);
}
