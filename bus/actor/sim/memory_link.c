/*
 * memory_link.c: connects a session to a broker in the same process
 *
 * Owns:      frames under way, the mailboxes.
 * Promises:  those of zmq_link.c: order per direction, nothing blocks, and a mailbox whose reader is gone
 *            answers -EAGAIN. When a process dies, some of its last frames may be lost, as the seed decides.
 */
#include "bus.pb.h"
#include "bus/actor/runtime/state_layers.h"
#include "bus/actor/sim/sim_inside.h"
#include "bus/base/memory.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

struct frame {
	struct list hook;
	struct buffer bytes;
};

void pipe_init(struct pipe *pipe)
{
	list_init(&pipe->frames);
	pipe->count = 0;
}

static void pipe_put(struct pipe *pipe, struct bytes bytes)
{
	struct frame *frame = memory_new(sizeof(*frame));

	buffer_add(&frame->bytes, bytes.data, bytes.len);
	list_append(&pipe->frames, &frame->hook);
	pipe->count++;
}

static void drop(struct pipe *pipe, struct frame *frame)
{
	list_remove(&frame->hook);
	buffer_free(&frame->bytes);
	free(frame);
	pipe->count--;
}

bool pipe_take(struct pipe *pipe, struct buffer *ret)
{
	struct frame *frame;

	if (list_empty(&pipe->frames))
		return false;
	frame = LIST_ENTRY(pipe->frames.next, struct frame, hook);
	buffer_clear(ret);
	buffer_add(ret, frame->bytes.data, frame->bytes.len);
	drop(pipe, frame);
	return true;
}

void pipe_cut(struct pipe *pipe, size_t keep)
{
	while (pipe->count > keep)
		drop(pipe, LIST_ENTRY(pipe->frames.prev, struct frame, hook));
}

/* --- the process's side --- */

struct memory_link {
	struct link link;
	struct instance *instance;
};

static struct instance *instance_of(struct link *link)
{
	return ((struct memory_link *)link)->instance;
}

static int link_say(struct link *link, struct bytes frame)
{
	struct instance *instance = instance_of(link);

	if (!instance->sim->broker)
		return -EAGAIN;
	pipe_put(&instance->said, frame);
	return 0;
}

static int link_control(struct link *link, struct bytes message)
{
	struct instance *instance = instance_of(link);

	if (!instance->sim->broker)
		return -EAGAIN;
	pipe_put(&instance->asked, message);
	return 0;
}

static int link_hear_control(struct link *link, struct buffer *ret)
{
	return pipe_take(&instance_of(link)->told, ret) ? 0 : -EAGAIN;
}

static struct mailbox *find_mailbox(struct sim *sim, uint64_t epoch)
{
	LIST_EACH (hook, &sim->mailboxes) {
		struct mailbox *mailbox = LIST_ENTRY(hook, struct mailbox, hook);

		if (mailbox->epoch == epoch)
			return mailbox;
	}
	return NULL;
}

static void leave_mailbox(struct instance *instance)
{
	if (instance->mailbox) {
		instance->mailbox->dead = true;
		instance->mailbox->instance = NULL;
	}
	instance->mailbox = NULL;
}

static int link_open_mailbox(struct link *link, const char *endpoint)
{
	struct instance *instance = instance_of(link);
	unsigned long long epoch = 0;

	leave_mailbox(instance);
	if (sscanf(endpoint, "lane-%llu", &epoch) != 1)
		return -EINVAL;
	instance->mailbox = find_mailbox(instance->sim, epoch);
	if (instance->mailbox)
		instance->mailbox->instance = instance;
	return 0; /* a mailbox that is closed already stays silent, as over sockets */
}

static int link_hear_mailbox(struct link *link, struct buffer *ret)
{
	struct instance *instance = instance_of(link);

	return instance->mailbox && pipe_take(&instance->mailbox->frames, ret) ? 0 : -EAGAIN;
}

static void link_close(struct link *link)
{
	leave_mailbox(instance_of(link));
	free(link);
}

