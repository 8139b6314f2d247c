/* test_reason.c: whose address is gone, and whose is not, by codes and words */
#include "services/platform/mailin/reason.h"
#include "services/platform/mailin/words.h"
#include "tests/unit/cmocka_all.h"
#include <stdio.h>

static enum reason of(const char *status, const char *diagnostic, bool gave_up)
{
	struct buffer tidy = { 0 };
	words_tidy(bytes_of(diagnostic), &tidy);
	const struct refusal refusal = { .status = status, .diagnostic = buffer_text(&tidy), .gave_up = gave_up };
	enum reason reason = reason_of(&refusal, NULL);

	buffer_free(&tidy);
	return reason;
}

struct row {
	const char *status, *diagnostic;
	enum reason reason;
};

static void check(const struct row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		enum reason reason = of(rows[i].status, rows[i].diagnostic, true);
		if (reason != rows[i].reason)
			fail_msg("row %zu, %s %s: %s", i, rows[i].status, rows[i].diagnostic, reason_name(reason));
	}
}
#define CHECK(rows) check(rows, sizeof(rows) / sizeof(rows[0]))

static void words_that_name_an_unknown_user_are_believed_under_any_code(void **state)
{
	static const struct row rows[] = {
		{ "5.4.1", "smtp;550 5.4.1 Recipient address rejected: Access denied. [AB1.example 2026-01-01]",
			REASON_USER },
		{ "5.0.0", "smtp; 550 No such user - ab12-c", REASON_USER },
		{ "5.7.1", "smtp; 550 5.7.1 Invalid recipient: <ada@mail.example>", REASON_USER },
		{ "5.7.27", "smtp; 550 5.7.27 the user ada is not found here", REASON_USER },
		{ "5.5.0", "smtp;550 5.5.0 Requested action not taken: mailbox unavailable (S2017062302)",
			REASON_USER },
		{ "5.2.1", "smtp; 550-5.2.1 The email account that you tried to reach is\n 550 5.2.1 inactive.",
			REASON_INACTIVE },
		{ "5.1.1",
			"smtp; 550-5.1.1 The email account that you tried to reach does not\n 550-5.1.1 exist. Please "
			"try",
			REASON_USER },
		{ "5.0.0", "X-Notes; User Ada (ada@mail.example) not listed in Domino Directory", REASON_USER },
		{ "5.0.0", "smtp; 550 <ada@mail.example>: \xe2\x80\x9cuser\xe2\x80\x9d unknown", REASON_USER },
		{ "5.0.0", "smtp; 550 Utilisateur inconnu", REASON_USER },
		{ "5.0.0", "smtp; 550 Empf\xc3\xa4nger ADA@MAIL.EXAMPLE unbekannt", REASON_USER },
		{ "5.0.0", "X-Notes; \033$B$O8+$D$+$j$^$;$s\033(B", REASON_USER },
		{ "5.0.0", "smtp; 551 user has moved; try <x@y.example>", REASON_MOVED },
		{ "5.0.0", "smtp; 554 delivery error: dd This account has been disabled or discontinued",
			REASON_INACTIVE },
		{ "5.4.4",
			"X-Postfix; Host or domain name not found. Name service error for name=x.example type=A: Host "
			"not found",
			REASON_HOST },
		{ "5.1.10", "smtp; 556 5.1.10 Domain does not accept mail (nullMX)", REASON_HOST },
		{ "", "550 <ada@mail.example>... User unknown", REASON_USER },
		{ "5.0.0", "smtp; 550 User ada is not a member of this domain", REASON_USER },
		{ "5.0.0", "smtp; 605 Not delivering to previously bounced address", REASON_USER },
		{ "5.0.0", "smtp; 550 The domain mail.example does not receive mail", REASON_HOST },
		{ "5.0.0", "smtp; 550-The recipient cannot be verified. 550 Please check it", REASON_USER },
		{ "", "requested action not taken: mailbox unavailable [smtp code 550]", REASON_USER },
		{ "5.0.0", "smtp; 553 the rcpt (cat@mail.example) dosn't exist", REASON_USER },
		{ "5.1.1", "smtp; 550 5.1.1 RCP-P1 https://codes.example/?ip=192.0.2.9#rcp This address does not exist",
			REASON_USER },
	};

	(void)state;
	CHECK(rows);
}

