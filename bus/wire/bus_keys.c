/* bus_keys.c: see bus_keys.h; config.h explains a row */
#include "bus/wire/bus_keys.h"
#include "bus/base/retention.h"
#include "bus/wire/curve.h"
#include "bus/wire/registry.h"

#define EVERY "every"
#define MIB_MOST (INT64_C(1) << 30)
#define SPAN_MOST_US (INT64_C(36500) * US_PER_DAY)

/*
 * The broker's sockets lie in this folder, "lane-" and 16 digits at the longest: a socket's name has at most
 * 107 bytes.
 */
enum { RUN_MOST = 107 - 1 - 5 - 16, FOLDER_MOST = 190 };

static bool is_place(const char *value)
{
	char host[128];
	int port;

	return curve_address(value, host, &port);
}

static bool is_rights(const char *value)
{
	unsigned rights;

	return rights_parse(value, &rights) == 0;
}

#define PLACE CONFIG_JUDGED("host:port with a port from 1024 to 65000, as in 10.0.0.7:7400", 160, is_place)

const struct config_key bus_keys[] = {
	{ "paths", "state", "/var/lib/cartbus", "where the log, folded state, spools and exports live",
		.kind = CONFIG_PATH(FOLDER_MOST), .readers = EVERY },
	{ "paths", "run", "/run/cartbus", "where the sockets live", .kind = CONFIG_PATH(RUN_MOST), .readers = EVERY },
	{ "paths", "shops", "/etc/cartbus/shops", "one folder per shop: shop.conf, rules.txt, voice.txt",
		.kind = CONFIG_PATH(FOLDER_MOST), .readers = "gateway mirror cartbus" },
	{ "paths", "secrets", "/etc/cartbus/secrets", "keys and webhook secrets, files of mode 0600",
		.kind = CONFIG_PATH(FOLDER_MOST), .readers = EVERY },
	{ "paths", "keys", "/etc/cartbus/keys", "CURVE keys for TCP: NAME.key of mode 0600, and peers.conf",
		.kind = CONFIG_PATH(FOLDER_MOST), .readers = EVERY },
	{ "clock", "rate", "1", "how fast wall time runs; anything but 1 is for demos", .kind = CONFIG_REAL(0.001, 1e6),
		.readers = EVERY, .needs = "other: origin-real-us origin-wall-us" },
	{ "clock", "origin-real-us", NULL, "real time at which a scaled clock starts, microseconds since 1970",
		.kind = CONFIG_COUNT(0, INT64_MAX), .readers = EVERY },
	{ "clock", "origin-wall-us", NULL, "what a scaled clock shows at its origin, microseconds since 1970",
		.kind = CONFIG_COUNT(0, INT64_MAX), .readers = EVERY },
	{ "log", "level", "info", "of what is not as important nothing is said",
		.kind = CONFIG_WORD("critical error warning notice info debug"), .readers = EVERY },
	{ "log", "format", "text", "text for people and the journal, or json: an object per line",
		.kind = CONFIG_WORD("text json"), .readers = EVERY },
	{ "turn", "deadline", "10s", "a decision that takes longer ends its process: 1s or more",
		.kind = CONFIG_SPAN(US_PER_S, US_PER_DAY), .readers = EVERY },
	{ "broker", "topology", "", "the services' declarations; beside the programs if not given",
		.kind = CONFIG_PATH(500), .readers = "broker" },
	{ "broker", "headroom", "128", "MiB: with less room on the disk nothing new is taken",
		.kind = CONFIG_COUNT_OF("MiB", 0, 1 << 20), .readers = "broker cartbus" },
	{ "broker", "headroom-percent", "1", "or so many percent of the file system, if that is more",
		.kind = CONFIG_COUNT_OF("percent", 0, 50), .readers = "broker cartbus" },
	{ "broker", "heartbeat", "300",
		"ms: a process that is silent for five of them is dead to the broker (a command: for fifty), and a "
		"silent broker to it",
		.kind = CONFIG_COUNT_OF("ms", 100, 60000), .readers = "broker" },
	{ "broker", "listen", "", "host:port to listen at over TCP, CURVE only; empty: this machine alone",
		.kind = PLACE, .readers = "broker cartbus" },
	{ "broker", "users", "shared",
		"shared: the broker's own user and root may be any service; listed: only [user NAME] sections",
		.kind = CONFIG_WORD("shared listed"), .readers = "broker cartbus" },
	{ "retention", "raw", "30d",
		"how long what storefronts and shoppers sent is kept: 21d to 30d; less would take a stop away while a "
		"mail may be decided on, and more would keep personal data without need",
		.kind = CONFIG_SPAN(RETENTION_RAW_LEAST_US, RETENTION_RAW_MOST_US),
		.readers = "broker mailin cartbus" },
	{ "retention", "raw-mib", "0", "how much of it at most, from 21 days of age on; 0: no limit",
		.kind = CONFIG_COUNT_OF("MiB", 0, MIB_MOST), .readers = "broker mailin cartbus" },
	{ "retention", "facts", "400d",
		"how long decisions are kept, and what has ended is remembered: 120d or more, as people ask for "
		"months afterwards what was decided",
		.kind = CONFIG_SPAN(RETENTION_FACTS_LEAST_US, SPAN_MOST_US), .readers = "broker mailin cartbus" },
	{ "retention", "facts-mib", "0", "how much of them at most, from 120 days of age on; 0: no limit",
		.kind = CONFIG_COUNT_OF("MiB", 0, MIB_MOST), .readers = "broker mailin cartbus" },
	{ "user", "service", NULL, "what processes of this user may be; several with blanks between", .named = true,
		.kind = CONFIG_TEXT(127), .readers = "broker cartbus" },
	{ "user", "instance", "*", "pattern of the instance's name", .named = true, .kind = CONFIG_TEXT(63),
		.readers = "broker cartbus" },
	{ "user", "names", "", "how many instances it may be: 64 at a time, and 4 gateways, if not given",
		.named = true, .kind = CONFIG_COUNT(1, IDENTITY_NAMES_MOST), .readers = "broker cartbus" },
	{ "user", "rights", "default", "default, all, or some of publish hear fold claim tap clear ask operate",
		.named = true, .kind = CONFIG_JUDGED(RIGHTS_EXPECTED, 200, is_rights), .readers = "broker cartbus" },
	{ "connect", "broker", "", "host:port of the broker, over TCP; empty: the sockets in [paths] run",
		.kind = PLACE, .readers = EVERY },
	{ "connect", "key", "", "name of the key to show there; the service's name if not given",
		.kind = CONFIG_TEXT(63), .readers = EVERY },
	CONFIG_END,
};
