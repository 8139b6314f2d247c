/*
 * bounce.c: reads a bounce: the fields of its report (RFC 3464), or its words
 *
 * Many mail servers write no report, or a report whose code may mean anything. Then their words are read, but
 * only if the sender or the subject shows that the mail is a bounce: the words of a person are no code.
 *
 * Promises:  of several recipients only the one that our mail went to counts; if nothing tells which one that
 *            was, an address counts as gone only if all of them are gone.
 * Fails by:  BOUNCE_NONE, which a person will look at; REASON_UNCLEAR if a report says that the mail failed
 *            and gives no reason.
 * Read next: reason.c, whose_host.c
 */
#include "services/platform/mailin/bounce.h"
#include "bus/base/cleanup.h"
#include "bus/base/text.h"
#include "services/kit/mail/message.h"
#include "services/platform/mailin/answer.h"
#include "services/platform/mailin/words.h"
#include <gmime/gmime.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

/* ---- a report ---- */

/* The fields about one recipient. */
struct recipient {
	bool named;
	char names[2][300];
	char action[32], status[200], diagnostic[1200];
};

/* "failed (bad address)" is failed. */
static bool is_word(const char *value, const char *word)
{
	size_t len = strlen(word);

	return strncasecmp(value, word, len) == 0 && !g_ascii_isalpha(value[len]);
}

