/*
 * doctor_ways.c: checks what this installation reaches and what reaches it: the broker, the mail server,
 * storefronts, and the way from the internet to the gateway
 *
 * A host that reaches its broker over TCP also needs keys that the broker knows, and the broker's time.
 *
 * Promises: asks as the processes do, by the same code and with the same secrets, so its findings hold for
 *           them, as far as they may read what this user may read. Each key is checked by itself, because
 *           this command's key may be good while a sender's key is revoked.
 * Read next: services/kit/mail/transport_smtp_connection.c, storefront_probe.c, bus/actor/process/keys.c
 */
#include "services/cartbus/doctor/doctor.h"

#include "bus/actor/client.h"
#include "bus/actor/process/keys.h"
#include "bus/base/text.h"
#include "services/cartbus/core/cartbus.h"
#include "services/cartbus/core/reading.h"
#include "services/cartbus/shops/shops.h"
#include "services/cartbus/shops/storefront_probe.h"
#include "services/cartbus/watch/health.h"
#include "services/kit/http/http.h"
#include "services/kit/mail/transport.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- a broker on another host ---- */

static const char AREA[] = "keys";
static const int64_t APART_US = 60 * US_PER_S;

struct trying {
	struct doctor *doctor;
	const char *broker;
};

static void tell_key(const char *name, int known, const char *why, void *context)
{
	const struct trying *trying = context;
	char remedy[512];

	snprintf(remedy, sizeof(remedy),
		"on the broker's host: cartbus keys make, or rotate; copy the new key here as %.64s.key, and restart "
		"what shows it",
		name);
	if (known == 0)
		found(trying->doctor, FINDING_FINE, AREA, "", "the broker at %s knows the key %s", trying->broker,
			name);
	else if (known == -EACCES)
		found(trying->doctor, FINDING_WRONG, AREA, remedy,
			"the broker at %s does not know the key %s: it was revoked, or never made", trying->broker,
			name);
	else if (why[0])
		found(trying->doctor, FINDING_WRONG, AREA, remedy, "%s", why);
	else
		found(trying->doctor, FINDING_WRONG, AREA,
			"is that host up, and do its port and the 255 above it let this one in? Is broker.pub that "
			"broker's own?",
			"nobody who holds the key of broker.pub answers at %s to the key %s", trying->broker, name);
}

void look_at_keys(struct doctor *doctor)
{
	struct trying trying = { doctor, config_get(doctor->command->config, "connect", NULL, "broker") };

	if (doctor->is_far)
		keys_try(doctor->command->config, tell_key, &trying);
}

static void look_at_brokers_clock(struct doctor *doctor, struct client *client)
{
	const struct clock *clock = &doctor->command->clock;
	int64_t asked_us = clock_wall_us(clock), ahead_us;
	json_t *status = doctor->is_far ? command_look(doctor->command, client, "status", NULL) : NULL;
	int64_t answered_us = clock_wall_us(clock), broker_us = json_integer_value(json_object_get(status, "wall_us"));

	ahead_us = asked_us > broker_us ? asked_us - broker_us : answered_us < broker_us ? answered_us - broker_us : 0;
	if (status && (ahead_us > APART_US || ahead_us < -APART_US))
		found(doctor, FINDING_WRONG, "clock",
			"timedatectl set-ntp true on both hosts; then restart cartbus on the one whose clock was wrong",
			"this host's clock is %" PRId64 " s %s the broker's",
			(ahead_us > 0 ? ahead_us : -ahead_us) / US_PER_S, ahead_us > 0 ? "ahead of" : "behind");
	json_decref(status);
}

/* ---- broker, mail server, public-url, storefronts ---- */

static const int64_t BROKER_PATIENCE_US = 3 * US_PER_S, URL_PATIENCE_US = 5 * US_PER_S;

/* ---- the broker, and what runs ---- */

static void look_at_red(struct doctor *doctor, struct client *client)
{
	json_t *red = NULL;
	const json_t *one;
	char clock[256];
	size_t i;

	status_red(doctor->command, client, &red, clock);
	if (clock[0])
		found(doctor, FINDING_DOUBTFUL, "clock",
			"timedatectl shows it, and sets it; then restart all of cartbus", "%s", clock);
	json_array_foreach(red, i, one) found(doctor, FINDING_WRONG, "processes",
		command_has_units(doctor->command)
			? "cartbus status tells more; systemctl status 'cartbus-*', and journalctl -u of one"
			: "cartbus status tells more, and the lines of cartbus up",
		"%s", json_string_value(one));
	if (red && json_array_size(red) == 0)
		found(doctor, FINDING_FINE, "processes", "", "all run, and no alarm stands");
	json_decref(red);
}

