/*
 * list.h: an intrusive, circular, doubly linked list
 *
 * A `struct list` is both the head and the hook inside a member. list_init makes either empty; removing twice is harmless.
 */
#ifndef BASE_LIST_H
#define BASE_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct list {
	struct list *next, *prev;
};

#define LIST_HEAD(name) struct list name = { &(name), &(name) }
#define CONTAINER_OF(pointer, type, member) ((type *)(void *)((char *)(pointer)-offsetof(type, member)))
#define LIST_ENTRY(hook, type, member) CONTAINER_OF(hook, type, member)
#define LIST_EACH(hook, head) for (struct list *hook = (head)->next; hook != (head); hook = hook->next)
#define LIST_EACH_SAFE(hook, head)                                                                                     \
	for (struct list *hook = (head)->next, *hook##_next = hook->next; hook != (head);                              \
		hook = hook##_next, hook##_next = hook->next)

static inline void list_init(struct list *list)
{
	list->next = list->prev = list;
}

static inline bool list_empty(const struct list *list)
{
	return list->next == list;
}

static inline void list_insert_before(struct list *where, struct list *hook)
{
	hook->prev = where->prev;
	hook->next = where;
	where->prev->next = hook;
	where->prev = hook;
}

static inline void list_append(struct list *head, struct list *hook)
{
	list_insert_before(head, hook);
}

static inline void list_prepend(struct list *head, struct list *hook)
{
	list_insert_before(head->next, hook);
}

/* Moves all of `from` to the end of `to`. */
static inline void list_move_all(struct list *to, struct list *from)
{
	if (list_empty(from))
		return;
	from->next->prev = to->prev;
	to->prev->next = from->next;
	from->prev->next = to;
	to->prev = from->prev;
	list_init(from);
}

static inline void list_remove(struct list *hook)
{
	hook->prev->next = hook->next;
	hook->next->prev = hook->prev;
	list_init(hook);
}

#endif