static void a_host_that_is_not_there_is_gone_and_one_that_does_not_answer_is_not(void **state)
{
	static const struct row rows[] = {
		{ "5.0.0", "all relevant MX records point to non-existent hosts", REASON_HOST },
		{ "5.0.0", "all host address lookups failed permanently", REASON_HOST },
		{ "5.0.0", "the MX record of this domain indicated no SMTP service", REASON_HOST },
		{ "5.5.0", "smtp; 554 not delivered: the domain is not reachable, check the domain and try again",
			REASON_HOST },
		{ "4.0.0", "smtp; DNS type 'mx' lookup of b.example responded with code NXDOMAIN", REASON_HOST },
		{ "4.0.0", "smtp; DNS type 'mx' lookup of b.example responded with code SERVFAIL", REASON_NETWORK },
		{ "4.4.3", "X-Postfix; Name service error for name=b.example type=MX: Host not found", REASON_NETWORK },
		{ "5.4.4", "smtp; 554 the mail host is not reachable", REASON_PASSING },
	};

	(void)state;
	CHECK(rows);
}

static void faults_of_ours_and_passing_ones_cost_no_shopper(void **state)
{
	static const struct row rows[] = {
		{ "5.0.0", "smtp; 550 sender account disabled", REASON_SENDER },
		{ "5.2.1", "smtp; 550 5.2.1 The sending account is inactive", REASON_SENDER },
		{ "5.1.8", "smtp; 553 5.1.8 <x@shop.example>... Domain of sender address x@shop.example does not exist",
			REASON_SENDER },
		{ "5.1.7", "smtp; 550 5.1.7 user unknown", REASON_SENDER },
		{ "5.0.0", "smtp; 550 Sender verify failed: no such user", REASON_SENDER },
		{ "5.1.0", "smtp; 550 5.1.0 Sender denied as sender's email address is on SenderFilterConfig list",
			REASON_SENDER },
		{ "5.1.1", "smtp; 550 You are not allowed to send mail to ada", REASON_SENDER },
		{ "5.2.1", "smtp; 550 5.2.1 spf check failed for shop.example", REASON_POLICY },
		{ "5.1.1", "smtp; 554 5.7.1 Service unavailable; Client host [192.0.2.1] blocked using dnsbl.example",
			REASON_POLICY },
		{ "5.0.0", "smtp; 550 5.7.26 This mail has been blocked because the sender is unauthenticated",
			REASON_POLICY },
		{ "5.0.0", "smtp; 550 Please turn on SMTP Authentication in your mail client", REASON_POLICY },
		{ "5.0.0", "smtp; 554 <ada@mail.example>: Relay access denied", REASON_POLICY },
		{ "5.1.0", "smtp; 452 4.5.3 Too many recipients", REASON_RATE },
		{ "5.2.0", "smtp; 550 The user you are trying to contact is receiving mail too quickly", REASON_RATE },
		{ "5.0.0", "smtp; 554 Service unavailable", REASON_PASSING },
		{ "5.0.0", "smtp; 550 cannot verify recipient: LDAP lookup failed", REASON_SYSTEM },
		{ "5.0.0", "smtp; 554 mailbox database unavailable", REASON_SYSTEM },
		{ "5.1.1", "smtp; 552 <ada@mail.example>: mailbox is full", REASON_FULL },
		{ "5.2.0", "smtp; 552 5.2.2 over quota", REASON_FULL },
		{ "5.1.1", "smtp; 550 Rejected by filter", REASON_POLICY },
		{ "5.0.0", "smtp; 550 5.1.1 RCP-P2 Refused due to recipient preferences", REASON_POLICY },
		{ "5.0.0", "smtp; 550 Message looks like spam", REASON_CONTENT },
		{ "4.4.3", "X-Postfix; Name service error for name=x.example type=MX: Host not found, try again",
			REASON_NETWORK },
		{ "4.2.0", "smtp; 450 4.2.0 <ada@mail.example>: Recipient address rejected: Greylisted",
			REASON_PASSING },
		{ "4.4.7", "smtp; delivery time expired", REASON_EXPIRED },
		{ "5.3.4", "smtp; 552 5.3.4 Message too big for system", REASON_SIZE },
		{ "5.4.6", "smtp; 554 5.4.6 Too many hops", REASON_RATE },
		{ "5.7.1", "smtp; 550 5.7.1", REASON_UNCLEAR }, { "5.0.0", "smtp; 550 rejected", REASON_UNCLEAR },
		{ "", "the host 5.1.1.1 answered", REASON_UNCLEAR }, /* an address of IPv4 */
	};

	(void)state;
	CHECK(rows);
}