static bool asks_for_nothing(const char *action)
{
	static const char *const words[] = { "delayed", "delivered", "relayed", "expanded" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (is_word(action, words[i]))
			return true;
	return false;
}

/*
 * Does the report tell what happened to the recipient? It needs an action (RFC 3464, 2.3), which some servers
 * leave out.
 */
static bool is_told(const struct recipient *recipient)
{
	return recipient->action[0] || (recipient->named && (recipient->status[0] || recipient->diagnostic[0]));
}

/*
 * Tidies the other server's answer, which may be in Japanese or encoded like a header. The comment after a
 * status only repeats the code in words, so it is used only if there is no answer.
 */
static void tidy_answer(const struct recipient *recipient, size_t code_len, struct buffer *ret)
{
	bool is_answered = strpbrk(recipient->diagnostic, " ;") != NULL;
	char *answer = g_mime_utils_header_decode_text(
		NULL, is_answered ? recipient->diagnostic : recipient->status + code_len);

	words_tidy(bytes_of(answer), ret);
	g_free(answer);
}

/* Reads "rfc822; <Ada@mail.example>". "": it is no address. */
static void read_name(const char *value, char ret[ADDRESS_MAX + 1])
{
	const char *type_end = strchr(value, ';');
	const char *name = type_end ? type_end + 1 : value;

	name += strspn(name, " \t<");
	ret[0] = '\0';
	if (strchr(name, '@') && text_copy_bytes(ret, ADDRESS_MAX + 1, BYTES(name, strcspn(name, "> \t\r\n"))))
		for (char *c = ret; *c; c++)
			*c = g_ascii_tolower(*c);
}

static void hear_recipient(struct bounce *bounce, const struct recipient *recipient)
{
	_cleanup_(buffer_free) struct buffer tidy = { 0 };
	size_t code_len = strspn(recipient->status, "0123456789.");
	char status[16];

	if (!is_told(recipient) || bounce->told_count == BOUNCE_RECIPIENTS_MOST)
		return;
	struct told *told = &bounce->told[bounce->told_count++];
	for (int i = 0; i < 2; i++)
		read_name(recipient->names[i], told->names[i]);
	if (asks_for_nothing(recipient->action)) {
		told->state = BOUNCE_NOTHING;
		return;
	}
	text_copy_bytes(status, sizeof(status), BYTES(recipient->status, code_len));
	tidy_answer(recipient, code_len, &tidy);
	const struct refusal refusal = { .status = status, .diagnostic = buffer_text(&tidy), .gave_up = true };
	told->state = BOUNCE_FAILED;
	told->reason = reason_of(&refusal, NULL);
	TEXT_COPY(told->status, status);
	TEXT_COPY(told->said, recipient->diagnostic);
}

/* ---- its lines ---- */

static const char *value_of(const char *line, size_t len, const char *name)
{
	size_t name_len = strlen(name);

	if (len <= name_len || strncasecmp(line, name, name_len) != 0 || line[name_len] != ':')
		return NULL;
	return line + name_len + 1 + strspn(line + name_len + 1, " \t");
}

static void set(char *field, size_t room, const char *value, const char *end)
{
	text_copy_bytes(field, room, BYTES(value, value < end ? (size_t)(end - value) : 0));
}

/* A line that is no field continues the field before it: not every server folds the answer that it quotes. */
static void go_on(struct recipient *recipient, const char *last, const char *line, size_t len)
{
	size_t used = strlen(recipient->diagnostic), room = sizeof(recipient->diagnostic) - used;

	if ((strcmp(last, "Diagnostic-Code") != 0 && strcmp(last, "X-Supplementary-Info") != 0) || room < 3)
		return;
	recipient->diagnostic[used] = ' ';
	text_copy_bytes(recipient->diagnostic + used + 1, room - 1, BYTES(line, len));
}

static bool is_field(const char *line, size_t len)
{
	size_t name = strspn(line, "-ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz");

	return name > 0 && name < len && line[name] == ':';
}

/*
 * A recipient ends at a field that it has already, because empty lines may be anywhere. It also ends at an
 * empty line, if it has a name and an action and a name follows.
 */
static bool begins_another(const struct recipient *recipient, size_t field, const char *value, bool after_blank)
{
	if (field < 2)
		return recipient->names[field][0] || (after_blank && recipient->named && recipient->action[0]);
	return field < 4 && *value;
}

static const char *hear_field(
	struct bounce *bounce, struct recipient *recipient, const char *line, size_t len, bool after_blank)
{
	/* Exchange wrote the last field in place of the one before it. */
	static const char *const names[] = { "Original-Recipient", "Final-Recipient", "Action", "Status",
		"Diagnostic-Code", "X-Supplementary-Info" };
	char *const fields[] = { recipient->names[0], recipient->names[1], recipient->action, recipient->status,
		recipient->diagnostic, recipient->diagnostic };
	const size_t rooms[] = { sizeof(recipient->names[0]), sizeof(recipient->names[1]), sizeof(recipient->action),
		sizeof(recipient->status), sizeof(recipient->diagnostic), sizeof(recipient->diagnostic) };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *value = value_of(line, len, names[i]);
		if (!value)
			continue;
		if (begins_another(recipient, i, fields[i], after_blank)) {
			hear_recipient(bounce, recipient);
			memset(recipient, 0, sizeof(*recipient));
		}
		if (!*fields[i])
			set(fields[i], rooms[i], value, line + len);
		recipient->named |= i < 2;
		return names[i];
	}
	return "";
}

void bounce_hear_status(struct bounce *bounce, const char *fields)
{
	struct recipient recipient = { 0 };
	const char *last = "";
	bool after_blank = false;

	for (const char *line = fields; *line && bounce->told_count < BOUNCE_RECIPIENTS_MOST;) {
		size_t len = strcspn(line, "\r\n");
		if (len > 0 && is_field(line, len))
			last = hear_field(bounce, &recipient, line, len, after_blank);
		else if (len > 0)
			go_on(&recipient, last, line, len);
		else
			last = "";
		after_blank = len == 0;
		line += len + (line[len] == '\r' && line[len + 1] == '\n' ? 2 : line[len] != '\0');
	}
	hear_recipient(bounce, &recipient);
}

/* ---- of several recipients ---- */

void bounce_hear_mailed(struct bounce *bounce, const char *address)
{
	if (bounce->mailed_count == BOUNCE_NAMES_MOST)
		return;
	read_name(address, bounce->mailed[bounce->mailed_count]);
	bounce->mailed_count += bounce->mailed[bounce->mailed_count][0] != '\0';
}

static bool is_mailed(const struct bounce *bounce, const struct told *told)
{
	for (int i = 0; i < bounce->mailed_count; i++)
		if (strcmp(told->names[0], bounce->mailed[i]) == 0 || strcmp(told->names[1], bounce->mailed[i]) == 0)
			return true;
	return false;
}

