"""Strangers who prove nothing and cost as much as they can, and customers who measure how they are served meanwhile.

    with attackers(port, 60, seconds=8, shop="demo", topic=ARN) as siege:
        latencies = customers(port, prepared, hz=100, seconds=6)
    siege.report   # what each kind of attack was answered

Both run in processes of their own. Attackers are bounded in count, in time, in requests a second and, because they share the
machine with whom they attack, in CPU: one process, which Python lets use one core at most, at the lowest priority there is.
"""

import collections
import contextlib
import itertools
import json
import os
import socket
import subprocess
import sys
import threading
import time

PACE_S = 0.05          # between two attacks of one attacker
FLOOD_AT_ONCE = 20     # connections of a flood, each time
SLOW_AT_ONCE = 20      # slow heads that one attacker holds
ANSWERED_WITHIN_S = 20  # who asks for something small is answered; how soon is measured at the customers
HEAD_START_S = 1        # until bodies are parked and slow heads on their way
MEGABYTE = 1_000_000
SIGNED = "A" * 43 + "="  # the form of a signature


def source_of(number):
    """An address of this machine for each: 127.0.0.0/8 has sixteen million."""
    return f"127.{64 + (number >> 16 & 63)}.{number >> 8 & 255}.{number & 255 or 1}"


def connect(target, timeout_s=3):
    port, source = target
    return socket.create_connection(("127.0.0.1", port), timeout_s, source_address=(source, 0) if source else None)


def status_in(connection):
    """The status of what comes back; what happened, where nothing does."""
    try:
        head = connection.recv(4096)
    except TimeoutError:
        return "silence"
    except OSError:
        return "reset"
    return head.split(b" ")[1].decode() if head.startswith(b"HTTP/1.") else "closed"


def send_all(connection, data):
    """As far as it is taken: whoever refuses says so and ends."""
    with contextlib.suppress(OSError):
        connection.sendall(data)


def post_head(path, length, *more):
    lines = [f"POST {path} HTTP/1.1", "Host: shop.example", "Content-Type: application/json", f"Content-Length: {length}", *more]
    return "\r\n".join(lines).encode() + b"\r\n\r\n"


# ---- the attacks: each one round, which answers how it was answered ----


def park_bodies(target, victim, over):
    """All of a large body but its last byte, for as long as it is listened to."""
    with connect(target) as connection:
        send_all(connection, post_head(f"/hooks/{victim['shop']}/shopify", MEGABYTE, f"X-Shopify-Hmac-Sha256: {SIGNED}"))
        send_all(connection, b"x" * (MEGABYTE - 1))
        connection.settimeout(0.2)
        until = time.monotonic() + 6
        while not over.is_set() and time.monotonic() < until:
            status = status_in(connection)
            if status != "silence":
                return status
    return "silence"