static void of_several_codes_the_first_that_says_why_counts(void **state)
{
	static const struct row rows[] = {
		{ "", "smtp; 5.0.0 5.2.2", REASON_FULL }, { "", "smtp; 5.3.4 5.2.2", REASON_SIZE },
		{ "5.0.0", "smtp; 5.7.1 5.1.1", REASON_USER },
		{ "5.1.1", "smtp; 5.7.1 5.4.0", REASON_UNCLEAR }, /* none of the two says why */
		{ "5.0.0", "smtp; 2.1.1 5.2.2", REASON_FULL },    /* one of success is of another recipient */
	};

	(void)state;
	CHECK(rows);
}

static void who_will_be_tried_again_is_not_gone(void **state)
{
	(void)state;
	assert_int_equal(of("4.1.1", "smtp; 450 4.1.1 User unknown", false), REASON_PASSING);
	assert_int_equal(of("5.1.1", "smtp; 550 5.1.1 User unknown", false), REASON_USER);
}

static void a_server_that_answered_with_a_4_says_nothing_for_good(void **state)
{
	(void)state;
	assert_int_equal(of("4.1.1", "smtp; 450 4.1.1 <a@b.example>: User unknown in local recipient table", true),
		REASON_PASSING);
	assert_int_equal(of("5.2.1", "smtp; 450 4.2.1 <a@b.example>: mailbox disabled", true), REASON_PASSING);
	assert_int_equal(of("5.0.0", "smtp; 450 User unknown (lookup error)", true), REASON_SYSTEM);
	assert_int_equal(of("4.4.7", "smtp; 550 user unknown", true), REASON_USER);
}

static void a_bare_refusal_of_the_recipient_says_less_beside_a_code_of_policy(void **state)
{
	static const struct row rows[] = {
		{ "5.4.1", "smtp; 550 5.4.1 All recipient addresses rejected : Access denied", REASON_USER },
		{ "5.7.1", "smtp; 554 5.7.1 <a@b.example>: Recipient address rejected: Access denied", REASON_POLICY },
		{ "5.7.1", "smtp; 550 5.7.1 <a@b.example>: Recipient address rejected: no such user", REASON_USER },
		{ "5.7.1", "smtp; 550 5.7.1 <a@b.example>: Recipient address rejected: for internal senders only",
			REASON_POLICY },
	};
	(void)state;
	CHECK(rows);
}