/* If some recipients are those of our mail, the others are dropped. */
static void keep_mailed(struct bounce *bounce)
{
	int kept = 0;

	for (int i = 0; i < bounce->told_count; i++)
		if (is_mailed(bounce, &bounce->told[i]))
			bounce->told[kept++] = bounce->told[i];
	bounce->told_count = kept > 0 ? kept : bounce->told_count;
}

static bool are_of_one(const struct bounce *bounce)
{
	for (int i = 1; i < bounce->told_count; i++)
		if (strcmp(bounce->told[i].names[1], bounce->told[0].names[1]) != 0)
			return false;
	return true;
}

static bool is_gone(const struct told *told)
{
	return told->state == BOUNCE_FAILED && reason_is_permanent(told->reason);
}

/* Ranks what is told: 0 nothing, 1 a failure, 2 the reason, 3 that the address is gone. */
static int weight_of(const struct told *told)
{
	if (told->state != BOUNCE_FAILED)
		return 0;
	return is_gone(told) ? 3 : 1 + (told->reason != REASON_UNCLEAR);
}

/*
 * A report may name one address more than once: then the most that is told of it counts. Of different
 * addresses the least counts.
 */
static const struct told *chosen(const struct bounce *bounce, bool least)
{
	const struct told *best = &bounce->told[0];

	for (int i = 1; i < bounce->told_count; i++) {
		int more = weight_of(&bounce->told[i]) - weight_of(best);
		best = (least ? more < 0 : more > 0) ? &bounce->told[i] : best;
	}
	return best;
}

static void settle(struct bounce *bounce)
{
	const struct told *told;

	if (bounce->told_count == 0)
		return;
	bounce->is_of_several = !are_of_one(bounce);
	keep_mailed(bounce);
	told = chosen(bounce, !are_of_one(bounce));
	if (told->state != BOUNCE_FAILED) {
		bounce->state = bounce->state == BOUNCE_NONE ? BOUNCE_NOTHING : bounce->state;
		return;
	}
	bounce->state = BOUNCE_FAILED;
	bounce->reason = told->reason;
	TEXT_COPY(bounce->status, told->status);
	TEXT_COPY(bounce->said, told->said);
}

/* ---- words ---- */

static bool holds_one(const char *text, const char *const *phrases)
{
	for (; *phrases; phrases++)
		if (words_find(text, *phrases))
			return true;
	return false;
}

static bool holds_any(const char *text, const char *const *phrases)
{
	_cleanup_(buffer_free) struct buffer tidy = { 0 };

	words_tidy(bytes_of(text), &tidy);
	return holds_one(buffer_text(&tidy), phrases);
}

/* People and shops also write under these names: their mail is a bounce only if its words quote an answer. */
static bool is_from_a_program(const char *from)
{
	static const char *const names[] = { "no-reply", "noreply", "gateway", "administrator", "administrateur" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcasestr(from, names[i]))
			return true;
	return false;
}

bool bounce_is_from_a_server(const char *from)
{
	static const char *const names[] = { "mailer-daemon", "mailerdaemon", "post_master", "mailer daemon",
		"postmaster", "mail-daemon", "maildaemon", "mdaemon", "mail delivery", "mail administrator",
		"system administrator", "mail system", "mailsystem", "bounce", "delivery", "smtpd", "mmdf", "listserv",
		"postoffice", "post office", "systemadministrator", "system attendant", "internet mail",
		"systemadministrat", "mail router", "mailgate", "mail gateway", "mailmaster", "<>", "<@>" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcasestr(from, names[i]))
			return true;
	return false;
}

