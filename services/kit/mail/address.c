/*
 * address.c: one spelling of a mail address
 *
 * Promises:  an accepted address can stand unchanged in an SMTP envelope and in a header: it is ASCII,
 *            without quoting or control characters.
 * Fails by:  -EINVAL for any other text. Addresses that need SMTPUTF8 or quoting exist, but are rare, and are
 *            refused.
 * Read next: address_hash.c, shop.c (never-mail lists)
 */
#include "services/kit/mail/address.h"
#include "bus/base/log.h"
#include "bus/base/text.h"
#include "services/kit/mail/bounce_tag.h"
#include <errno.h>
#include <string.h>
#include <unicode/uidna.h>

enum { LOCAL_MAX = 64, LABEL_MAX = 63 };

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* RFC 5321 section 4.1.2: Dot-string of atext (RFC 5322 section 3.2.3). */
static bool local_part_valid(const char *local, size_t len)
{
	if (len == 0 || len > LOCAL_MAX || local[0] == '.' || local[len - 1] == '.')
		return false;
	for (size_t i = 0; i < len; i++) {
		if (local[i] == '.' && local[i + 1] == '.')
			return false;
		if (!is_letter(local[i]) && !is_digit(local[i]) &&
			(!local[i] || !strchr("!#$%&'*+-/=?^_`{|}~.", local[i])))
			return false;
	}
	return true;
}

static bool label_valid(const char *label, size_t len)
{
	if (len == 0 || len > LABEL_MAX || label[0] == '-' || label[len - 1] == '-')
		return false;
	for (size_t i = 0; i < len; i++)
		if (!is_letter(label[i]) && !is_digit(label[i]) && label[i] != '-')
			return false;
	return true;
}

static bool all_digits(const char *text)
{
	return text[strspn(text, "0123456789")] == '\0';
}

static bool domain_valid(const char *domain)
{
	const char *label = domain;
	int labels = 1;

	for (const char *dot; (dot = strchr(label, '.')); label = dot + 1, labels++)
		if (!label_valid(label, (size_t)(dot - label)))
			return false;
	return labels >= 2 && label_valid(label, strlen(label)) && !all_digits(label);
}

/* Converts a domain to the form that DNS and SMTP know: IDNA 2008, read by the rules of UTS 46. */
static int domain_to_ascii(const char *domain, size_t len, char *ret, size_t room)
{
	static UIDNA *idna;
	UErrorCode error = U_ZERO_ERROR;
	UIDNAInfo info = UIDNA_INFO_INITIALIZER;

	if (!idna)
		idna = uidna_openUTS46(
			UIDNA_USE_STD3_RULES | UIDNA_CHECK_BIDI | UIDNA_CHECK_CONTEXTJ | UIDNA_NONTRANSITIONAL_TO_ASCII,
			&error);
	if (U_FAILURE(error))
		die("cannot load ICU's IDNA tables: %s (is the package libicu72 complete?)", u_errorName(error));

	int32_t made = uidna_nameToASCII_UTF8(idna, domain, (int32_t)len, ret, (int32_t)room - 1, &info, &error);
	if (U_FAILURE(error) || info.errors || made <= 0 || (size_t)made >= room)
		return -EINVAL;
	ret[made] = '\0';
	return 0;
}

static size_t trim(const char **text)
{
	*text += strspn(*text, " \t\r\n");
	size_t len = strlen(*text);
	while (len > 0 && strchr(" \t\r\n", (*text)[len - 1]))
		len--;
	return len;
}

int address_normalise(const char *from, char ret[ADDRESS_MAX + 1])
{
	size_t len = trim(&from);
	const char *at = memrchr(from, '@', len);
	char domain[ADDRESS_MAX + 2];

	ret[0] = '\0';
	if (!at || !local_part_valid(from, (size_t)(at - from)))
		return -EINVAL;
	if (domain_to_ascii(at + 1, len - (size_t)(at + 1 - from), domain, sizeof(domain)) < 0 || !domain_valid(domain))
		return -EINVAL;

	size_t local = (size_t)(at - from);
	if (local + 1 + strlen(domain) > ADDRESS_MAX)
		return -EINVAL;
	for (size_t i = 0; i < local; i++)
		ret[i] = lower(from[i]);
	ret[local] = '@';
	for (size_t i = 0; i <= strlen(domain); i++)
		ret[local + 1 + i] = lower(domain[i]);
	return 0;
}

const char *address_domain(const char *address)
{
	const char *at = strrchr(address, '@');

	return at ? at + 1 : "";
}

/*
 * This function is not in bounce_tag.c, because every service that reads a shop.conf checks its bounce
 * address, and few of them sign one with OpenSSL.
 */
bool bounce_template_valid(const char *bounce)
{
	const char *star = strchr(bounce, '*'), *at = strrchr(bounce, '@');

	if (!star)
		return true;
	return at && star < at && !strchr(star + 1, '*') && at - bounce - 1 <= BOUNCE_BESIDE_MAX &&
		strlen(bounce) - 1 + BOUNCE_TAG_LEN <= ADDRESS_MAX;
}