static void what_is_tidied_is_bounded_and_compares(void **state)
{
	struct buffer text = { 0 }, tidy = { 0 };

	(void)state;
	words_tidy(bytes_of("  550-5.1.1 User \"<Ada@Mail.Example>\" is\r\n\t550-5.1.1\xc2\xa0 UNKNOWN."), &tidy);
	assert_string_equal(buffer_text(&tidy), "user @ is unknown.");
	words_tidy(bytes_of("MAIL FROM:<a@b.example> \xff\xfe RCPT TO:<c@d.example>."), &tidy);
	assert_non_null(strstr(buffer_text(&tidy), "mail from:@"));
	for (int i = 0; i < 100000; i++)
		buffer_add_text(&text, "mailbox ");
	words_tidy(buffer_bytes(&text), &tidy);
	assert_true(tidy.len <= WORDS_MOST);
	assert_null(words_find(buffer_text(&tidy), "mailbox*not found"));
	assert_non_null(words_find("the mailbox @ was not found", "mailbox*not found"));
	assert_null(words_find("the mailbox @ was removed", "mailbox*moved")); /* a word begins where it does */
	assert_null(words_find("submailbox full", "mailbox full"));
	buffer_free(&text);
	buffer_free(&tidy);
}

static void other_words_of_other_servers_name_a_user_too(void **state)
{
	static const struct row rows[] = {
		{ "5.0.0", "smtp; 550 no one with that name is here", REASON_USER },
		{ "5.0.0", "smtp; 550 Unable to find alias for ada", REASON_USER },
		{ "5.0.0", "smtp; 553 there is no mail-box here called ada, no mail-box by that name", REASON_USER },
		{ "5.0.0", "smtp; 550 recipient <ada@mail.example> unrecognized", REASON_USER },
		{ "5.0.0", "smtp; 550 I cannot deliver mail for <ada@mail.example>", REASON_USER },
		{ "5.0.0", "smtp; 553 this domain or user isn't in my list", REASON_USER },
		{ "5.0.0", "smtp; 550 \xd0\xbd\xd0\xb5\xd1\x82 \xd1\x82\xd0\xb0\xd0\xba\xd0\xbe\xd0\xb3\xd0\xbe",
			REASON_USER },
		{ "5.0.0", "smtp; 550 ei l\xc3\xb6ydy", REASON_USER },
		{ "5.0.0", "smtp; 550 mailbox blocked due to inactivity", REASON_INACTIVE },
		{ "5.5.0", "smtp; 550 5.5.0 le compte de ada est bloqu\xc3\xa9", REASON_INACTIVE },
		{ "5.0.0", "smtp; 550 ha expirado", REASON_INACTIVE },
		{ "5.0.0", "smtp; 550 the host name is unknown", REASON_HOST },
		{ "5.0.0", "smtp; 550 unkown recipient ada", REASON_USER },
		{ "5.0.0", "smtp; 550 es gibt keine ada", REASON_USER },
		{ "5.0.0", "smtp; 550 the receiver ada: receiver unknown", REASON_USER },
		{ "5.0.0", "smtp; 550 that domain is not in use", REASON_HOST },
		{ "5.0.0", "smtp; 550 unable to verify recipient", REASON_USER },
		{ "5.0.0", "smtp; 553 that mailbox name is not allowed", REASON_USER },
	};
	(void)state;
	CHECK(rows);
}

static void a_code_that_says_one_thing_is_believed_without_words(void **state)
{
	static const struct row rows[] = {
		{ "5.7.13", "smtp; 525 5.7.13 no", REASON_INACTIVE },
		{ "5.7.17", "smtp; 550 5.7.17 no", REASON_USER },
		{ "5.7.18", "smtp; 550 5.7.18 no", REASON_HOST },
		{ "5.2.1", "smtp; 550 5.2.1 this user is receiving mail at a rate that is too high", REASON_RATE },
	};
	(void)state;
	CHECK(rows);
}

static void numbers_with_a_blank_or_a_sign_between_are_no_code(void **state)
{
	static const struct row rows[] = {
		{ "", "550 see section 5.1. 1 zebra per herd", REASON_UNCLEAR },
		{ "", "550 zebras of release 5.1.-1", REASON_UNCLEAR },
	};
	(void)state;
	CHECK(rows);
}