static const char *remedy_for(const struct doctor *doctor, int failed)
{
	if (!doctor->is_far && failed == -ETIMEDOUT && !command_has_units(doctor->command))
		return "start it: cartbus up, with the same --home or --config; if it ends at once its lines say why, "
		       "and cartbus verify judges its log and side log";
	if (!doctor->is_far)
		return failed == -ETIMEDOUT
			? "systemctl start cartbus.target, or cartbus up; then journalctl -u cartbus-broker, and "
			  "cartbus verify"
			: "run this as root, or as a user who may operate it ([user NAME] in cartbus.conf)";
	return failed == -ETIMEDOUT
		? "is its host up, does it listen there ([broker] listen), and do that port and the 255 above it let "
		  "this host in?"
		: "on the broker's host: cartbus keys make look --service cartbus --rights ask; copy look.key here as "
		  "cartbus.key";
}

static void look_at_broker(struct doctor *doctor)
{
	struct client *client = NULL;
	char why[256];
	int failed = client_open(
		&cartbus, doctor->command->config, &doctor->command->clock, BROKER_PATIENCE_US, &client, why);

	if (failed) {
		doctor->is_away = failed == -ETIMEDOUT;
		found(doctor, FINDING_WRONG, "broker", remedy_for(doctor, failed), "%s", why);
		return;
	}
	found(doctor, FINDING_FINE, "broker", "", "it answers");
	look_at_brokers_clock(doctor, client);
	look_at_red(doctor, client);
	look_at_reading(doctor, client);
	if (!doctor->is_far)
		look_at_carts(doctor, client);
	client_free(client);
}

/* ---- the mail server ---- */

static void look_at_smtp(struct doctor *doctor)
{
	struct smtp_settings settings;
	char password_file[256], why[512] = "";

	if (smtp_settings_of(doctor->command->config, &doctor->command->clock, password_file, &settings, why) < 0)
		found(doctor, FINDING_WRONG, "mail", "mend it, and run this again", "%s", why);
	else if (smtp_probe(&settings, why) < 0)
		found(doctor, FINDING_WRONG, "mail",
			"look at [mail] smtp-host, smtp-port, smtp-tls and smtp-ca, at the firewall, and at smtp-user "
			"with the secret smtp.password",
			"%s:%d: %s", settings.host, settings.port, why);
	else
		found(doctor, FINDING_FINE, "mail", "", "%s:%d lets us in%s%s", settings.host, settings.port,
			settings.starttls ? ", over TLS" : "", settings.user ? ", with our login" : "");
}

static void look_at_mail(struct doctor *doctor)
{
	const struct config *config = doctor->command->config;
	int transport = config_word(config, "mail", NULL, "transport");

	if (transport == TRANSPORT_SMTP)
		look_at_smtp(doctor);
	else if (transport == TRANSPORT_SES)
		found(doctor, FINDING_DOUBTFUL, "mail", "cartbus send-test SHOP ADDRESS sends one mail by it",
			"SES was not asked");
	else
		found(doctor, FINDING_DOUBTFUL, "mail", "[mail] transport = smtp or ses, when shoppers are to get them",
			"mails go nowhere: [mail] transport = %s", config_get(config, "mail", NULL, "transport"));
}

/* ---- the way from the internet to the gateway ---- */

struct reached {
	bool answered, is_ours;
	long status;
	char words[256];
};

static void hear(const void *result, void *context)
{
	const struct http_answer *answer = result;
	struct reached *reached = context;
	json_t *body = json_loadb((const char *)answer->body.data, answer->body.len, 0, NULL);

	reached->answered = answer->end == HTTP_ANSWERED;
	reached->status = answer->status;
	reached->is_ours = json_is_true(json_object_get(body, "ready")) && json_object_get(body, "spooled");
	TEXT_COPY(reached->words, answer->words);
	json_decref(body);
}

static void tell_url(struct doctor *doctor, const char *url, const struct reached *reached)
{
	if (reached->is_ours)
		found(doctor, FINDING_FINE, "public-url", "", "%s leads to our gateway", url);
	else if (reached->answered)
		found(doctor, FINDING_WRONG, "public-url",
			"let the proxy hand requests to [gateway] listen and port, paths unchanged; a 503 is the "
			"gateway's: see its journal",
			"%s/healthz is answered, with %ld, and not by a gateway that is ready", url, reached->status);
	else
		found(doctor, FINDING_WRONG, "public-url",
			"is the name in the DNS, the proxy running, its certificate valid, the port open? A router may "
			"not lead its own net "
			"back in: then look from outside",
			"%s/healthz: %s", url, reached->words);
}

