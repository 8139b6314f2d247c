/*
 * mail_records.c: judges a domain's SPF, DKIM and DMARC records
 *
 * Promises:  judges by the records alone. It does not tell whether SPF names the mail server's address,
 *            because cartbus does not see from which address that server sends.
 */
#include "services/cartbus/doctor/mail_records.h"

#include "bus/base/text.h"
#include <openssl/evp.h>
#include <openssl/x509.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { SPF_LOOKUPS_MOST = 10, RSA_BITS_LEAST = 1024, RSA_BITS_WANTED = 2048, ED25519_BYTES = 32, KEY_BYTES_MAX = 1600 };

static void judge(struct record_judgement *ret, enum record_state state, const char *words, const char *remedy)
{
	ret->state = state;
	TEXT_COPY(ret->words, words);
	TEXT_COPY(ret->remedy, remedy);
}

/* Finds the record that begins with this version, and returns how many such records there are. */
static int count_of(const struct dns_texts *texts, const char *version, const char *ends, const char **ret)
{
	size_t len = strlen(version);
	int count = 0;

	for (int i = 0; i < texts->count; i++) {
		const char *text = texts->each[i];

		if (strncasecmp(text, version, len) == 0 && (!text[len] || strchr(ends, text[len]))) {
			*ret = text;
			count++;
		}
	}
	return count;
}

/* ---- SPF ---- */

struct spf {
	int lookups;
	char all; /* the qualifier of "all"; 0: there is none */
	bool redirects;
};

static bool is_term(const char *term, const char *name)
{
	size_t len = strlen(name);

	return strncasecmp(term, name, len) == 0 && (!term[len] || strchr(":/=", term[len]));
}

/* Reads one term. It counts the terms for which a mailbox must ask further DNS questions (RFC 7208 4.6.4). */
static void read_term(struct spf *spf, const char *term)
{
	static const char *const asks[] = { "include", "a", "mx", "ptr", "exists", "redirect" };
	char qualifier = strchr("+-~?", *term) ? *term++ : '+';

	if (strcasecmp(term, "all") == 0 && !spf->all)
		spf->all = qualifier;
	if (is_term(term, "redirect"))
		spf->redirects = true;
	for (size_t i = 0; i < sizeof(asks) / sizeof(*asks); i++)
		spf->lookups += is_term(term, asks[i]);
}

static void read_spf(const char *record, struct spf *ret)
{
	char copy[DNS_TEXT_ROOM], *rest = NULL;

	*ret = (struct spf){ 0 };
	TEXT_COPY(copy, record);
	strtok_r(copy, " ", &rest); /* its version */
	for (char *term = strtok_r(NULL, " ", &rest); term; term = strtok_r(NULL, " ", &rest))
		read_term(ret, term);
}

void spf_judge(const struct dns_texts *texts, struct record_judgement *ret)
{
	const char *record = NULL;
	int count = count_of(texts, "v=spf1", " ", &record);
	struct spf spf;

	if (count == 0)
		return judge(ret, RECORD_NONE, "no SPF record",
			"add a TXT record there, as v=spf1 include:YOUR-MAIL-PROVIDER -all (or ip4:ADDRESS of your own "
			"server)");
	if (count > 1)
		return judge(ret, RECORD_BAD, "several SPF records, so none counts", "make one TXT record of them");
	read_spf(record, &spf);
	if (spf.lookups > SPF_LOOKUPS_MOST)
		return judge(ret, RECORD_BAD,
			"its SPF record needs more than ten further questions, so it does not count",
			"replace includes by ip4: and ip6:");
	if (spf.all == '+')
		return judge(ret, RECORD_BAD, "its SPF record lets anybody send (+all)", "end it with -all or ~all");
	if (spf.all == '?' || (!spf.all && !spf.redirects))
		return judge(ret, RECORD_DOUBTFUL, "its SPF record says nothing of other senders",
			"end it with -all or ~all");
	judge(ret, RECORD_GOOD, "one SPF record, which says who may send and who may not", "");
}

/* ---- tags: "v=DKIM1; p=..." (RFC 6376 3.2) ---- */

/* The value without its blanks, which may stand anywhere in a key. false: the record has no such tag. */
static bool tag_of(const char *record, const char *name, char ret[DNS_TEXT_ROOM])
{
	char copy[DNS_TEXT_ROOM], *rest = NULL;
	size_t len = strlen(name);

	TEXT_COPY(copy, record);
	for (char *tag = strtok_r(copy, ";", &rest); tag; tag = strtok_r(NULL, ";", &rest)) {
		tag += strspn(tag, " \t");
		size_t end = strcspn(tag, " \t=");
		const char *value = tag + end + strspn(tag + end, " \t");
		size_t at = 0;

		if (end != len || strncmp(tag, name, len) != 0 || *value != '=')
			continue;
		for (value++; *value; value++)
			if (!strchr(" \t", *value))
				ret[at++] = *value;
		ret[at] = '\0';
		return true;
	}
	return false;
}

