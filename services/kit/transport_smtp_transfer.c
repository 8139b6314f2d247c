/*
 * transport_smtp_transfer.c: one mail through libcurl, up to its last byte and over it
 *
 * Owns:      the easy handle and what it reads from.
 * Promises:  the end of data leaves only through an open gate. A closed one ends in CURL_READFUNC_ABORT, upon which libcurl drops
 *            the connection; taking the handle out of its multi while it is paused would *send* the end of data (7.88), so
 *            nobody does that. Nothing that could be taken for SMTP is in the envelope, and no bare CR or LF in the body.
 * Fails by:  mail_result: what is known about the mail's fate, no more.
 * Read next: transport_smtp.c
 */
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "services/kit/mail_compose.h"
#include "services/kit/transport_smtp.h"
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <strings.h>

enum {
	CONNECT_MS = 30 * 1000,
	ANSWER_S = 5 * 60, /* RFC 5321, 4.5.3.2: what most commands should be given */
	TRANSFER_MS = 15 * 60 *
		1000, /* an end, should nobody stop it; RFC 5321 lets a server take 10 minutes for the answer */
};

int smtp_transfer_new(struct effect *effect, const struct mail *mail, struct smtp_transfer **ret)
{
	struct bytes mime = BYTES(mail->mime.data, mail->mime.len);
	if (!mail_envelope_valid(mail->envelope_from) || !mail_envelope_valid(mail->envelope_to) ||
		!mail_lines_valid(mime))
		return -EINVAL;
	struct smtp_transfer *transfer = memory_new(sizeof(*transfer));
	list_init(&transfer->hook);
	transfer->effect = effect;
	transfer->claim = mail->claim;
	transfer->fd = CURL_SOCKET_BAD;
	buffer_add(&transfer->mime, mime.data, mime.len);
	TEXT_COPY(transfer->envelope_from, mail->envelope_from);
	TEXT_COPY(transfer->envelope_to, mail->envelope_to);
	*ret = transfer;
	return 0;
}

void smtp_transfer_free(struct smtp_transfer *transfer)
{
	if (!transfer)
		return;
	list_remove(&transfer->hook);
	if (transfer->easy)
		curl_easy_cleanup(transfer->easy);
	curl_slist_free_all(transfer->to);
	buffer_free(&transfer->mime);
	free(transfer);
}

/* The body is out. What comes next decides about everything. */
static size_t last_byte(struct smtp_transfer *transfer)
{
	bool outdated = transfer->claim && transfer->gate == GATE_OPEN && !effect_may_go(transfer->effect);
	if (outdated)
		TEXT_COPY(transfer->answer, "stopped for too long before the last byte");
	if (transfer->gate == GATE_DROP || outdated) {
		transfer->gate = GATE_DROP;
		return CURL_READFUNC_ABORT;
	}
	if (!transfer->claim || transfer->gate == GATE_OPEN) {
		transfer->handed_over = true;
		transfer->code = 0;
		return 0;
	}
	transfer->must_ask |= transfer->gate == GATE_SHUT;
	transfer->gate = GATE_ASKED;
	return CURL_READFUNC_PAUSE;
}

static size_t read_body(char *to, size_t size, size_t count, void *context)
{
	struct smtp_transfer *transfer = context;
	size_t room = size * count, left = transfer->mime.len - transfer->read;
	if (transfer->gate == GATE_DROP)
		return CURL_READFUNC_ABORT;
	if (left == 0)
		return last_byte(transfer);
	size_t len = left < room ? left : room;
	memcpy(to, transfer->mime.data + transfer->read, len);
	transfer->read += len;
	return len;
}

/* Called now and then even while nothing moves: the way out for a transfer that never came to its body. */
static int may_go_on(void *context, curl_off_t down, curl_off_t down_now, curl_off_t up, curl_off_t up_now)
{
	(void)down, (void)down_now, (void)up, (void)up_now;
	const struct smtp_transfer *transfer = context;
	return transfer->gate == GATE_DROP && !transfer->handed_over;
}

static void note_command(struct smtp_transfer *transfer, const char *line, size_t len)
{
	static const struct {
		const char *verb;
		enum smtp_command command;
	} commands[] = { { "AUTH", SMTP_LOGIN }, { "MAIL", SMTP_MAIL }, { "RCPT", SMTP_RCPT }, { "DATA", SMTP_DATA } };
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (len >= 4 && strncasecmp(line, commands[i].verb, 4) == 0)
			transfer->command = commands[i].command;
	transfer->leaving |= len >= 4 && strncasecmp(line, "QUIT", 4) == 0;
}

/* Words of the server that contain an address are left out: results go into logs and facts. */
static void note_answer(struct smtp_transfer *transfer, const char *line, size_t len)
{
	size_t to = 0;
	transfer->code = strtol((char[]){ line[0], line[1], line[2], 0 }, NULL, 10);
	for (size_t i = 0; i < len && to + 12 < sizeof(transfer->answer);) {
		size_t word = i;
		while (word < len && line[word] != ' ')
			word++;
		if (memchr(line + i, '@', word - i)) {
			to += (size_t)snprintf(transfer->answer + to, sizeof(transfer->answer) - to, "(address)");
		} else {
			for (; i < word && to + 2 < sizeof(transfer->answer); i++)
				if (line[i] > ' ' && line[i] < 0x7f)
					transfer->answer[to++] = line[i];
		}
		transfer->answer[to++] = ' ';
		i = word + 1;
	}
	while (to && transfer->answer[to - 1] == ' ')
		to--;
	transfer->answer[to] = 0;
}