def sns_of(size):
    parts = b",".join(b'"%d":[{"a":[[[[]]]]},1]' % number for number in range(size // 28))
    return b'{"Type":"Notification",' + parts + b"}"


SNS_BODIES = itertools.cycle([sns_of(MEGABYTE), sns_of(250_000)])


def post_json(target, victim, over):
    """JSON of very many parts, where SNS posts."""
    body = next(SNS_BODIES)
    with connect(target) as connection:
        send_all(connection, post_head(f"/feedback/{victim['shop']}/sns", len(body), "x-amz-sns-message-type: Notification",
                                       f"x-amz-sns-topic-arn: {victim['topic']}") + body)
        return status_in(connection)


def slow_heads(target, victim, over):
    """Heads that come byte by byte, many at once."""
    with contextlib.ExitStack() as held:
        heads = [held.enter_context(connect(target)) for _ in range(SLOW_AT_ONCE)]
        for letter in b"GET /healthz HTTP/1.1\r\nX: y":
            for head in heads:
                send_all(head, bytes([letter]))
            if over.wait(0.2):
                break
        heads[0].settimeout(0.2)
        return status_in(heads[0])


def many_arguments(target, victim, over):
    arguments = "&".join(f"a{number}={number}" for number in range(400))
    cookies = "; ".join(f"c{number}={number}" for number in range(500))
    answers = []
    for head in (f"GET /u/x?{arguments} HTTP/1.1\r\nHost: x\r\n\r\n", f"GET /u/x HTTP/1.1\r\nHost: x\r\nCookie: {cookies}\r\n\r\n"):
        with connect(target, ANSWERED_WITHIN_S) as connection:
            send_all(connection, head.encode())
            answers.append(status_in(connection))
    return "/".join(answers)


def forge_signatures(target, victim, over):
    """A large body with a signature that has the right form and is wrong."""
    with connect(target) as connection:
        send_all(connection, post_head(f"/hooks/{victim['shop']}/shopify", MEGABYTE, f"X-Shopify-Hmac-Sha256: {SIGNED}",
                                       "X-Shopify-Topic: carts/update") + b"x" * MEGABYTE)
        return status_in(connection)


def flood(target, victim, over):
    """Connections, some of which ask for something, and all of which go at once."""
    for number in range(FLOOD_AT_ONCE):
        with connect(target) as connection:
            if number % 4 == 0:
                send_all(connection, b"GET /u/nobody HTTP/1.1\r\nHost: x\r\n\r\n")
    return "gone"


KINDS = (park_bodies, post_json, slow_heads, many_arguments, forge_signatures, flood)


def attack(number, port, sources, victim, over, report, pace_s=PACE_S):
    kind = KINDS[number % len(KINDS)]
    while not over.is_set():
        try:
            report[kind.__name__][kind((port, next(sources)), victim, over)] += 1
        except OSError as error:
            report[kind.__name__][type(error).__name__] += 1
        over.wait(pace_s)


def attack_for(port, count, seconds, victim, networks):
    """`networks`: how many of them the attackers come from, one after the other; 0: all from where everybody is."""
    over, report = threading.Event(), collections.defaultdict(collections.Counter)
    sources = itertools.cycle([None] if not networks else [source_of(number) for number in range(networks)])
    threads = [threading.Thread(target=attack, args=(number, port, sources, victim, over, report)) for number in range(count)]
    for thread in threads:
        thread.start()
    over.wait(seconds)
    over.set()
    for thread in threads:
        thread.join()
    return report


# ---- the customers ----


def serve_one(held, port, request, timeout_s):
    """Over a connection that is opened again where it has ended; the status, and None where there is none."""
    try:
        if held[0] is None:
            held[0] = connect((port, None), timeout_s)
        held[0].sendall(request)
        answer = b""
        while b"\r\n\r\n" not in answer:
            piece = held[0].recv(65536)
            if not piece:
                raise ConnectionResetError
            answer += piece
        head, _, body = answer.partition(b"\r\n\r\n")
        fields = dict(line.split(b": ", 1) for line in head.split(b"\r\n")[1:])
        length = int({name.lower(): value for name, value in fields.items()}[b"content-length"])
        while len(body) < length:
            piece = held[0].recv(65536)
            if not piece:
                raise ConnectionResetError
            body += piece
        if fields.get(b"Connection") == b"close":
            held[0].close()
            held[0] = None
        return int(head.split(b" ")[1])
    except OSError:
        if held[0]:
            held[0].close()
        held[0] = None
        return None


def be_customers(port, requests, hz, timeout_s):
    """Each request when it is due, on one of four lanes; how long each took from then on, in ms, and what was answered."""
    lanes = 4
    began = time.monotonic() + 0.2
    latencies, statuses, pace = [0.0] * len(requests), collections.Counter(), threading.Event()

    def lane(first):
        held = [None]
        for number in range(first, len(requests), lanes):
            due = began + number / hz
            pace.wait(max(0.0, due - time.monotonic()))
            status = serve_one(held, port, requests[number], timeout_s)
            latencies[number] = (time.monotonic() - due) * 1000
            statuses[str(status)] += 1

    threads = [threading.Thread(target=lane, args=(first,)) for first in range(lanes)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return {"latencies_ms": latencies, "statuses": statuses}


# ---- as processes ----


class Child:
    """This file as a program, whose answer is JSON."""

    def __init__(self, *words, nice=0):
        self.popen = subprocess.Popen([sys.executable, "-B", __file__, *map(str, words)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                      preexec_fn=(lambda: os.setpriority(os.PRIO_PROCESS, 0, nice)) if nice else None)

    def say(self, text):
        self.popen.stdin.write(text.encode())
        self.popen.stdin.close()

    def answer(self):
        out = self.popen.stdout.read()
        assert self.popen.wait() == 0, "the siege's own process failed"
        return json.loads(out)


class Siege:
    report = None


@contextlib.contextmanager
def attackers(port, count, seconds, shop, topic="", networks=0):
    """They are at work when the block begins, and gone when it has ended."""
    siege, child = Siege(), Child("attack", port, count, seconds, shop, topic, networks, nice=19) if count else None
    if child:
        threading.Event().wait(HEAD_START_S)
    try:
        yield siege
    finally:
        siege.report = child.answer() if child else {}


def customers(port, requests, hz, timeout_s=10):
    """Begins at once; .answer() waits."""
    child = Child("customers", port, hz, timeout_s)
    child.say(json.dumps([request.decode("latin-1") for request in requests]))
    return child


def raw(webhook):
    """A webhook (shop_webhooks.py) as the bytes of its request."""
    lines = [f"POST {webhook.path} HTTP/1.1", "Host: shop.example", f"Content-Length: {len(webhook.body)}",
             *(f"{name}: {value}" for name, value in webhook.headers.items())]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + webhook.body


def raw_optout(path):
    body = b"List-Unsubscribe=One-Click"
    return post_head(path, len(body)).replace(b"application/json", b"application/x-www-form-urlencoded") + body


def percentile(values, part):
    return sorted(values)[min(len(values) - 1, int(len(values) * part))]


def main():
    words = sys.argv[2:]
    if sys.argv[1] == "attack":
        port, count, seconds = int(words[0]), int(words[1]), float(words[2])
        print(json.dumps(attack_for(port, count, seconds, {"shop": words[3], "topic": words[4]}, int(words[5]))))
    else:
        requests = [text.encode("latin-1") for text in json.loads(sys.stdin.read())]
        print(json.dumps(be_customers(int(words[0]), requests, float(words[1]), float(words[2]))))


if __name__ == "__main__":
    main()