/* ---- DKIM ---- */

static int decode_key(const char *base64, unsigned char ret[KEY_BYTES_MAX])
{
	size_t len = strlen(base64), padding = 0;

	if (len % 4 || len / 4 * 3 > KEY_BYTES_MAX)
		return -1;
	while (padding < 2 && padding < len && base64[len - 1 - padding] == '=')
		padding++;
	int bytes = EVP_DecodeBlock(ret, (const unsigned char *)base64, (int)len);
	return bytes < 0 ? -1 : bytes - (int)padding;
}

/* The bits of an RSA key; 0: this is no RSA key. */
static int rsa_bits(const unsigned char *bytes, int len)
{
	EVP_PKEY *key = d2i_PUBKEY(NULL, &bytes, len);
	int bits = key && EVP_PKEY_get_base_id(key) == EVP_PKEY_RSA ? EVP_PKEY_get_bits(key) : 0;

	EVP_PKEY_free(key);
	return bits;
}

static void judge_key(const char *base64, bool is_ed25519, struct record_judgement *ret)
{
	unsigned char bytes[KEY_BYTES_MAX];
	int len = decode_key(base64, bytes), bits = len > 0 && !is_ed25519 ? rsa_bits(bytes, len) : 0;

	if (is_ed25519 ? len != ED25519_BYTES : bits == 0)
		return judge(ret, RECORD_BAD, "its DKIM key is none: cut, or copied wrong",
			"publish the key anew, as the mail server gives it");
	if (!is_ed25519 && bits < RSA_BITS_LEAST)
		return judge(ret, RECORD_BAD, "its DKIM key is too short to be believed", "make a key of 2048 bits");
	if (!is_ed25519 && bits < RSA_BITS_WANTED)
		return judge(ret, RECORD_DOUBTFUL, "its DKIM key is short", "make a key of 2048 bits");
	judge(ret, RECORD_GOOD, "a DKIM key", "");
}

void dkim_judge(const struct dns_texts *texts, struct record_judgement *ret)
{
	static const char again[] = "publish one TXT record there, v=DKIM1; k=rsa; p=... as the mail server gives it";
	char value[DNS_TEXT_ROOM];

	if (texts->count == 0)
		return judge(ret, RECORD_NONE, "no DKIM key", again);
	if (texts->count > 1)
		return judge(ret, RECORD_BAD, "several DKIM keys with one selector: which one counts is open", again);
	const char *record = texts->each[0];
	if ((tag_of(record, "v", value) && strcmp(value, "DKIM1") != 0) || !tag_of(record, "p", value))
		return judge(ret, RECORD_BAD, "what stands there is no DKIM key", again);
	if (!*value)
		return judge(ret, RECORD_BAD, "its DKIM key is revoked (p= is empty)",
			"sign with another key, and name its selector in shop.conf");
	char kind[DNS_TEXT_ROOM] = "rsa", flags[DNS_TEXT_ROOM] = "";
	tag_of(record, "k", kind);
	tag_of(record, "t", flags);
	judge_key(value, strcmp(kind, "ed25519") == 0, ret);
	if (ret->state == RECORD_GOOD && (flags[0] == 'y' || strstr(flags, ":y")))
		judge(ret, RECORD_DOUBTFUL, "its DKIM key is for tests only (t=y)", "remove t=y");
}

/* ---- DMARC ---- */

void dmarc_judge(const struct dns_texts *texts, struct record_judgement *ret)
{
	static const char add[] = "add a TXT record at _dmarc of the domain, as v=DMARC1; p=none; rua=mailto:YOU, and "
				  "p=quarantine when all is well";
	const char *record = NULL;
	int count = count_of(texts, "v=DMARC1", "; \t", &record);
	char policy[DNS_TEXT_ROOM];

	if (count == 0)
		return judge(ret, RECORD_NONE, "no DMARC record, which large mailboxes ask for", add);
	if (count > 1)
		return judge(ret, RECORD_BAD, "several DMARC records, so none counts", "leave one of them");
	if (!tag_of(record, "p", policy))
		return judge(ret, RECORD_BAD, "its DMARC record has no p=, so it does not count", add);
	if (strcasecmp(policy, "none") != 0 && strcasecmp(policy, "quarantine") != 0 &&
		strcasecmp(policy, "reject") != 0)
		return judge(ret, RECORD_BAD, "p= of its DMARC record is none of none, quarantine and reject", add);
	judge(ret, RECORD_GOOD,
		strcasecmp(policy, "none") == 0 ? "a DMARC record that only watches (p=none)" : "a DMARC record", "");
}
