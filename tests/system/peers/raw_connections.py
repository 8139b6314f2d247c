"""Thousands of connections that say nothing, from a process of their own: what anybody who reaches a socket can do."""

import resource
import subprocess
import sys

OPENER = """
import resource, socket, sys, time
kind, count, pause_s, *targets = sys.argv[1:]
count = int(count)
kept, opened, refused = [], 0, 0
for i in range(count):
    target = targets[i % len(targets)]
    one = socket.socket(socket.AF_INET if kind == "tcp" else socket.AF_UNIX, socket.SOCK_STREAM)
    one.settimeout(5)
    try:
        if kind == "tcp":
            here, there, port = target.split(",")
            one.bind((here, 0))
            one.connect((there, int(port)))
        else:
            one.settimeout(None)  # with a limit it is not waited at all where the listener's queue is full
            one.connect(target)
        kept.append(one)
        opened += 1
    except OSError:
        one.close()
        refused += 1
    time.sleep(float(pause_s))
print(opened, refused, flush=True)
sys.stdin.read()
"""


class Opener:
    """`targets`: paths, or "from,to,port" over TCP; they are opened in turn, `pause_s` seconds apart, and held until the end."""

    def __init__(self, kind, count, targets, uid=None, pause_s=0):
        as_user = {"user": uid, "group": uid, "extra_groups": []} if uid else {}
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        words = ["prlimit", f"--nofile={hard}:{hard}", sys.executable, "-B", "-c", OPENER, kind, str(count), str(pause_s), *map(str, targets)]
        self.popen = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, **as_user)

    def __enter__(self):
        return self

    def counted(self):
        """How many connected, and how many did not; waits until all were tried."""
        return tuple(int(number) for number in self.popen.stdout.readline().split())

    def __exit__(self, *_):
        self.popen.stdin.close()
        self.popen.stdout.close()
        self.popen.wait(20)