static void a_refusal_is_no_unknown_user_because_qmail_names_the_recipient(void **state)
{
	static const char *const said[] = { "550 no relaying allowed", "550 requires that you verify yourself",
		"550 transaction rejected", "550 OU-001", "550 permanently deferred", "500 unrecognized command",
		"550 sender address user unknown", "550 you asked for too many addresses that are unknown",
		"501 5.5.4 invalid domain", "550 the frequency of your mails is limited, mailbox unavailable",
		"550 we are not a gateway, no such user", "550 no such file or directory",
		"550 certificate is expired" };

	(void)state;
	for (size_t i = 0; i < sizeof(said) / sizeof(said[0]); i++) {
		char words[200];
		snprintf(words, sizeof(words),
			"<ada@mail.example>: 192.0.2.9 does not like recipient. Remote host said: %s", said[i]);
		if (reason_is_permanent(of("", words, true)))
			fail_msg("%s: %s", said[i], reason_name(of("", words, true)));
	}
}

/* As answers of 550 that nothing else speaks of. */
static enum reason of_answer(const char *said)
{
	char words[300];

	snprintf(words, sizeof(words), "smtp; 550 %s", said);
	return of("5.0.0", words, true);
}

static void a_mailbox_that_is_not_there_is_told_in_any_language(void **state)
{
	static const char *const said[] = {
		"Der Empf\xc3\xa4nger <a@b.example> existiert nicht",
		"Postfach existiert nicht",
		"Le compte n'existe pas",
		"La cuenta de correo no existe",
		"Conta inexistente",
		"endere\xc3\xa7o inv\xc3\xa1lido",
		"Indirizzo inesistente",
		"Odbiorca nie istnieje",
		"Dit adres bestaat niet",
		"Mottaker ukjent",
		"Schr\xc3\xa1nka neexistuje",
		"\xd0\x9f\xd0\xbe\xd0\xbb\xd1\x8c\xd0\xb7\xd0\xbe\xd0\xb2\xd0\xb0\xd1\x82\xd0\xb5\xd0\xbb\xd1\x8c "
		"\xd0\xbd\xd0\xb5 \xd0\xbd\xd0\xb0\xd0\xb9\xd0\xb4\xd0\xb5\xd0\xbd",
		"\xd0\x90\xd0\xb4\xd1\x80\xd0\xb5\xd1\x81 \xd0\xbd\xd0\xb5 "
		"\xd1\x81\xd1\x83\xd1\x89\xd0\xb5\xd1\x81\xd1\x82\xd0\xb2\xd1\x83\xd0\xb5\xd1\x82",
		"al\xc4\xb1"
		"c\xc4\xb1 bulunamad\xc4\xb1",
		"A felhaszn\xc3\xa1l\xc3\xb3 nem l\xc3\xa9tezik",
		"\xe6\x94\xb6\xe4\xbb\xb6\xe4\xba\xba\xe5\x9c\xb0\xe5\x9d\x80\xe4\xb8\x8d\xe5\xad\x98\xe5\x9c\xa8",
		"\xe9\x82\xae\xe7\xae\xb1\xe5\xb7\xb2\xe6\xb3\xa8\xe9\x94\x80",
		"\xe5\xae\x9b\xe5\x85\x88\xe3\x81\xae\xe3\x82\xa2\xe3\x83\x89\xe3\x83\xac\xe3\x82\xb9\xe3\x81\x8c\xe8"
		"\xa6\x8b\xe3\x81\xa4\xe3\x81\x8b\xe3\x82\x8a\xe3\x81\xbe\xe3\x81\x9b\xe3\x82\x93",
		"Domino "
		"\xe3\x83\x87\xe3\x82\xa3\xe3\x83\xac\xe3\x82\xaf\xe3\x83\x88\xe3\x83\xaa\xe3\x81\xab\xe3\x81\x82\xe3"
		"\x82\x8a\xe3\x81\xbe\xe3\x81\x9b\xe3\x82\x93",
		"\xec\x88\x98\xec\x8b\xa0\xec\x9e\x90\xea\xb0\x80 \xec\xa1\xb4\xec\x9e\xac\xed\x95\x98\xec\xa7\x80 "
		"\xec\x95\x8a\xec\x8a\xb5\xeb\x8b\x88\xeb\x8b\xa4",
		"unavailable mail user",
		"mailbox removed",
		"permanent failure (a@b.example:unknown user)",
		"user path no exist",
		"we don't have any user by that name",
		"no matching user",
		"cannot resolve recipient address to a local mailbox",
		"local server don't exists that user",
		"not user of this server",
		"recipient isn't listed with us",
		"nobody uses this address",
		"Kein solcher Benutzer",
		"unable to validate recipient",
		"mailbox does not exist or has been suspended permanently",
		"e-mail address is not handled by this system",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(said) / sizeof(said[0]); i++)
		if (!reason_is_permanent(of_answer(said[i])))
			fail_msg("%s: %s", said[i], reason_name(of_answer(said[i])));
}