static int listen_in(CURL *easy, curl_infotype type, char *data, size_t len, void *context)
{
	(void)easy;
	if (type == CURLINFO_HEADER_OUT)
		note_command(context, data, len);
	else if (type == CURLINFO_HEADER_IN && len > 3 && !((struct smtp_transfer *)context)->leaving)
		note_answer(context, data, len);
	return 0;
}

static size_t swallow(char *data, size_t size, size_t count, void *context)
{
	(void)data, (void)context;
	return size * count;
}

static void set_security(CURL *easy, const struct smtp_settings *settings)
{
	curl_easy_setopt(easy, CURLOPT_USE_SSL, (long)(settings->starttls ? CURLUSESSL_ALL : CURLUSESSL_NONE));
	if (settings->ca)
		curl_easy_setopt(easy, CURLOPT_CAINFO, settings->ca);
	if (!settings->user)
		return;
	curl_easy_setopt(easy, CURLOPT_USERNAME, settings->user);
	curl_easy_setopt(easy, CURLOPT_PASSWORD, settings->password);
}

void smtp_transfer_prepare(struct smtp_transfer *transfer, const struct smtp_settings *settings)
{
	char url[320];
	CURL *easy = transfer->easy = curl_easy_init();
	snprintf(url, sizeof(url), strchr(settings->host, ':') ? "smtp://[%s]:%d" : "smtp://%s:%d", settings->host,
		settings->port);
	transfer->to = curl_slist_append(NULL, transfer->envelope_to);
	curl_easy_setopt(easy, CURLOPT_URL, url);
	curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "smtp");
	curl_easy_setopt(easy, CURLOPT_PROXY, ""); /* never from the environment */
	curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
	curl_easy_setopt(easy, CURLOPT_SERVER_RESPONSE_TIMEOUT, (long)ANSWER_S);
	curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)TRANSFER_MS);
	curl_easy_setopt(easy, CURLOPT_MAIL_FROM, transfer->envelope_from);
	curl_easy_setopt(easy, CURLOPT_MAIL_RCPT, transfer->to);
	/* No INFILESIZE: with it libcurl would end the data by itself, without asking the callback again. */
	curl_easy_setopt(easy, CURLOPT_UPLOAD, 1L);
	curl_easy_setopt(easy, CURLOPT_READFUNCTION, read_body);
	curl_easy_setopt(easy, CURLOPT_READDATA, transfer);
	curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, swallow);
	curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, swallow);
	curl_easy_setopt(easy, CURLOPT_VERBOSE, 1L); /* to the function, not to stderr */
	curl_easy_setopt(easy, CURLOPT_DEBUGFUNCTION, listen_in);
	curl_easy_setopt(easy, CURLOPT_DEBUGDATA, transfer);
	curl_easy_setopt(easy, CURLOPT_NOPROGRESS, 0L);
	curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, may_go_on);
	curl_easy_setopt(easy, CURLOPT_XFERINFODATA, transfer);
	curl_easy_setopt(easy, CURLOPT_PRIVATE, transfer);
	set_security(easy, settings);
}

/* A server that hung up while the claim was on its way would make the mail ambiguous for nothing. */
static bool server_is_there(const struct smtp_transfer *transfer)
{
	struct pollfd poller = { .fd = transfer->fd, .events = POLLRDHUP };
	return transfer->fd == CURL_SOCKET_BAD || poll(&poller, 1, 0) == 0;
}

bool smtp_transfer_proceed(struct smtp_transfer *transfer, bool go)
{
	bool open = go && transfer->gate == GATE_ASKED && server_is_there(transfer);
	if (go && !open)
		TEXT_COPY(transfer->answer, "the server hung up before the last byte");
	transfer->gate = open ? GATE_OPEN : GATE_DROP;
	curl_easy_pause(transfer->easy, CURLPAUSE_CONT);
	return open;
}

/* The codes that speak of our login or our encryption, not of this mail. */
static bool is_about_us(const struct smtp_transfer *transfer)
{
	long code = transfer->code;
	return transfer->command < SMTP_MAIL || code == 530 || code == 534 || code == 535 || code == 538;
}

static enum mail_end end_by_code(long code, enum mail_end otherwise)
{
	return code >= 500 && code < 600 ? MAIL_REFUSED : code >= 400 && code < 500 ? MAIL_LATER : otherwise;
}

static enum mail_end end_of(const struct smtp_transfer *transfer, CURLcode result)
{
	if (transfer->handed_over)
		return result == CURLE_OK ? MAIL_SENT : end_by_code(transfer->code, MAIL_UNKNOWN);
	if (transfer->gate == GATE_DROP || result == CURLE_OK || is_about_us(transfer))
		return MAIL_NOT_SENT;
	return end_by_code(transfer->code, MAIL_NOT_SENT);
}

struct mail_result smtp_transfer_result(const struct smtp_transfer *transfer, CURLcode result)
{
	enum mail_end end = end_of(transfer, result);
	if (end == MAIL_SENT || end == MAIL_LATER || end == MAIL_REFUSED || transfer->gate == GATE_DROP)
		return mail_result_of(end, "smtp", transfer->answer);
	struct mail_result ret = mail_result_of(end, "smtp", "");
	snprintf(ret.words, sizeof(ret.words), "%s; last answer: %.150s", curl_easy_strerror(result),
		transfer->answer[0] ? transfer->answer : "none");
	return ret;
}
