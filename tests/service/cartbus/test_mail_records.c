/* test_mail_records.c: which SPF, DKIM and DMARC records mailboxes will believe */
#include "services/cartbus/doctor/mail_records.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* openssl genrsa, openssl rsa -pubout: made for this test, of 2048, 1024 and 512 bits */
#define RSA_2048                                                                                                       \
	"MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAtNdDR2YsGI6X240lciWdHm62w/Z2lmnJ/X3UbWjbNEdtEb"                   \
	"muUVFlyQoMaUMmykCtpWs5sMzqYPIJyLNpm7m3BeLrZ1/rybZVrn0vdM2nS3rfgc6nlx5G0aLJOYDrpFbUb60KBE7y"                   \
	"LiOr0XJ9+t1TDaEDe/TA9pmUERyTFAi2gN+uAAA7zv7gahIrAK7PM7f4D4Msew8CcsYtFy9lSNoUZJ25nOg0N1oVG4"                   \
	"PP/AoB1z9KNDbtxnmWWJL/jkJsTyzUM0B6J89CgX7WIzGQHPvYw6jSgwIF86cSJEY/n7/j5YCO1wKskJZh7NmghLuJ"                   \
	"AP7cIzCkpdz448EOGKI9wLvFpwIDAQAB"
#define RSA_1024                                                                                                       \
	"MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQCzSPdpnPqWixqsFsJ0ZFRZ2/ndJmocWkbvHdG1Q4CDlBqkD+LHds"                   \
	"Ckz6DGaRazzmeCNAxWvBobG1MdGhjgABsSatGdrcXXe66pxI7KetC1oapeDo9JNC+V3+Qo8ZZVom7sW2TRMIFnNW2K"                   \
	"3mUpVfkD5ZegP1muDangmoL1LXselQIDAQAB"
#define RSA_512                                                                                                        \
	"MFwwDQYJKoZIhvcNAQEBBQADSwAwSAJBAL86fvJksFmlX/x48LGCP3rWKjevG4OM6tyfvvEDwcr/SftKeiKHMkbQVl"                   \
	"B5Nvg1euF6ayYVucAFzY2EmOCPSDECAwEAAQ=="
#define ED25519 "11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=" /* RFC 8463 A.2 */

typedef void judge_fn(const struct dns_texts *texts, struct record_judgement *ret);

static const struct {
	judge_fn *judge;
	enum record_state state;
	const char *texts[3];
} cases[] = {
	{ spf_judge, RECORD_GOOD, { "v=spf1 include:mail.example -all", "other=1" } },
	{ spf_judge, RECORD_GOOD, { "V=SPF1 ip4:192.0.2.1 ~all" } },
	{ spf_judge, RECORD_GOOD, { "v=spf1 redirect=_spf.mail.example" } },
	{ spf_judge, RECORD_NONE, { NULL } },
	{ spf_judge, RECORD_NONE, { "v=spf10 -all", "spf2.0/pra -all" } },
	{ spf_judge, RECORD_BAD, { "v=spf1 a -all", "v=spf1 mx -all" } },
	{ spf_judge, RECORD_BAD, { "v=spf1 +all" } },
	{ spf_judge, RECORD_BAD, { "v=spf1 all" } },
	{ spf_judge, RECORD_BAD,
		{ "v=spf1 a mx ptr exists:a.example include:1.example include:2.example include:3.example a:4.example "
		  "mx:5.example include:6.example include:7.example -all" } },
	{ spf_judge, RECORD_GOOD,
		{ "v=spf1 a mx ptr exists:a.example include:1.example include:2.example include:3.example a:4.example "
		  "mx:5.example include:6.example ip4:192.0.2.1 -all" } },
	{ spf_judge, RECORD_GOOD, { "v=spf1 a -all +all" } },
	{ spf_judge, RECORD_DOUBTFUL, { "v=spf1 a ?all" } },
	{ spf_judge, RECORD_DOUBTFUL, { "v=spf1 a" } },
	{ dkim_judge, RECORD_GOOD, { "v=DKIM1; k=rsa; p=" RSA_2048 } },
	{ dkim_judge, RECORD_GOOD, { "p=" RSA_2048 ";" } },
	{ dkim_judge, RECORD_GOOD, { "v=DKIM1; k=ed25519; p=" ED25519 } },
	{ dkim_judge, RECORD_DOUBTFUL, { "v=DKIM1; t=y; p=" RSA_2048 } },
	{ dkim_judge, RECORD_DOUBTFUL, { "v=DKIM1; t=s:y; p=" RSA_2048 } },
	{ dkim_judge, RECORD_GOOD, { "v=DKIM1; t=s; p=" RSA_2048 } },
	{ dkim_judge, RECORD_BAD, { "v=DKIM2; p=" RSA_2048 } },
	{ dkim_judge, RECORD_BAD, { "v=DKIM1; k=rsa" } },
	{ dkim_judge, RECORD_DOUBTFUL, { "v=DKIM1; p=" RSA_1024 } },
	{ dkim_judge, RECORD_BAD, { "v=DKIM1; p=" RSA_512 } },
	{ dkim_judge, RECORD_BAD, { "v=DKIM1; p=" } },
	{ dkim_judge, RECORD_BAD, { "v=DKIM1; p=MIIBIjANBgkqhkiG9w0BAQEFAAOC" } },
	{ dkim_judge, RECORD_BAD, { "v=DKIM1; p=?" } },
	{ dkim_judge, RECORD_BAD, { "v=DKIM1; k=ed25519; p=" RSA_1024 } },
	{ dkim_judge, RECORD_BAD, { "v=spf1 -all" } },
	{ dkim_judge, RECORD_BAD, { "p=" RSA_2048, "p=" RSA_2048 } },
	{ dkim_judge, RECORD_NONE, { NULL } },
	{ dmarc_judge, RECORD_GOOD, { "v=DMARC1; p=reject; rua=mailto:d@shop.example" } },
	{ dmarc_judge, RECORD_GOOD, { "v=DMARC1;p=none" } },
	{ dmarc_judge, RECORD_GOOD, { "v=DMARC1; p = quarantine", "v=spf1 -all" } },
	{ dmarc_judge, RECORD_BAD, { "v=DMARC1; rua=mailto:d@shop.example" } },
	{ dmarc_judge, RECORD_BAD, { "v=DMARC1; p=monitor" } },
	{ dmarc_judge, RECORD_BAD, { "v=DMARC1; p=none", "v=DMARC1; p=reject" } },
	{ dmarc_judge, RECORD_NONE, { "v=DMARC12; p=none" } },
	{ dmarc_judge, RECORD_NONE, { NULL } },
};