static void who_sent_what_is_full_and_what_is_asleep_is_no_missing_mailbox_in_any(void **state)
{
	static const char *const said[] = {
		"Absender <a@b.example> existiert nicht",
		"exp\xc3\xa9"
		"diteur inconnu",
		"\xe5\x8f\x91\xe4\xbb\xb6\xe4\xba\xba\xe5\x9c\xb0\xe5\x9d\x80\xe4\xb8\x8d\xe5\xad\x98\xe5\x9c\xa8",
		"\xe9\x80\x81\xe4\xbf\xa1\xe8\x80\x85\xe3\x81\xae\xe3\x82\xa2\xe3\x83\x89\xe3\x83\xac\xe3\x82\xb9\xe3"
		"\x81\xaf\xe5\xad\x98\xe5\x9c\xa8\xe3\x81\x97\xe3\x81\xbe\xe3\x81\x9b\xe3\x82\x93",
		"\xd0\x9e\xd1\x82\xd0\xbf\xd1\x80\xd0\xb0\xd0\xb2\xd0\xb8\xd1\x82\xd0\xb5\xd0\xbb\xd1\x8c "
		"\xd0\xbd\xd0\xb5 \xd0\xbd\xd0\xb0\xd0\xb9\xd0\xb4\xd0\xb5\xd0\xbd",
		"\xeb\xb0\x9b\xeb\x8a\x94 \xec\x82\xac\xeb\x9e\x8c\xec\x9d\x98 "
		"\xeb\xa9\x94\xec\x9d\xbc\xeb\xb0\x95\xec\x8a\xa4 \xea\xb3\xb5\xea\xb0\x84\xec\x9d\xb4 "
		"\xec\x97\x86\xec\x8a\xb5\xeb\x8b\x88\xeb\x8b\xa4",
		"\xe5\x8f\x97\xe4\xbf\xa1\xe8\x80\x85\xe3\x81\xae\xe3\x83\xa1\xe3\x83\xbc\xe3\x83\xab\xe3\x83\x9c\xe3"
		"\x83\x83\xe3\x82\xaf\xe3\x82\xb9\xe3\x81\xab\xe7\xa9\xba\xe3\x81\x8d\xe3\x81\x8c\xe3\x81\x82\xe3\x82"
		"\x8a\xe3\x81\xbe\xe3\x81\x9b\xe3\x82\x93",
		"suspected spam, user unknown to reputation service",
		"protocol violation",
		"User suspended",
		"user is locked",
		"message sending for this account is disabled",
		"mailbox currently suspended",
		"no, the user has not opted in to our opt-in list and does not exist there",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(said) / sizeof(said[0]); i++)
		if (reason_is_permanent(of_answer(said[i])))
			fail_msg("%s: %s", said[i], reason_name(of_answer(said[i])));
}