static bool is_a_bounces_subject(const char *subject)
{
	static const char *const phrases[] = { "undeliver", "non-deliver", "nondeliver", "non deliver", "not deliver",
		"not be deliver", "returned mail", "return mail", "mail return", "returned to sender",
		"return to sender", "returning m", "message return", "mail deliver", "message deliver",
		"delivery status", "delivery fail", "delivery error", "delivery problem", "delivery report",
		"delivery notif", "delivery delay", "failed deliver", "failed mail", "mail fail", "failure notice",
		"failure notif", "message fail", "bounce", "message rejected", "mail rejected", "could not be sent",
		"could not send", "couldn't be delivered", "unable to deliver", "mail system error", "mail error",
		"error sending", "mail status report", "message status", "user unknown", "unknown user",
		"unknown address", "unknown recipient", "no such user", "addressee unknown", "mailbox unavailable",
		"nicht zugestellt", "unzustellbar", "nicht zustellbar", "zustellungsfehler", "nachrichtenzustellung",
		"non remis", "non d\xc3\xa9livr",
		"\xc3\xa9"
		"chec de la remise",
		"\xc3\xa9"
		"chec de remise",
		"notification d'\xc3\xa9tat", "non distribu", "impossible de remettre", "no se puede entregar",
		"no entregado", "correo devuelto", "mensagem n\xc3\xa3o", "mancata consegna", "non recapit",
		"impossibile recapitare", "onbestelbaar", "niet afgeleverd", "niedostarcz", "nie dostarcz", "zwrot",
		"kan ikke leveres", "ikke levert", "\xe9\x85\x8d\xe4\xbf\xa1", "\xe9\x80\x81\xe4\xbf\xa1",
		"\xe3\x82\xa8\xe3\x83\xa9\xe3\x83\xbc", "\xe9\x80\x80\xe4\xbf\xa1", "\xe9\x85\x8d\xe9\x81\x94",
		"\xe6\x8a\x95\xe9\x80\x92", NULL };

	return holds_any(subject, phrases);
}

/* The tidied words of a bounce: the quoted ones, the stated ones, and all of them. */
struct words {
	struct buffer quoted, stated, all;
};

static const char *text_of(const struct buffer *tidy)
{
	return tidy->len ? (const char *)tidy->data : "";
}

/* Does a person write? Persons answer, forward or greet; a program greets a sender or customer. */
static bool is_a_persons(const struct bounce_mail *letter)
{
	static const char *const prefixes[] = { "re:", "fw:", "fwd:", "aw:", "wg:", "tr:", "rv:", "sv:", "vs:", "odp:",
		"rif:", "\xe8\xbd\xac\xe5\x8f\x91", "\xe5\x9b\x9e\xe5\xa4\x8d" };
	static const char *const greetings[] = { "hi ", "hi,", "hi\n", "hello", "hey", "dear ", "good ", "hallo",
		"guten ", "sehr ", "moin", "bonjour", "hola", "buenos", "buenas", "ciao", "buongiorno", "salve",
		"ol\xc3\xa1", "bom ", "dag ", "beste ", "witam", "dzie\xc5\x84 ", "hej", "ahoj" };
	static const char *const senders[] = { "dear sender", "dear user", "dear customer", "dear sir", "absender",
		NULL };
	const char *text = letter->text + strspn(letter->text, " \t\r\n");

	if (letter->is_written)
		return true;
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (strncasecmp(letter->subject, prefixes[i], strlen(prefixes[i])) == 0)
			return true;
	if (letter->automatic || is_from_a_program(letter->from) || holds_any(text, senders))
		return false;
	for (size_t i = 0; i < sizeof(greetings) / sizeof(greetings[0]); i++)
		if (strncasecmp(text, greetings[i], strlen(greetings[i])) == 0)
			return true;
	return false;
}

/* Some gateways answer in the shopper's name, but quote the answer of a server. */
static bool is_worded_as_a_bounce(const struct bounce_mail *letter, const struct words *said)
{
	const char *words = text_of(&said->all);
	static const char *const answers[] = { "550", "551", "553", "554", NULL };
	const struct refusal refusal = { .status = "", .diagnostic = words, .is_text = true };

	if (letter->is_report || bounce_is_from_a_server(letter->from))
		return true;
	if (letter->is_personal || (is_a_persons(letter) && !letter->names_ours))
		return false;
	return (is_a_bounces_subject(letter->subject) &&
		       (letter->automatic || letter->is_nobodys || letter->names_ours || said->quoted.len > 0)) ||
		(is_from_a_program(letter->from) && reason_is_quoted(words)) ||
		(said->quoted.len > 0 && holds_one(words, answers) && reason_is_permanent(reason_of(&refusal, NULL)));
}