static void a_record_is_judged_as_mailboxes_would(void **state)
{
	static struct dns_texts texts;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct record_judgement found;

		for (texts.count = 0; texts.count < 3 && cases[i].texts[texts.count]; texts.count++)
			snprintf(texts.each[texts.count], DNS_TEXT_ROOM, "%s", cases[i].texts[texts.count]);
		cases[i].judge(&texts, &found);
		if (found.state != cases[i].state)
			fail_msg("case %zu, %s: %d, %s", i, cases[i].texts[0] ? cases[i].texts[0] : "", found.state,
				found.words);
		if ((found.state == RECORD_GOOD) != (found.remedy[0] == '\0'))
			fail_msg("case %zu: \"%s\" helps with \"%s\"", i, found.remedy, found.words);
	}
}

/* What is wrong is said, and behind it what helps. */
static void each_fault_has_words_and_a_remedy_of_its_own(void **state)
{
	static const struct {
		judge_fn *judge;
		const char *text, *words, *remedy;
	} faults[] = {
		{ spf_judge, "v=spf1 +all", "its SPF record lets anybody send (+all)", "end it with -all or ~all" },
		{ spf_judge, "v=spf1 a", "its SPF record says nothing of other senders", "end it with -all or ~all" },
		{ dkim_judge, "v=DKIM1; p=" RSA_512, "its DKIM key is too short to be believed",
			"make a key of 2048 bits" },
		{ dkim_judge, "v=DKIM1; p=" RSA_1024, "its DKIM key is short", "make a key of 2048 bits" },
		{ dkim_judge, "v=DKIM1; p=?", "its DKIM key is none: cut, or copied wrong",
			"publish the key anew, as the mail server gives it" },
		{ dkim_judge, "p=", "its DKIM key is revoked (p= is empty)",
			"sign with another key, and name its selector in shop.conf" },
		{ dkim_judge, "t=y; p=" RSA_2048, "its DKIM key is for tests only (t=y)", "remove t=y" },
		{ dmarc_judge, "v=DMARC1; p=none", "a DMARC record that only watches (p=none)", "" },
		{ dmarc_judge, "v=DMARC1; p=reject", "a DMARC record", "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(faults) / sizeof(*faults); i++) {
		static struct dns_texts texts;
		struct record_judgement found;

		texts.count = 1;
		snprintf(texts.each[0], DNS_TEXT_ROOM, "%s", faults[i].text);
		faults[i].judge(&texts, &found);
		assert_string_equal(found.words, faults[i].words);
		assert_string_equal(found.remedy, faults[i].remedy);
	}
}

/* A key may be as long as a record, which anybody publishes: it is decoded only where it fits. */
static void a_key_of_any_length_is_judged(void **state)
{
	static struct dns_texts texts = { .count = 1 };

	(void)state;
	for (size_t len = 1; len < DNS_TEXT_ROOM - 10; len++) {
		struct record_judgement found;

		snprintf(texts.each[0], DNS_TEXT_ROOM, "p=");
		memset(texts.each[0] + 2, 'A', len);
		texts.each[0][2 + len] = '\0';
		dkim_judge(&texts, &found);
		assert_int_equal(found.state, RECORD_BAD);
		assert_string_equal(found.words, "its DKIM key is none: cut, or copied wrong");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_record_is_judged_as_mailboxes_would),
		cmocka_unit_test(each_fault_has_words_and_a_remedy_of_its_own),
		cmocka_unit_test(a_key_of_any_length_is_judged),
	};

	return cmocka_run_group_tests_name("cartbus.mail_records", tests, NULL, NULL);
}