/* false: it is no URL. */
static bool get(struct doctor *doctor, const char *url, void (*hear_answer)(const void *result, void *context),
	struct reached *reached)
{
	const struct http_settings settings = http_settings_of(doctor->command->config, &doctor->command->clock);
	struct http_request request;
	bool is_url = http_request_init(&request, "GET", "%s", url) == 0;

	if (is_url) {
		struct effect_driver *driver = http_driver_new("doctor", &settings);

		request.reach = HTTP_REACH_ADMIN;
		request.deadline_us = URL_PATIENCE_US;
		effect_run(driver, &request, URL_PATIENCE_US + US_PER_S, hear_answer, reached);
		driver->close(driver->self);
	}
	http_request_clear(&request);
	return is_url;
}

static void look_at_url(struct doctor *doctor)
{
	const char *url = config_get(doctor->command->config, "gateway", NULL, "public-url");
	struct reached reached = { .words = "no answer in time" };
	char plain[HTTP_URL_MAX], asked[HTTP_URL_MAX + 16];

	snprintf(plain, sizeof(plain), "%s", url);
	for (size_t len = strlen(plain); len > 0 && plain[len - 1] == '/'; len--)
		plain[len - 1] = '\0';
	snprintf(asked, sizeof(asked), "%s/healthz", plain);
	if (get(doctor, asked, hear, &reached))
		tell_url(doctor, plain, &reached);
	else
		found(doctor, FINDING_WRONG, "public-url", "as https://carts.shop.example", "%s is no URL", url);
}

/* ---- the metrics ---- */

static void hear_metrics(const void *result, void *context)
{
	static const char OURS[] = "cartbus_broker_up";
	const struct http_answer *answer = result;
	struct reached *reached = context;

	reached->answered = answer->end == HTTP_ANSWERED;
	reached->status = answer->status;
	reached->is_ours = answer->body.len > 0 && memmem(answer->body.data, answer->body.len, OURS, strlen(OURS));
	TEXT_COPY(reached->words, answer->words);
}

static void look_at_metrics(struct doctor *doctor)
{
	const char *host = config_get(doctor->command->config, "monitor", NULL, "listen");
	const char *port = config_get(doctor->command->config, "monitor", NULL, "port");
	struct reached reached = { .words = "no answer in time" };
	char url[300];

	if (strcmp(port, "0") == 0 || doctor->is_away)
		return;
	snprintf(url, sizeof(url), strchr(host, ':') ? "http://[%s]:%s/metrics" : "http://%s:%s/metrics", host, port);
	get(doctor, url, hear_metrics, &reached);
	if (reached.is_ours)
		found(doctor, FINDING_FINE, "metrics", "", "%s", url);
	else
		found(doctor, FINDING_WRONG, "metrics",
			"ss -ltnp shows who has the port: end that, or choose another ([monitor] port, and "
			"SocketBindAllow= of "
			"cartbus-monitor.service); the monitor tries again by itself",
			"%s: %s", url, reached.answered ? "it is not the monitor that answers" : reached.words);
}

/* ---- storefronts ---- */

static void look_at_storefront(const char *name, void *context)
{
	struct doctor *doctor = context;
	struct storefront_probed probed;
	struct shop *shop = malloc(sizeof(*shop));

	if (shop && command_shop(doctor->command, name, shop) == EXIT_FINE &&
		shop->storefront.platform != STOREFRONT_NONE) {
		storefront_probe(doctor->command, shop, &probed);
		found(doctor, probed.answers ? FINDING_FINE : FINDING_WRONG, "storefront",
			probed.answers ? "" : "look at [storefront] of shop.conf and at the secret api", "%s: %s %s",
			name, probed.url, probed.words);
	}
	free(shop);
}

static void hear_nothing(const char *words, void *context)
{
	(void)words, (void)context; /* the configuration was reported before */
}

void look_at_ways(struct doctor *doctor)
{
	look_at_broker(doctor);
	look_at_mail(doctor);
	look_at_url(doctor);
	look_at_metrics(doctor);
	doctor->command->hear = hear_nothing;
	shops_each(doctor->command, look_at_storefront, doctor);
	doctor->command->hear = NULL;
}
