/*
 * halt.c: stops a process at one instruction of its way from the yes to a claim to the last byte of a mail
 *
 * `cartbus-test-halt PID INSTRUCTIONS` watches the main thread. Says "watching"; when it has set the timer that goes with a last byte
 * it lets it go on for so many instructions, sends SIGSTOP, lets go of it, and says "stopped". Whoever led it here sends SIGCONT, or
 * SIGKILL. `handed-over` in place of a number: until the kernel has taken the last byte, and the process has not seen that it has.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t traced;

static void fail(const char *what)
{
	fprintf(stderr, "halt: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* Until it stops; returns the signal that it is to get when it goes on. */
static int resume(enum __ptrace_request how, int signal)
{
	int status = 0;

	if (ptrace(how, traced, NULL, (void *)(intptr_t)signal) < 0 || waitpid(traced, &status, 0) != traced)
		fail("it cannot be led on");
	if (!WIFSTOPPED(status))
		exit(3); /* it has ended */
	bool ours = WSTOPSIG(status) == (SIGTRAP | 0x80) || WSTOPSIG(status) == SIGTRAP;
	return ours ? 0 : WSTOPSIG(status);
}

/* At the end of a system call that sets a timer to an absolute moment. */
static bool has_set_timer(void)
{
	static struct __ptrace_syscall_info entry;
	struct __ptrace_syscall_info info;

	if (ptrace(PTRACE_GET_SYSCALL_INFO, traced, (void *)sizeof(info), &info) <= 0)
		return false;
	if (info.op == PTRACE_SYSCALL_INFO_ENTRY)
		entry = info;
	if (info.op != PTRACE_SYSCALL_INFO_EXIT || entry.entry.nr != SYS_timer_settime)
		return false;
	errno = 0;
	long seconds =
		ptrace(PTRACE_PEEKDATA, traced, (void *)(uintptr_t)(entry.entry.args[2] + 2 * sizeof(long)), NULL);
	return errno == 0 && seconds != 0; /* it_value.tv_sec: 0 would be the end of one */
}

/* Of a mail: a log line goes to stderr, and a thread is woken with the 8 bytes of a counter. */
static bool is_last_byte(const struct __ptrace_syscall_info *entry)
{
	switch (entry->entry.nr) {
	case SYS_write:
	case SYS_sendto:
		return entry->entry.args[0] > STDERR_FILENO && entry->entry.args[2] != sizeof(uint64_t);
	case SYS_sendmsg:
	case SYS_renameat2:
		return true;
	default:
		return false;
	}
}

static bool has_handed_over(void)
{
	static struct __ptrace_syscall_info entry;
	struct __ptrace_syscall_info info;

	if (ptrace(PTRACE_GET_SYSCALL_INFO, traced, (void *)sizeof(info), &info) <= 0)
		return false;
	if (info.op == PTRACE_SYSCALL_INFO_ENTRY)
		entry = info;
	return info.op == PTRACE_SYSCALL_INFO_EXIT && is_last_byte(&entry) && info.exit.rval >= 0;
}

static void lead_on(const char *until)
{
	if (strcmp(until, "handed-over") == 0) {
		for (int signal = 0; !has_handed_over();)
			signal = resume(PTRACE_SYSCALL, signal);
		return;
	}
	for (long left = strtol(until, NULL, 10), signal = 0; left > 0; left--)
		signal = resume(PTRACE_SINGLESTEP, (int)signal);
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	traced = (pid_t)strtol(argv[1], NULL, 10);
	if (ptrace(PTRACE_SEIZE, traced, NULL, (void *)PTRACE_O_TRACESYSGOOD) < 0 ||
		ptrace(PTRACE_INTERRUPT, traced, NULL, NULL) < 0 || waitpid(traced, NULL, 0) != traced)
		fail("it cannot be watched");
	puts("watching");
	fflush(stdout);
	for (int signal = 0; !has_set_timer();)
		signal = resume(PTRACE_SYSCALL, signal);
	lead_on(argv[2]);
	if (ptrace(PTRACE_DETACH, traced, NULL, (void *)(intptr_t)SIGSTOP) < 0)
		fail("it cannot be let go");
	puts("stopped");
	return 0;
}
