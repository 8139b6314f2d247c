/*
 * transport_smtp_transfer.c: sends one mail over an open connection (RFC 5321)
 *
 * Owns:      a copy of the mail's bytes.
 * Promises:  asks for the claim when the server's TCP has the whole body. The end of data leaves only through
 *            an open gate, and before the claim is too old, wherever this process is stopped (last_byte.h). A
 *            closed gate ends in a cut connection, and then no server may deliver (4.1.1.4). The envelope has
 *            nothing that could be taken for SMTP, the body has no bare CR or LF, and no line of the body
 *            ends it.
 * Fails by:  mail_result, which tells only what is known about the mail's fate.
 * Read next: transport_smtp.c
 */
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "services/kit/mail/compose.h"
#include "services/kit/mail/transport_smtp.h"
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>

/* How long to wait for the answer to a command, by RFC 5321 (4.5.3.2), and for the answer to a mail. */
#define ANSWER_US (5 * US_PER_MINUTE)
#define LAST_ANSWER_US (10 * US_PER_MINUTE)
/*
 * The most bytes of one answer, with all its lines. No server says so much, and one that never stopped would
 * keep the process busy.
 */
enum { ANSWER_BYTES_MOST = 32 * 1024 };

static const char LAST[] = ".\r\n";

/* A line that begins with a dot gets another one (4.5.2). */
static void add_stuffed(struct buffer *to, struct bytes mime)
{
	const char *at = mime.data, *end = at + mime.len;
	while (at < end) {
		const char *feed = memchr(at, '\n', (size_t)(end - at)), *next = feed ? feed + 1 : end;
		if (*at == '.')
			buffer_add(to, ".", 1);
		buffer_add(to, at, (size_t)(next - at));
		at = next;
	}
	if (to->len < 2 || memcmp(to->data + to->len - 2, "\r\n", 2) != 0)
		buffer_add(to, "\r\n", 2);
}

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
	transfer->deadline_us = -1;
	add_stuffed(&transfer->mime, mime);
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
	last_byte_end(&transfer->last);
	smtp_connection_free(transfer->connection);
	buffer_free(&transfer->mime);
	buffer_free(&transfer->out);
	free(transfer);
}

void smtp_transfer_fail(struct smtp_transfer *transfer, const char *trouble)
{
	transfer->has_ended = true;
	TEXT_COPY(transfer->trouble, trouble);
}

/* ---- what the driver says ---- */

static void begin_step(struct smtp_transfer *transfer, enum smtp_step step, const char *text)
{
	const struct clock *clock = transfer->connection->clock;
	transfer->step = step;
	transfer->sent = transfer->heard = 0;
	buffer_clear(&transfer->out);
	buffer_add_text(&transfer->out, text);
	transfer->deadline_us = clock_boot_us(clock) + (step == SMTP_LAST ? LAST_ANSWER_US : ANSWER_US);
}

static void say_address(struct smtp_transfer *transfer, enum smtp_step step, const char *verb, const char *address)
{
	char line[ADDRESS_MAX + 32];
	snprintf(line, sizeof(line), "%s:<%s>\r\n", verb, address);
	begin_step(transfer, step, line);
}

void smtp_transfer_begin(struct smtp_transfer *transfer)
{
	say_address(transfer, SMTP_MAIL, "MAIL FROM", transfer->envelope_from);
	smtp_transfer_work(transfer);
}

static void say_body(struct smtp_transfer *transfer)
{
	begin_step(transfer, SMTP_BODY, "");
	buffer_add(&transfer->out, transfer->mime.data, transfer->mime.len);
}

static void say_last(struct smtp_transfer *transfer)
{
	transfer->answer = (struct smtp_answer){ 0 };
	begin_step(transfer, SMTP_LAST, LAST);
}

static void look_again_later(struct smtp_transfer *transfer)
{
	int longer_ms = 2 * transfer->look_ms;
	transfer->look_ms = longer_ms == 0           ? LAST_BYTE_LOOK_MS
		: longer_ms < LAST_BYTE_LOOK_MOST_MS ? longer_ms
						     : LAST_BYTE_LOOK_MOST_MS;
	transfer->look_us = clock_boot_us(transfer->connection->clock) + transfer->look_ms * US_PER_MS;
}

/*
 * The body is sent. What comes next decides everything, so the claim is asked for only when it could leave at
 * once.
 */