static bool is_an_absence(const char *subject)
{
	static const char *const phrases[] = { "out of office", "out of the office", "auto reply", "autoreply",
		"auto-reply", "automatic reply", "automated reply", "auto response", "autoresponse", "auto-response",
		"auto:", "vacation", "on holiday", "away from", "abwesen", "automatische antwort",
		"r\xc3\xa9ponse automatique", "absence", "respuesta autom\xc3\xa1tica", "fuera de la oficina",
		"risposta automatica", "fuori sede", "automatisch antwoord", "afwezig", "resposta autom\xc3\xa1tica",
		"autosvar", "\xe8\x87\xaa\xe5\x8b\x95\xe5\xbf\x9c\xe7\xad\x94", NULL };

	return holds_any(subject, phrases);
}

/* Does the server go on trying? Then it quotes no reply of class 5. */
static bool is_a_delay(const char *words, const char *subject)
{
	static const char *const phrases[] = { "will be retried", "will retry", "will be re-tried", "will keep trying",
		"will continue", "will try again", "will still", "keep trying", "no need to resend", "need to resend",
		"need to re-send", "do not resend", "warning message only", "still trying", "not yet been delivered",
		"has been delayed", "is delayed", "was delayed", "delivery attempts will", "no action is required",
		"could not send message for past", "wird weiterhin versucht", "still being", NULL };
	static const char *const warnings[] = { "delay", "warning", "transient", "verz\xc3\xb6gert", "retard", NULL };

	return !reason_is_quoted(words) &&
		(holds_one(words, phrases) || (holds_any(subject, warnings) && words_find(words, "hours")));
}

/* A bounce that quotes a 4xx reply and no 5xx may allow another try, unless its words exclude that. */
static bool has_given_up(const char *words)
{
	static const char *const phrases[] = { "not going to try again", "giving up", "given up", "gave up", "too long",
		"retry timeout", "expired", "permanent", "final", "too many", "returned to you", "undeliver",
		"returning", "could not be delivered", "was not delivered", "not be sent", "failed", "failure",
		"aufgegeben", "endg\xc3\xbcltig", "unzustellbar",
		"d\xc3\xa9"
		"finitif",
		"definitiv", NULL };

	return holds_one(words, phrases);
}

/* Copies the words around the place that gives the reason. */
static void quote(const char *words, const char *at, char ret[300])
{
	enum { BEFORE = 40, LENGTH = 160 };
	const char *from = at && at - words > BEFORE ? at - BEFORE : words;

	while (from > words && from[-1] != ' ')
		from--;
	text_copy_bytes(ret, 300, BYTES(from, strnlen(from, LENGTH)));
}

/*
 * A supposition counts only if no quoted or stated words give a reason. If a quoted answer is not understood,
 * the words around it give no permanent reason.
 */
static enum reason reason_in(const struct words *words, const char *status, char ret_said[300])
{
	const struct buffer *const parts[] = { &words->quoted, &words->stated, &words->all };
	const bool is_answered = reason_is_quoted(text_of(&words->quoted));
	enum reason reason = REASON_UNCLEAR;
	const char *at, *text = "";

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]) && reason == REASON_UNCLEAR; i++) {
		text = text_of(parts[i]);
		reason = reason_of(&(struct refusal){ .status = status,
					   .diagnostic = text,
					   .is_text = true,
					   .gave_up = has_given_up(text_of(&words->all)) },
			&at);
		if (i > 0 && is_answered && reason_is_permanent(reason))
			reason = REASON_UNCLEAR;
	}
	quote(text, at, ret_said);
	return reason;
}

/* Takes the reason from the words, because the report says that the mail failed and not why. */
static void take_reason(struct bounce *bounce, const struct words *words)
{
	char said[sizeof(bounce->said)];
	enum reason reason = reason_in(words, bounce->status, said);

	if (reason == REASON_UNCLEAR)
		return;
	bounce->reason = reason;
	if (!bounce->said[0])
		TEXT_COPY(bounce->said, said);
}