static void a_guess_of_sendmails_is_worth_no_more_than_the_words_it_was_made_of(void **state)
{
	static const struct row rows[] = {
		{ "5.1.1", "SMTP; 550 zebras are not welcome", REASON_UNCLEAR },
		{ "5.1.1", "SMTP; 550 zebra", REASON_USER },
		{ "5.1.1", "SMTP; 550 5.1.1 zebras are not welcome", REASON_USER },
		{ "5.1.1", "SMTP; 550 that user is unknown to us", REASON_USER },
		{ "5.1.2", "SMTP; 550 zebras are not welcome", REASON_HOST },
		{ "5.1.1", "", REASON_USER },
		{ "5.0.0", "smtp; 550 your host name does not exist", REASON_POLICY },
		{ "5.0.0", "smtp; 550 cannot verify return address: no such user", REASON_SENDER },
		{ "5.0.0", "smtp; 550 the mailbox could not be located", REASON_USER },
	};
	(void)state;
	CHECK(rows);
}

/* Each of these says "not found", "unknown" or "invalid" of somebody or something else. */
static void who_or_what_else_is_unknown_costs_no_shopper(void **state)
{
	static const char *const said[] = {
		"DNS lookup of your sending domain failed: host not found",
		"authentication required: user a@b.example not local",
		"message contains invalid header: To: address invalid",
		"your account does not have permission to send to this address",
		"Backscatter protection detected an invalid or expired email address",
		"bad destination system: cannot connect to mail host",
		"503 no valid recipients, MAIL first",
		"Sender address has null MX",
		"the sender's host is not known to us",
		"your mail server announces itself with an unknown name",
		"mail to this recipient is only possible after registration of the sender",
		"Command died with status 127: \"/usr/bin/procmail -a $DOMAIN\". Command output: procmail: not found",
		"user unknown to the directory: internal error, come back later",
		"the account is currently disabled",
		"mailbox suspended - unpaid",
		"the HELO for this IP address was shop (unknown host)",
		"address verification of sender failed: no such address",
		"sender IP reverse lookup rejected: host not found",
		"your provider is blocked for sending to invalid addresses",
		"the IP was seen to mail invalid addresses",
		"550 the mailbox is frozen until its owner comes back",
		"550 5.1.1 RCP-P2 the recipient's preferences do not allow it",
		"550 5.1.1 RCP-P3 the recipient's privacy settings do not allow it",
		"mailbox unavailable or access denied",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(said) / sizeof(said[0]); i++)
		if (reason_is_permanent(of_answer(said[i])))
			fail_msg("%s: %s", said[i], reason_name(of_answer(said[i])));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_guess_of_sendmails_is_worth_no_more_than_the_words_it_was_made_of),
		cmocka_unit_test(a_mailbox_that_is_not_there_is_told_in_any_language),
		cmocka_unit_test(who_sent_what_is_full_and_what_is_asleep_is_no_missing_mailbox_in_any),
		cmocka_unit_test(other_words_of_other_servers_name_a_user_too),
		cmocka_unit_test(a_code_that_says_one_thing_is_believed_without_words),
		cmocka_unit_test(numbers_with_a_blank_or_a_sign_between_are_no_code),
		cmocka_unit_test(a_refusal_is_no_unknown_user_because_qmail_names_the_recipient),
		cmocka_unit_test(words_that_name_an_unknown_user_are_believed_under_any_code),
		cmocka_unit_test(a_host_that_is_not_there_is_gone_and_one_that_does_not_answer_is_not),
		cmocka_unit_test(faults_of_ours_and_passing_ones_cost_no_shopper),
		cmocka_unit_test(of_several_codes_the_first_that_says_why_counts),
		cmocka_unit_test(who_will_be_tried_again_is_not_gone),
		cmocka_unit_test(a_server_that_answered_with_a_4_says_nothing_for_good),
		cmocka_unit_test(a_bare_refusal_of_the_recipient_says_less_beside_a_code_of_policy),
		cmocka_unit_test(who_or_what_else_is_unknown_costs_no_shopper),
		cmocka_unit_test(what_is_tidied_is_bounded_and_compares),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
