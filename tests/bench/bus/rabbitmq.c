/*
 * rabbitmq.c: a RabbitMQ quorum queue with publisher confirms; through librabbitmq
 */
#include "bus/base/log.h"
#include "bus/base/memory.h"
#include "tests/bench/bus/peer.h"
#include <amqp.h>
#include <amqp_framing.h>
#include <amqp_tcp_socket.h>
#include <stdlib.h>

enum { CHANNEL = 1, PERSISTENT = 2, FRAME_BYTES = 131072 };

struct rabbit {
	amqp_connection_state_t connection;
	uint64_t floor;                    /* confirmed up to this tag */
	bool beyond[2 * UNCONFIRMED_MOST]; /* confirmed ones above it, by tag */
};

static void check(amqp_rpc_reply_t reply, const char *what)
{
	if (reply.reply_type != AMQP_RESPONSE_NORMAL)
		die("RabbitMQ: %s failed: %s", what,
			reply.reply_type == AMQP_RESPONSE_LIBRARY_EXCEPTION ? amqp_error_string2(reply.library_error)
									    : "refused by the server");
}

static struct rabbit *open_rabbit(const struct load *load)
{
	struct rabbit *rabbit = memory_new(sizeof(*rabbit));
	amqp_table_entry_t kind = { .key = amqp_cstring_bytes("x-queue-type"),
		.value = { .kind = AMQP_FIELD_KIND_UTF8, .value.bytes = amqp_cstring_bytes("quorum") } };
	amqp_table_t arguments = { .num_entries = 1, .entries = &kind };
	amqp_socket_t *socket;

	rabbit->connection = amqp_new_connection();
	socket = amqp_tcp_socket_new(rabbit->connection);
	if (!socket || amqp_socket_open(socket, "127.0.0.1", atoi(load->address)) != AMQP_STATUS_OK)
		die("cannot connect to RabbitMQ on port %s", load->address);
	check(amqp_login(rabbit->connection, "/", 0, FRAME_BYTES, 0, AMQP_SASL_METHOD_PLAIN, "guest", "guest"),
		"login");
	amqp_channel_open(rabbit->connection, CHANNEL);
	check(amqp_get_rpc_reply(rabbit->connection), "opening a channel");
	amqp_queue_declare(rabbit->connection, CHANNEL, amqp_cstring_bytes("bench"), 0, 1, 0, 0, arguments);
	check(amqp_get_rpc_reply(rabbit->connection), "declaring a quorum queue");
	return rabbit;
}

static void *open_producer(const struct load *load)
{
	struct rabbit *rabbit = open_rabbit(load);

	amqp_confirm_select(rabbit->connection, CHANNEL);
	check(amqp_get_rpc_reply(rabbit->connection), "asking for confirms");
	return rabbit;
}

static void publish(void *producer, uint64_t nth, struct bytes body)
{
	struct rabbit *rabbit = producer;
	amqp_basic_properties_t properties = { ._flags = AMQP_BASIC_DELIVERY_MODE_FLAG, .delivery_mode = PERSISTENT };
	amqp_bytes_t bytes = { .len = body.len, .bytes = (void *)(uintptr_t)body.data };

	(void)nth;
	if (amqp_basic_publish(rabbit->connection, CHANNEL, amqp_empty_bytes, amqp_cstring_bytes("bench"), 1, 0,
		    &properties, bytes) != AMQP_STATUS_OK)
		die("RabbitMQ takes no message");
}

/* Confirms come one by one, in any order, or for all up to a tag; counted is what is confirmed without a gap. */
static void hear_confirm(struct rabbit *rabbit, const amqp_basic_ack_t *ack)
{
	enum { ROUND = 2 * UNCONFIRMED_MOST };

	rabbit->beyond[ack->delivery_tag % ROUND] = true;
	while (ack->multiple && rabbit->floor < ack->delivery_tag)
		rabbit->beyond[++rabbit->floor % ROUND] = false;
	while (rabbit->beyond[(rabbit->floor + 1) % ROUND])
		rabbit->beyond[++rabbit->floor % ROUND] = false;
}

static bool read_frame(struct rabbit *rabbit, int64_t wait_us)
{
	struct timeval wait = { .tv_sec = wait_us / 1000000, .tv_usec = wait_us % 1000000 };
	amqp_frame_t frame;
	int r = amqp_simple_wait_frame_noblock(rabbit->connection, &frame, &wait);

	if (r == AMQP_STATUS_TIMEOUT)
		return false;
	if (r != AMQP_STATUS_OK)
		die("RabbitMQ: %s", amqp_error_string2(r));
	if (frame.frame_type != AMQP_FRAME_METHOD || frame.payload.method.id != AMQP_BASIC_ACK_METHOD)
		die("RabbitMQ answers a message with something else than a confirm");
	hear_confirm(rabbit, frame.payload.method.decoded);
	amqp_maybe_release_buffers(rabbit->connection);
	return true;
}

static uint64_t confirmed(void *producer, int64_t wait_us)
{
	struct rabbit *rabbit = producer;
	uint64_t before = rabbit->floor;

	while (read_frame(rabbit, rabbit->floor > before ? 0 : wait_us))
		;
	return rabbit->floor - before;
}

static void *open_consumer(const struct load *load)
{
	struct rabbit *rabbit = open_rabbit(load);

	amqp_basic_qos(rabbit->connection, CHANNEL, 0, UNACKNOWLEDGED_MOST, 0);
	check(amqp_get_rpc_reply(rabbit->connection), "setting the prefetch");
	amqp_basic_consume(
		rabbit->connection, CHANNEL, amqp_cstring_bytes("bench"), amqp_empty_bytes, 0, 0, 0, amqp_empty_table);
	check(amqp_get_rpc_reply(rabbit->connection), "consuming");
	return rabbit;
}

static uint64_t consumed(void *consumer, int64_t wait_us)
{
	struct rabbit *rabbit = consumer;
	uint64_t count = 0;

	for (; count < UNACKNOWLEDGED_MOST; count++) {
		struct timeval wait = { .tv_usec = count > 0 ? 0 : wait_us };
		amqp_envelope_t envelope;
		amqp_rpc_reply_t reply = amqp_consume_message(rabbit->connection, &envelope, &wait, 0);

		if (reply.reply_type == AMQP_RESPONSE_LIBRARY_EXCEPTION && reply.library_error == AMQP_STATUS_TIMEOUT)
			break;
		check(reply, "receiving");
		amqp_basic_ack(rabbit->connection, CHANNEL, envelope.delivery_tag, 0);
		amqp_destroy_envelope(&envelope);
		amqp_maybe_release_buffers(rabbit->connection);
	}
	return count;
}

const struct peer peer_rabbitmq = { "rabbitmq", open_producer, publish, confirmed, open_consumer, consumed, NULL };