static void stand_before_last(struct smtp_transfer *transfer)
{
	if (!transfer->claim) {
		say_last(transfer);
	} else if (!last_byte_is_next(transfer->connection->fd)) {
		look_again_later(transfer);
	} else {
		transfer->look_ms = 0;
		transfer->deadline_us = -1; /* the sender watches its own deadline */
		transfer->must_ask = true;
		transfer->gate = GATE_ASKED;
	}
}

static void drop(struct smtp_transfer *transfer, const char *trouble)
{
	transfer->gate = GATE_DROP;
	smtp_transfer_fail(transfer, trouble);
}

/*
 * Sets the timer before the check: if the process is stopped in between, the timer still cuts the connection.
 */
static void let_last_go(struct smtp_transfer *transfer)
{
	const struct smtp_connection *connection = transfer->connection;
	transfer->last = last_byte_of_socket(connection->fd, connection->clock, effect_until_us(transfer->effect));
	if (!transfer->last) {
		drop(transfer, "no timer for the last byte");
		return;
	}
	transfer->gate = GATE_OPEN;
	say_last(transfer);
	smtp_transfer_work(transfer);
}

void smtp_transfer_proceed(struct smtp_transfer *transfer, bool go)
{
	if (!go || transfer->gate != GATE_ASKED)
		drop(transfer, "stopped before the last byte");
	else if (!smtp_connection_is_quiet(transfer->connection))
		drop(transfer,
			"the server hung up before the last byte"); /* sent now, it would make the mail ambiguous */
	else if (!last_byte_is_next(transfer->connection->fd))
		drop(transfer, "the server takes nothing more");
	else
		let_last_go(transfer);
}

/* ---- what the server says ---- */

static void hear_answer(struct smtp_transfer *transfer)
{
	long class = transfer->answer.code / 100;
	if (transfer->step == SMTP_MAIL && class == 2)
		say_address(transfer, SMTP_RCPT, "RCPT TO", transfer->envelope_to);
	else if (transfer->step == SMTP_RCPT && class == 2)
		begin_step(transfer, SMTP_DATA, "DATA\r\n");
	else if (transfer->step == SMTP_DATA && class == 3)
		say_body(transfer);
	else
		transfer->has_ended = true; /* with the answer to the whole mail, or with a refusal */
}

/*
 * In an answer of several lines, each but the last has a hyphen after the code (4.2.1). Before the last line
 * there is no answer yet.
 */
static void hear_line(struct smtp_transfer *transfer)
{
	bool is_last = transfer->line_len < 4 || transfer->line[3] != '-';
	smtp_answer_note(&transfer->answer, transfer->line, transfer->line_len);
	if (!is_last)
		transfer->answer.code = 0;
	transfer->line_len = 0;
	if (is_last && transfer->sent < transfer->out.len)
		smtp_transfer_fail(transfer, "the server answered what was not said yet");
	else if (is_last)
		hear_answer(transfer);
}

static int hear(struct smtp_transfer *transfer)
{
	char heard[512];
	ssize_t len = smtp_connection_receive(transfer->connection, heard, sizeof(heard));
	if (len < 0)
		return (int)len;
	transfer->heard += (size_t)len;
	for (ssize_t i = 0; i < len && !transfer->has_ended; i++) {
		if (heard[i] == '\n')
			hear_line(transfer);
		else if (heard[i] != '\r' && transfer->line_len < sizeof(transfer->line))
			transfer->line[transfer->line_len++] = heard[i];
	}
	if (transfer->heard > ANSWER_BYTES_MOST && !transfer->has_ended)
		smtp_transfer_fail(transfer, "the server's answer has no end");
	return 0;
}

/* Checked before every try to send, because the server and this process may be slow. */
static bool is_too_late(const struct smtp_transfer *transfer)
{
	return transfer->gate == GATE_OPEN && transfer->sent == 0 && !effect_may_go(transfer->effect);
}

static void note_sent(struct smtp_transfer *transfer)
{
	if (transfer->step == SMTP_LAST && !transfer->handed_over) {
		last_byte_handed_over(transfer->last);
		transfer->handed_over = true;
	}
	if (transfer->step == SMTP_BODY && transfer->gate == GATE_SHUT)
		stand_before_last(transfer);
}

/*
 * The next piece of what is left. The end of the body is sent by itself, so that it is acknowledged sooner.
 */
static struct bytes next_piece(const struct smtp_transfer *transfer)
{
	size_t len = transfer->out.len - transfer->sent;
	if (transfer->claim && transfer->step == SMTP_BODY && len > LAST_BYTE_APART)
		len -= LAST_BYTE_APART;
	return BYTES(transfer->out.data + transfer->sent, len);
}

