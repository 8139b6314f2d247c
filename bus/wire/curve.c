/*
 * curve.c: CURVE keys, in memory and in files
 *
 * Promises:  a secret leaves its file for memory only, and the last function that uses it wipes it there.
 * Fails by:  a negative errno, and the file with the remedy in words.
 * Read next: gate.c (admits clients by key), broker_endpoint.c (connects with a key)
 */
#include "bus/wire/curve.h"
#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include "bus/base/log.h"
#include "bus/base/text.h"
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zmq.h>

enum { Z85_TEXT = 41, PORT_LEAST = 1024, PORT_MOST = 65000 };

const char curve_broker_name[] = "broker";

void curve_make(struct curve_pair *ret)
{
	char public_text[Z85_TEXT], secret_text[Z85_TEXT];

	if (zmq_curve_keypair(public_text, secret_text) < 0)
		die("this libzmq makes no CURVE keys: %s; install one built with libsodium", zmq_strerror(zmq_errno()));
	zmq_z85_decode(ret->public_key, public_text);
	zmq_z85_decode(ret->secret_key, secret_text);
	explicit_bzero(secret_text, sizeof(secret_text));
}

void curve_wipe(struct curve_pair *pair)
{
	explicit_bzero(pair, sizeof(*pair));
}

static int derive_public(struct curve_pair *pair)
{
	char public_text[Z85_TEXT], secret_text[Z85_TEXT];
	int failed;

	zmq_z85_encode(secret_text, pair->secret_key, CURVE_KEY);
	failed = zmq_curve_public(public_text, secret_text);
	explicit_bzero(secret_text, sizeof(secret_text));
	if (failed)
		return -EBADMSG;
	zmq_z85_decode(pair->public_key, public_text);
	return 0;
}

/*
 * The remedy for a missing file: each key is made in another way, and a service on the broker's host shows
 * another one.
 */
static const char *remedy_of(const char *path)
{
	const char *slash = strrchr(path, '/'), *file = slash ? slash + 1 : path;

	if (strcmp(file, "broker.key") == 0)
		return "\"cartbus secrets make\" makes it";
	if (strcmp(file, "broker.pub") == 0)
		return "copy it here from the broker's host";
	return "\"cartbus keys make NAME\" on the broker's host makes it";
}

static int explain(const char *path, int error, char ret_why[256])
{
	switch (error) {
	case -ENOENT:
		snprintf(ret_why, 256, "%.180s is missing; %s", path, remedy_of(path));
		break;
	case -EPERM:
		snprintf(ret_why, 256, "%.180s may be read or written by others; chmod 600 it", path);
		break;
	case -EBADMSG:
		snprintf(ret_why, 256, "%.180s holds no key: 64 hex digits are expected", path);
		break;
	default:
		snprintf(ret_why, 256, "%.180s cannot be read: %s", path, strerror(-error));
	}
	return error;
}

/*
 * Finds the copy that systemd handed to this process, if any: the file itself is root's. An empty copy counts
 * as none.
 */
static void find_secret(const char *folder, const char *name, char ret[PATH_MAX])
{
	const char *handed = getenv("CREDENTIALS_DIRECTORY");
	struct stat there;

	snprintf(ret, PATH_MAX, "%s/%s.key", handed ? handed : "", name);
	if (!handed || stat(ret, &there) < 0 || there.st_size < CURVE_HEX - 1)
		snprintf(ret, PATH_MAX, "%s/%s.key", folder, name);
}

int curve_read_pair(const char *folder, const char *name, struct curve_pair *ret, char ret_why[256])
{
	_cleanup_(buffer_free) struct buffer text = { 0 };
	char path[PATH_MAX];
	int r;

	find_secret(folder, name, path);
	r = file_read_secret(path, &text);
	if (r == 0 && !text_unhex(buffer_text(&text), ret->secret_key, CURVE_KEY))
		r = -EBADMSG;
	if (text.data)
		explicit_bzero(text.data, text.len);
	if (r == 0)
		r = derive_public(ret);
	return r < 0 ? explain(path, r, ret_why) : 0;
}

int curve_read_public(const char *folder, const char *name, uint8_t ret[CURVE_KEY], char ret_why[256])
{
	_cleanup_(buffer_free) struct buffer text = { 0 };
	char path[PATH_MAX];
	int r;

	snprintf(path, sizeof(path), "%s/%s.pub", folder, name);
	r = file_read(path, CURVE_HEX, &text);
	while (text.len > 0 && (text.data[text.len - 1] == '\n' || text.data[text.len - 1] == '\r'))
		text.len--;
	if (r == -EFBIG || (r == 0 && !text_unhex(buffer_text(&text), ret, CURVE_KEY)))
		r = -EBADMSG;
	return r < 0 ? explain(path, r, ret_why) : 0;
}

bool curve_address(const char *text, char ret_host[128], int *ret_port)
{
	const char *colon = strrchr(text, ':');
	char *end;
	long port;

	if (!colon || colon == text || colon - text >= 128)
		return false;
	port = strtol(colon + 1, &end, 10);
	if (colon[1] < '0' || colon[1] > '9' || *end || port < PORT_LEAST || port > PORT_MOST)
		return false;
	text_copy_bytes(ret_host, 128, BYTES(text, (size_t)(colon - text)));
	*ret_port = (int)port;
	return true;
}
