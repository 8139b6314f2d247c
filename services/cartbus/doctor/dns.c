/*
 * dns.c: asks a name server by ldns
 *
 * Owns:      ldns, which no other file includes.
 * Promises:  an answer within some ten seconds, DNS_AWAY included.
 */
#include "services/cartbus/doctor/dns.h"

#include "bus/base/memory.h"
#include "bus/base/text.h"
#include <ldns/ldns.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TRY_S = 2, TRIES = 2 };

struct dns {
	ldns_resolver *resolver;
};

static ldns_rdf *address_of(const char *text)
{
	return ldns_rdf_new_frm_str(strchr(text, ':') ? LDNS_RDF_TYPE_AAAA : LDNS_RDF_TYPE_A, text);
}

static ldns_resolver *resolver_for(const char *server)
{
	ldns_resolver *resolver = ldns_resolver_new();
	char address[64];
	const char *port = strchr(server, '@');

	snprintf(address, sizeof(address), "%.*s", (int)strcspn(server, "@"), server);
	ldns_rdf *at = address_of(address);
	if (!resolver || !at || ldns_resolver_push_nameserver(resolver, at) != LDNS_STATUS_OK) {
		ldns_rdf_deep_free(at);
		ldns_resolver_deep_free(resolver);
		return NULL;
	}
	ldns_rdf_deep_free(at);
	if (port)
		ldns_resolver_set_port(resolver, (uint16_t)strtoul(port + 1, NULL, 10));
	return resolver;
}

struct dns *dns_open(const char *server, char ret_why[256])
{
	ldns_resolver *resolver = NULL;

	if (server)
		resolver = resolver_for(server);
	else if (ldns_resolver_new_frm_file(&resolver, NULL) != LDNS_STATUS_OK)
		resolver = NULL;
	if (!resolver || ldns_resolver_nameserver_count(resolver) == 0) {
		snprintf(ret_why, 256, server ? "%.60s is no ADDRESS or ADDRESS@PORT" : "%s names no name server",
			server ? server : "/etc/resolv.conf");
		ldns_resolver_deep_free(resolver);
		return NULL;
	}
	ldns_resolver_set_timeout(resolver, (struct timeval){ .tv_sec = TRY_S });
	ldns_resolver_set_retry(resolver, TRIES);
	ldns_resolver_set_recursive(resolver, true);
	ldns_resolver_set_dnsrch(resolver, false);
	ldns_resolver_set_defnames(resolver, false);
	struct dns *dns = memory_new(sizeof(*dns));
	dns->resolver = resolver;
	return dns;
}

void dns_close(struct dns *dns)
{
	if (!dns)
		return;
	ldns_resolver_deep_free(dns->resolver);
	free(dns);
}

/* *ret gets the records of this type, which the caller frees, or NULL. */
static enum dns_end ask(struct dns *dns, const char *name, ldns_rr_type type, ldns_rr_list **ret, char ret_why[256])
{
	ldns_rdf *asked = ldns_dname_new_frm_str(name);
	ldns_pkt *answer = NULL;
	enum dns_end end = DNS_NOTHING;

	*ret = NULL;
	if (!asked)
		return DNS_NOTHING; /* this cannot be a name */
	ldns_status status = ldns_resolver_query_status(&answer, dns->resolver, asked, type, LDNS_RR_CLASS_IN, LDNS_RD);
	ldns_rdf_deep_free(asked);
	ldns_pkt_rcode code = answer ? ldns_pkt_get_rcode(answer) : LDNS_RCODE_SERVFAIL;
	if (status != LDNS_STATUS_OK || !answer) {
		snprintf(ret_why, 256, "no name server answers (%s)", ldns_get_errorstr_by_id(status));
		end = DNS_AWAY;
	} else if (code != LDNS_RCODE_NOERROR && code != LDNS_RCODE_NXDOMAIN) {
		ldns_lookup_table *known = ldns_lookup_by_id(ldns_rcodes, (int)code);

		snprintf(ret_why, 256, "the name server has no answer (%s)", known ? known->name : "of no known kind");
		end = DNS_FAILED;
	} else {
		*ret = ldns_pkt_rr_list_by_type(answer, type, LDNS_SECTION_ANSWER);
		end = *ret ? DNS_FOUND : DNS_NOTHING;
	}
	ldns_pkt_free(answer);
	return end;
}

static void join_strings(const ldns_rr *record, char ret[DNS_TEXT_ROOM])
{
	size_t len = 0;

	for (size_t i = 0; i < ldns_rr_rd_count(record); i++) {
		const ldns_rdf *string = ldns_rr_rdf(record, i);
		size_t more = ldns_rdf_size(string) > 0 ? ldns_rdf_data(string)[0] : 0; /* its length byte */

		if (more >= ldns_rdf_size(string) || len + more >= DNS_TEXT_ROOM)
			break;
		memcpy(ret + len, ldns_rdf_data(string) + 1, more);
		len += more;
	}
	ret[len] = '\0';
}

enum dns_end dns_texts(struct dns *dns, const char *name, struct dns_texts *ret, char ret_why[256])
{
	ldns_rr_list *records;
	enum dns_end end = ask(dns, name, LDNS_RR_TYPE_TXT, &records, ret_why);

	ret->count = 0;
	for (size_t i = 0; records && i < ldns_rr_list_rr_count(records) && ret->count < DNS_TEXTS_MAX; i++)
		join_strings(ldns_rr_list_rr(records, i), ret->each[ret->count++]);
	ldns_rr_list_deep_free(records);
	return end;
}

/* RFC 7505: an MX of "." says that the domain takes no mail. */
static bool is_none(const ldns_rr_list *records)
{
	const ldns_rr *first = ldns_rr_list_rr(records, 0);

	return ldns_rr_list_rr_count(records) == 1 && ldns_rr_rd_count(first) == 2 &&
		ldns_dname_label_count(ldns_rr_rdf(first, 1)) == 0;
}

enum dns_end dns_takes_mail(struct dns *dns, const char *name, char ret_why[256])
{
	static const ldns_rr_type asked[] = { LDNS_RR_TYPE_MX, LDNS_RR_TYPE_A, LDNS_RR_TYPE_AAAA };
	enum dns_end end = DNS_NOTHING;

	for (size_t i = 0; i < sizeof(asked) / sizeof(*asked) && end == DNS_NOTHING; i++) {
		ldns_rr_list *records;
		bool none;

		end = ask(dns, name, asked[i], &records, ret_why);
		none = end == DNS_FOUND && asked[i] == LDNS_RR_TYPE_MX && is_none(records);
		ldns_rr_list_deep_free(records);
		if (none)
			return DNS_NOTHING;
	}
	return end;
}