static int send_out(struct smtp_transfer *transfer)
{
	while (transfer->sent < transfer->out.len) {
		struct bytes rest = next_piece(transfer);
		if (is_too_late(transfer)) {
			drop(transfer, "stopped for too long before the last byte");
			return 0;
		}
		ssize_t sent = smtp_connection_send(transfer->connection, rest);
		if (sent < 0)
			return (int)sent;
		transfer->sent += (size_t)sent;
	}
	note_sent(transfer);
	return 0;
}

static bool is_all_out(const struct smtp_transfer *transfer)
{
	return transfer->sent == transfer->out.len;
}

static const char *words_for_end(const struct smtp_transfer *transfer)
{
	if (last_byte_was_cut(transfer->last))
		return transfer->handed_over ? "the server had not acknowledged the last byte in time, and was cut off"
					     : "stopped for too long before the last byte";
	return transfer->gate == GATE_ASKED ? "the server hung up before the last byte" : "the server hung up";
}

/* While the driver waits for the answer to its claim, the server must not send anything. */
static int hear_next(struct smtp_transfer *transfer)
{
	if (transfer->has_ended)
		return 0;
	if (transfer->gate == GATE_ASKED)
		return smtp_connection_is_quiet(transfer->connection) ? -EAGAIN : -ECONNRESET;
	return hear(transfer);
}

void smtp_transfer_work(struct smtp_transfer *transfer)
{
	int r = 0;
	while (r == 0 && !transfer->has_ended) {
		r = send_out(transfer);
		if (r == 0)
			r = hear_next(transfer);
	}
	if (r < 0 && r != -EAGAIN)
		smtp_transfer_fail(transfer, words_for_end(transfer));
	if (!transfer->has_ended)
		smtp_connection_wait(
			transfer->connection, EPOLLIN | EPOLLRDHUP | (is_all_out(transfer) ? 0 : EPOLLOUT));
}

int64_t smtp_transfer_next_us(const struct smtp_transfer *transfer)
{
	if (transfer->look_ms > 0 && (transfer->deadline_us < 0 || transfer->look_us < transfer->deadline_us))
		return transfer->look_us;
	return transfer->deadline_us;
}

/* ---- the result ---- */

/* Is the answer about our login or our encryption, and not about this mail? */
static bool is_about_us(const struct smtp_transfer *transfer)
{
	long code = transfer->answer.code;
	return transfer->step < SMTP_MAIL || code == 530 || code == 534 || code == 535 || code == 538;
}

static enum mail_end end_by_code(long code, enum mail_end otherwise)
{
	return code >= 500 && code < 600 ? MAIL_REFUSED : code >= 400 && code < 500 ? MAIL_LATER : otherwise;
}

static enum mail_end end_of(const struct smtp_transfer *transfer)
{
	long code = transfer->answer.code;
	if (transfer->handed_over)
		return code >= 200 && code < 300 ? MAIL_SENT : end_by_code(code, MAIL_UNKNOWN);
	if (transfer->gate == GATE_DROP || is_about_us(transfer))
		return MAIL_NOT_SENT;
	return end_by_code(code, MAIL_NOT_SENT);
}

/*
 * RFC 3463: no such mailbox; it has moved; the domain takes no mail (RFC 7505). A 550 without such a code may
 * be a policy too.
 */
static bool is_no_mailbox(const struct smtp_transfer *transfer)
{
	static const char *const codes[] = { "5.1.1", "5.1.6", "5.1.10" };
	const char *text = transfer->answer.text;
	const char *status = strlen(text) > 4 ? text + 4 : "";
	size_t len = strcspn(status, " ");

	if (transfer->step != SMTP_RCPT || transfer->answer.code < 550 || transfer->answer.code > 559)
		return false;
	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		if (strlen(codes[i]) == len && memcmp(codes[i], status, len) == 0)
			return true;
	return false;
}

struct mail_result smtp_transfer_result(const struct smtp_transfer *transfer)
{
	struct mail_result ret = mail_result_of(end_of(transfer), "smtp", transfer->answer.text);
	ret.no_server = transfer->no_server;
	ret.no_mailbox = ret.end == MAIL_REFUSED && is_no_mailbox(transfer);
	if (transfer->trouble[0])
		TEXT_COPY(ret.words, transfer->trouble);
	return ret;
}