static void take_words(struct bounce *bounce, const struct words *words)
{
	char said[sizeof(bounce->said)];
	enum reason reason = reason_in(words, "", said);

	if (reason == REASON_UNCLEAR && !reason_is_quoted((const char *)words->all.data))
		return;
	bounce->reason = reason;
	bounce->state = BOUNCE_FAILED;
	TEXT_COPY(bounce->said, said);
}

/*
 * Sendmail quotes the other server's answer, "<<< 550 ...", and adds words of its own below it, "User
 * unknown" to any 550. If there are such lines, the rest is left out.
 */
static void add_words(const struct bounce_mail *letter, struct buffer *ret)
{
	for (const char *line = letter->text; line; line = strchr(line, '\n')) {
		line += strspn(line, "\r\n\t ");
		if (text_starts(line, "<<< 5") || text_starts(line, "<<< 4"))
			buffer_printf(ret, "%.*s\n", (int)strcspn(line, "\r\n"), line + strlen("<<< "));
	}
	if (ret->len == 0)
		buffer_printf(ret, "%s\n.\n%s", letter->text, letter->subject); /* no phrase spans both */
}

static void tidy_text(struct buffer *text)
{
	struct buffer tidy = { 0 };

	words_tidy(buffer_bytes(text), &tidy);
	buffer_text(&tidy);
	buffer_free(text);
	*text = tidy;
}

static void words_of(const struct bounce_mail *letter, struct words *ret)
{
	add_words(letter, &ret->all);
	answer_quoted(buffer_text(&ret->all), &ret->quoted);
	answer_stated(buffer_text(&ret->all), &ret->stated);
	tidy_text(&ret->quoted);
	tidy_text(&ret->stated);
	tidy_text(&ret->all);
}

static void words_free(struct words *words)
{
	buffer_free(&words->quoted);
	buffer_free(&words->stated);
	buffer_free(&words->all);
}

/* ---- several recipients in a text ---- */

/* "ada@mail.example: 550 ...", "ada@mail.example was refused: 550 ..." */
static bool is_answered_there(const char *behind_name)
{
	enum { LINE_MOST = 1000 };
	char line[LINE_MOST];
	size_t len = strcspn(behind_name, "\r\n");

	snprintf(line, sizeof(line), "%.*s", (int)(len < sizeof(line) ? len : sizeof(line) - 1), behind_name);
	if (line[0] == ':')
		return line[1 + strspn(line + 1, " \t")] != '\0';
	return strchr(" \t", line[0]) && reason_is_quoted(line);
}

/*
 * Reads "<ada@mail.example>:", alone or before its answer, as qmail and Postfix write it; alone and indented,
 * as Exim writes it; or without brackets before its answer, as OpenSMTPD and Zoho write it.
 */
static bool names_recipient(const char *line, char ret[ADDRESS_MAX + 1])
{
	size_t indent = strspn(line, " \t"), bracket = line[indent] == '<', len;
	const char *name = line + indent + bracket, *behind;
	char found[ADDRESS_MAX + 1];
	bool is_alone, is_named;

	len = strcspn(name, "<>:;,()\" \t\r\n");
	behind = name + len;
	if (!memchr(name, '@', len) || (bracket && *behind != '>'))
		return false;
	behind += bracket;
	is_alone = behind[(*behind == ':') + strspn(behind + (*behind == ':'), " \t\r")] == '\n';
	is_named = bracket ? *behind == ':' && strchr(" \t", behind[1]) : is_answered_there(behind);
	if (!is_named && !(is_alone && (bracket || indent > 0)))
		return false;
	text_copy_bytes(found, sizeof(found), BYTES(name, len));
	read_name(found, ret);
	return ret[0] != '\0';
}

static bool is_empty(const char *from, const char *end)
{
	return from + strspn(from, " \t\r\n") >= end;
}