struct link *memory_link_new(struct instance *instance)
{
	struct memory_link *link = memory_new(sizeof(*link));

	link->instance = instance;
	link->link = (struct link){ .say = link_say,
		.control = link_control,
		.hear_control = link_hear_control,
		.open_mailbox = link_open_mailbox,
		.hear_mailbox = link_hear_mailbox,
		.close = link_close };
	return &link->link;
}

bool instance_has_heard(const struct instance *instance)
{
	return instance->told.count > 0 || (instance->mailbox && instance->mailbox->frames.count > 0);
}

void instance_cut_off(struct instance *instance)
{
	leave_mailbox(instance);
	pipe_cut(&instance->told, 0);
	pipe_cut(&instance->asked, 0);
	if (instance->said.count > 0)
		pipe_cut(&instance->said, sim_random(instance->sim) % (instance->said.count + 1));
}

/* --- the broker's side --- */

static int out_open_mailbox(void *context, uint64_t epoch, const char *who, char ret_endpoint[160])
{
	struct sim *sim = context;
	struct mailbox *mailbox = memory_new(sizeof(*mailbox));

	(void)who;
	mailbox->epoch = epoch;
	pipe_init(&mailbox->frames);
	list_append(&sim->mailboxes, &mailbox->hook);
	snprintf(ret_endpoint, 160, "lane-%llu", (unsigned long long)epoch);
	return 0;
}

static void mailbox_free(struct mailbox *mailbox)
{
	if (mailbox->instance)
		mailbox->instance->mailbox = NULL;
	pipe_cut(&mailbox->frames, 0);
	list_remove(&mailbox->hook);
	free(mailbox);
}

static void out_close_mailbox(void *context, uint64_t epoch)
{
	struct mailbox *mailbox = find_mailbox(context, epoch);

	if (mailbox)
		mailbox_free(mailbox);
}

static int out_push(void *context, uint64_t epoch, struct bytes frame)
{
	struct mailbox *mailbox = find_mailbox(context, epoch);

	if (!mailbox || mailbox->dead)
		return -EAGAIN;
	pipe_put(&mailbox->frames, frame);
	return 0;
}

static void out_control(void *context, struct bytes peer, struct bytes message)
{
	struct sim *sim = context;

	LIST_EACH (hook, &sim->instances) {
		struct instance *instance = LIST_ENTRY(hook, struct instance, hook);

		if (instance->runtime && bytes_equal(peer, BYTES(&instance->peer, sizeof(instance->peer))))
			pipe_put(&instance->told, message);
	}
}

/* Taps see everything that is committed, in order: the simulator's own copy of the log. */
static void out_tap(void *context, const char *topic, const char *shop, struct bytes tapped, struct bytes message,
	struct bytes masked)
{
	struct sim *sim = context;
	size_t start = sim->log.len;
	Tapped head = Tapped_init_zero;

	(void)topic;
	(void)shop;
	(void)masked;
	state_row(tapped, Tapped_fields, &head);
	buffer_add_be64(&sim->log, head.seq);
	buffer_add_be64(&sim->log, (uint64_t)head.time_us);
	buffer_add(&sim->log, head.said_by, strlen(head.said_by) + 1);
	buffer_add_u32(&sim->log, (uint32_t)message.len);
	buffer_add(&sim->log, message.data, message.len);
	for (size_t i = start; i < sim->log.len; i++)
		sim->hash = (sim->hash ^ sim->log.data[i]) * UINT64_C(0x100000001b3);
}

struct broker_out sim_broker_out(struct sim *sim)
{
	return (struct broker_out){ .context = sim,
		.open_mailbox = out_open_mailbox,
		.close_mailbox = out_close_mailbox,
		.push = out_push,
		.control = out_control,
		.tap = out_tap };
}

void mailboxes_free(struct sim *sim)
{
	LIST_EACH_SAFE (hook, &sim->mailboxes)
		mailbox_free(LIST_ENTRY(hook, struct mailbox, hook));
}