static const char *next_recipient(const char *text, char ret[ADDRESS_MAX + 1])
{
	for (; *text; text += strcspn(text, "\n"), text += *text == '\n')
		if (names_recipient(text, ret))
			return text;
	return text;
}

/* Reads the text between a recipient's name and the next name. */
static void hear_block(struct bounce *bounce, const char *name, const char *text)
{
	_cleanup_(words_free) struct words words = { 0 };
	struct told *told = &bounce->told[bounce->told_count++];

	words_of(&(struct bounce_mail){ .subject = "", .text = text }, &words);
	*told = (struct told){ .state = BOUNCE_FAILED };
	TEXT_COPY(told->names[1], name);
	told->reason = reason_in(&words, "", told->said);
}

/* Drops each address that is not a recipient of our mail and has no reason: it is a contact for questions. */
static void keep_explained(struct bounce *bounce)
{
	int kept = 0;

	for (int i = 0; i < bounce->told_count; i++)
		if (is_mailed(bounce, &bounce->told[i]) || bounce->told[i].reason != REASON_UNCLEAR)
			bounce->told[kept++] = bounce->told[i];
	bounce->told_count = kept;
}

/* false: the text is about one recipient, or about all of them in the same words. */
static bool hear_blocks(struct bounce *bounce, const char *text)
{
	char name[ADDRESS_MAX + 1], next[ADDRESS_MAX + 1];
	bool is_shared = false;

	for (const char *at = next_recipient(text, name); *at && bounce->told_count < BOUNCE_RECIPIENTS_MOST;) {
		_cleanup_(buffer_free) struct buffer block = { 0 };
		const char *end = next_recipient(at + strcspn(at, "\n"), next);
		const char *behind = at + strcspn(at, "@");
		behind += strcspn(behind, "> \t\r\n");
		behind += strspn(behind, ">:");
		is_shared |= *end && is_empty(behind, end);
		buffer_add(&block, behind, (size_t)(end - behind));
		hear_block(bounce, name, buffer_text(&block));
		TEXT_COPY(name, next);
		at = end;
	}
	keep_explained(bounce);
	if (!is_shared && bounce->told_count > 0 && !are_of_one(bounce))
		return true;
	bounce->told_count = 0;
	return false;
}

void bounce_hear_mail(struct bounce *bounce, const struct bounce_mail *letter)
{
	_cleanup_(words_free) struct words words = { 0 };

	settle(bounce);
	if (bounce->is_of_several || bounce->state == BOUNCE_NOTHING ||
		(bounce->state == BOUNCE_FAILED && bounce->reason != REASON_UNCLEAR))
		return;
	words_of(letter, &words);
	if (bounce->state == BOUNCE_FAILED)
		take_reason(bounce, &words);
	else if (is_an_absence(letter->subject))
		bounce->state = BOUNCE_NOTHING;
	else if (!is_worded_as_a_bounce(letter, &words))
		bounce->state = letter->automatic ? BOUNCE_NOTHING : BOUNCE_NONE;
	else if (is_a_delay(buffer_text(&words.all), letter->subject))
		bounce->state = BOUNCE_NOTHING;
	else if (!letter->is_report && hear_blocks(bounce, letter->text))
		settle(bounce);
	else
		take_words(bounce, &words);
}

/* ---- the result ---- */

void bounce_tell(const struct bounce *bounce, struct report *ret)
{
	char line[400], words[256];

	if (bounce->state == BOUNCE_NONE)
		return;
	ret->kind = bounce->state == BOUNCE_FAILED ? REPORT_FEEDBACK : REPORT_NOTHING;
	if (bounce->state == BOUNCE_NOTHING)
		return;
	ret->reason = bounce->reason;
	ret->feedback = reason_is_permanent(bounce->reason) ? FEEDBACK_BOUNCE_PERMANENT : FEEDBACK_BOUNCE_TRANSIENT;
	snprintf(line, sizeof(line), "bounced: %s %s", bounce->status[0] ? bounce->status : reason_name(bounce->reason),
		bounce->said);
	mail_words(line, strlen(line), words);
	TEXT_COPY(ret->detail, words);
}
