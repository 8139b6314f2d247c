"""The real processes in a folder of their own: what every test from the outside starts from.

    with System() as system:
        shop = system.add_shop("demo")
        system.start("broker", "gateway", "intake")
        answer = system.post(shop.shopify("carts/create", cart))
        assert answer.status == 200
        system.kill("broker")
        ...
        for message in system.log(): ...

Programs come from $CARTBUS_BUILD/bin (default: build-asan beside the sources). Every process that a System started is
ended with it; nothing else is touched.
"""

import base64
import collections
import contextlib
import ctypes
import functools
import http.client
import json
import os
import pathlib
import pwd
import random
import re
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

from messages import messages
from shop_webhooks import Answer, Shop

SOURCES = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("CARTBUS_BUILD", SOURCES / "build-asan")).resolve()
FIXTURES = SOURCES / "tests" / "fixtures"
READY_WITHIN_S = 20
PORTS_BEGIN, PORTS_END = 10000, 32000


@functools.cache
def every_program():
    """The names of all processes, as the build registered them."""
    registered = (BUILD / "registered" / "registered_programs.c").read_text()
    return tuple(re.findall(r'"(\w+)"', re.search(r"programs_all\[\] = \{(.*?)\}", registered, re.S)[1]))


def wait_until(condition, what, within_s=READY_WITHIN_S, step_s=0.02):
    """Waits for readiness, never for luck: polls `condition`, answers its value, and names what did not come."""
    deadline = time.monotonic() + within_s
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"{what} did not happen within {within_s} s")
        time.sleep(step_s)  # between two polls


def operator():
    """What the command puts on record as who gave it."""
    return os.environ.get("SUDO_USER") or pwd.getpwuid(os.getuid()).pw_name


def end_with_parent():
    """In a child before it runs its program: a test run that is killed leaves nothing behind (prctl PR_SET_PDEATHSIG)."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def _own_ports():
    """Where this process looks for ports. Test runners side by side (pytest-xdist) have a slice each: a port is free until the program that
    it is meant for has started, and two runners that looked at random were given the same one. It begins anywhere, for whoever else is
    on this machine, and no port comes again before all others did."""
    runners = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    number = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    size = (PORTS_END - PORTS_BEGIN) // runners
    return {"first": PORTS_BEGIN + number * size, "size": size, "next": random.randrange(size)}


OURS = _own_ports()


def free_ports(count):
    """The first of so many in a row, below the range that the kernel gives to clients: a client's closed connections hold a port
    for a minute. Processes come back to their port."""
    while True:
        at = OURS["next"] if OURS["next"] + count <= OURS["size"] else 0
        first, OURS["next"] = OURS["first"] + at, at + count
        with contextlib.suppress(OSError), contextlib.ExitStack() as held:
            for port in range(first, first + count):
                held.enter_context(socket.socket()).bind(("127.0.0.1", port))
            return first


def free_port():
    return free_ports(1)


def fixture(name, **changes):
    """A webhook body of tests/fixtures as a dict, with fields replaced."""
    body = json.loads((FIXTURES / f"{name}.json").read_text())
    body.update(changes)
    return body


# ---- the processes ----


# A process that ends by one of these has a bug, wherever the test looks meanwhile.
CRASHES = {-number for number in (signal.SIGABRT, signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGTRAP, signal.SIGSYS)}
STOPPED_WITHIN_S = 30  # all at once, on a machine where tests run side by side


class Process:
    def __init__(self, system, name, instance, arguments):
        self.name, self.instance = name, instance
        self.log_path = system.folder / "logs" / f"{instance}.log"
        self._log = open(self.log_path, "ab")
        self._notify_path = system.folder / f"n-{instance}"
        with contextlib.suppress(FileNotFoundError):
            self._notify_path.unlink()
        self._notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._notify.bind(str(self._notify_path))
        self._notify.setblocking(False)
        self._ready = False
        self.popen = subprocess.Popen(
            [*system.where(name), str(system.built(instance) / "bin" / f"cartbus-{name}"), "--config", str(system.config_for(instance)), *arguments],
            stdin=subprocess.DEVNULL, pass_fds=system.handed(name), stdout=self._log, stderr=self._log, start_new_session=True, preexec_fn=end_with_parent,
            env={**os.environ, "NOTIFY_SOCKET": str(self._notify_path)},
        )

    @property
    def running(self):
        return self.popen.poll() is None

    @property
    def ready(self):
        with contextlib.suppress(BlockingIOError):
            while True:
                if b"READY=1" in self._notify.recv(4096).split(b"\n"):
                    self._ready = True
        return self._ready

    def wait_ready(self, within_s=READY_WITHIN_S):
        wait_until(lambda: self.ready or not self.running, f"{self.instance} being ready", within_s)
        if not self.running:
            raise AssertionError(f"{self.instance} ended with {self.popen.returncode}:\n{self.tail()}")

    def tail(self, characters=3000):
        return self.log_path.read_text(errors="replace")[-characters:]

    def fault(self):
        """How it ended, if no process of ours may end so; else nothing."""
        if self.popen.returncode in CRASHES:
            return f"{self.instance} ended by {signal.Signals(-self.popen.returncode).name}:\n{self.tail()}"
        return None

    def end(self, with_signal=signal.SIGTERM, within_s=15):
        """`with_signal`: None if it was told already."""
        if self.running:
            if with_signal:
                self.popen.send_signal(with_signal)
            try:
                self.popen.wait(within_s)
            except subprocess.TimeoutExpired:
                self.popen.kill()
                self.popen.wait()
                raise AssertionError(f"{self.instance} did not stop within {within_s} s:\n{self.tail()}")
        self._notify.close()
        self._log.close()
        if self.fault():
            raise AssertionError(self.fault())
        return self.popen.returncode


class System:
    door = "127.0.0.1"  # where its gateway is posted to

    def __init__(self, settings=None):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="cartbus-"))
        self.folder.chmod(0o755)
        self.port = free_port()
        self.processes = {}
        self.shops = {}
        self.too_old = collections.Counter()  # requests to a shop that were refused because this machine is slower than the clock
        self._asker = None  # started with the first question
        self._asking = threading.Lock()
        for name in ("state", "run", "shops", "secrets", "logs"):
            (self.folder / name).mkdir(mode=0o750)
        for name in ("address.key", "link.key", "bounce.key", "admin.key"):
            self.write_secret(name, secrets.token_hex(32))
        self.config_path = self.folder / "cartbus.conf"
        self.configure(settings or {})

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if not error:
            self.close()
            return
        for process in self.processes.values():
            print(f"---- {process.instance} ----\n{process.tail()}", file=sys.stderr)
        try:
            self.close()
        except AssertionError as also:  # the test's own error is the one to tell
            print(f"---- and at the end ----\n{also}", file=sys.stderr)

    # -- configuration --

    def configure(self, settings):
        """Writes cartbus.conf; `settings` is {section: {key: value}} over the defaults of a test. Takes effect at the next start."""
        sections = {
            "paths": {name: self.folder / name for name in ("state", "run", "shops", "secrets", "keys")},
            "gateway": {"port": self.port, "public-url": f"http://127.0.0.1:{self.port}"},
            "mail": {"transport": "maildir"},
            "monitor": {"port": 0},
            "console": {"port": 0},
        }
        for section, keys in settings.items():
            sections.setdefault(section, {}).update(keys)
        lines = []
        for section, keys in sections.items():
            lines += [f"[{section}]", *(f"{key} = {value}" for key, value in keys.items()), ""]
        self.config_path.write_text("\n".join(lines))
        self._clock = {key: float(value) for key, value in sections.get("clock", {}).items()}

    def now_s(self):
        """What the system's wall clock shows."""
        real_us = time.time() * 1e6
        if self._clock.get("rate", 1) == 1:
            return real_us / 1e6
        passed = real_us - self._clock["origin-real-us"]
        return (self._clock["origin-wall-us"] + passed * self._clock["rate"]) / 1e6

    def write_secret(self, name, text):
        path = self.folder / "secrets" / name
        path.parent.mkdir(mode=0o700, exist_ok=True)
        new = path.with_name(path.name + ".new")
        new.touch(mode=0o600)
        new.write_text(text)
        new.rename(path)

    def secret(self, name):
        return (self.folder / "secrets" / name).read_bytes().rstrip(b"\n")

    def add_shop(self, name, rules=None, voice=None, secret=None, zone="Europe/Berlin", currency="EUR", locale="de-DE",
                 title=None, owner="owner@shop.example", mail=None, extra=""):
        folder = self.folder / "shops" / name
        folder.mkdir(mode=0o750)
        secret = secret or secrets.token_hex(16)
        self.write_secret(f"webhook/{name}", secret)
        (folder / "rules.txt").write_text(
            rules or "Small carts (under $40): remind after 4 hours, then after 24. Medium carts: 2 hours, then 22. "
            "Big carts (over $150): 1 hour, then 20.\n")
        if voice:
            (folder / "voice.txt").write_text(voice)
        sender = mail or f"{name.title()} <shop@{name}.example>"
        new = folder / "shop.conf.new"
        new.write_text(
            f"[shop]\ntime-zone = {zone}\ncurrency = {currency}\nlocale = {locale}\ntitle = {title or name.title()}\n"
            f"url = https://{name}.example\n[mail]\nfrom = {sender}\nowner = {owner}\n"
            f"bounce = bounce@{name}.example\nreply-to = shop@{name}.example\n"
            f"postal-address = Example Street 1, Berlin\n{extra}\n")
        new.rename(folder / "shop.conf")
        self.shops[name] = Shop(self, name, secret, currency)
        return self.shops[name]

    # -- starting and ending --

    def start(self, *names, wait=True):
        """Starts processes by program name, or "program=instance" where there are several; waits until all are ready."""
        started = []
        for name in names or every_program():
            program, _, instance = name.partition("=")
            arguments = ["--instance", instance] if instance else []
            old = self.processes.get(instance or program)
            if old:
                assert not old.running, f"{instance or program} is running already"
                old.end()
            process = Process(self, program, instance or program, arguments)
            self.processes[process.instance] = process
            started.append(process)
            if wait:
                process.wait_ready()
                self._let_meet(process)
        return started[0] if len(started) == 1 else started

    def _let_meet(self, process):
        """A gateway listens before it has met its broker; where there is one that answers, it is to have met it."""
        broker = self.processes.get("broker")
        if process.name == "gateway" and broker and broker.running:
            with contextlib.suppress(AssertionError, OSError):
                wait_until(self.connected, "the gateway meets the broker")

    def where(self, name):
        """What a program's command begins with: nothing, but where a test has hosts of its own (hosts.py)."""
        return []

    def built(self, instance):
        """The build that a process is of: the one under test, but where a test lets two releases work together."""
        return BUILD

    def command(self):
        return BUILD / "bin" / "cartbus"

    def config_for(self, instance):
        return self.config_path

    def handed(self, name):
        """The descriptors that a program is started with: none, but where a test plays the supervisor that listens for it."""
        return ()

    def stop(self, *instances):
        for instance in instances:
            self.processes[instance].end()

    def kill(self, *instances):
        for instance in instances:
            self.processes[instance].end(signal.SIGKILL)

    def close(self):
        """All but the broker at once: that takes as long as the slowest. What crashed, or does not stop as it is told, is a failure."""
        if self._asker:
            with self._asker:
                self._asker.stdin.close()
        services = [process for process in self.processes.values() if process.name != "broker"]
        told = [process for process in services if process.running]
        for process in told:
            process.popen.terminate()
        faults = [self._ended(process) for process in services]
        faults += [f"{process.instance} was told to stop and ended with {process.popen.returncode}:\n{process.tail()}" for process in told
                   if process.popen.returncode not in (0, -signal.SIGTERM, -signal.SIGKILL) and not process.fault()]
        if "broker" in self.processes:
            faults.append(self._ended(self.processes["broker"], signal.SIGKILL))
        if not os.environ.get("CARTBUS_KEEP"):
            shutil.rmtree(self.folder, ignore_errors=True)
        if any(faults):
            raise AssertionError("\n".join(fault for fault in faults if fault))

    @staticmethod
    def _ended(process, with_signal=None):
        """What was wrong with its end; nothing else."""
        try:
            process.end(with_signal, within_s=STOPPED_WITHIN_S)
        except AssertionError as error:
            return str(error)
        return None

    # -- talking to it --

    def request(self, method, path, body=None, headers=None, timeout_s=10):
        connection = http.client.HTTPConnection(self.door, self.port, timeout=timeout_s)
        began = time.monotonic()
        try:
            connection.request(method, path, body=body, headers=headers or {})
            response = connection.getresponse()
            return Answer(response.status, dict(response.getheaders()), response.read(), time.monotonic() - began)
        finally:
            connection.close()

    def post(self, webhook, timeout_s=10):
        """Where the clock is fast, five minutes are over in no time: then it is signed anew, as platforms do."""
        until = time.monotonic() + (READY_WITHIN_S if self._clock.get("rate", 1) > 1 else 0)
        while True:
            answer = self.request("POST", webhook.path, webhook.body, webhook.headers, timeout_s)
            if not (answer.status == 401 and b"timestamp" in answer.body and webhook.signed_anew and time.monotonic() < until):
                return answer
            self.too_old[webhook.path.split("/")[2]] += 1
            webhook = webhook.signed_anew()

    def connected(self):
        """The gateway, to the broker."""
        return self.request("GET", "/healthz").json.get("broker") == "connected"

    def drained(self):
        """... and all it ever answered 200 is confirmed."""
        health = self.request("GET", "/healthz").json
        return health.get("broker") == "connected" and health["spooled"] == 0

    def cartbus(self, *arguments, check=True, json_output=False):
        """The operator's command. Its output, parsed when json_output."""
        words = [*self.where("cartbus"), str(self.command()), *arguments, "--config", str(self.config_path)]
        done = subprocess.run(words + (["--json"] if json_output else []), capture_output=True, text=True, timeout=60)
        if check and done.returncode != 0:
            raise AssertionError(f"{' '.join(words)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
        return json.loads(done.stdout) if json_output else done

    def program(self, name, *arguments):
        """One of the programs by itself, with this system's configuration, to its end."""
        words = [str(BUILD / "bin" / f"cartbus-{name}"), "--config", str(self.config_path), *arguments]
        return subprocess.run(words, capture_output=True, text=True, timeout=60)

    def ask(self, verb, **argument):
        """The operator's question on the control socket, as JSON. One process asks them all: most of a command is its start."""
        with self._asking:
            if not self._asker or self._asker.poll() is not None:  # it ends with the thread that started it
                words = [*self.where("cartbus"), str(BUILD / "bin" / "cartbus-test-ask"), str(self.config_path)]
                self._asker = subprocess.Popen(words, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, preexec_fn=end_with_parent)
            self._asker.stdin.write(f"{verb} {json.dumps(argument)}\n")
            self._asker.stdin.flush()
            answer = self._asker.stdout.readline()
        if not answer.startswith("+"):
            raise AssertionError(f"the question {verb} failed: {answer}")
        return json.loads(answer[1:])

    def queue_of(self, service):
        """What the broker says about its queue."""
        return next(queue for queue in self.ask("queues")["queues"] if queue["name"] == service)

    def counted(self, instance, name):
        """What a process counted, as it told the broker last."""
        return next((session["counts"].get(name, 0) for session in self.ask("status")["sessions"] if session["instance"] == instance), None)

    def log(self, topic=None, shop=None, start=1):
        """Every message of the broker's log in order, with the payload decoded as `message`. The broker must be running."""
        position, found = start, []
        while position:
            argument = {"from": position, "limit": 500}
            argument.update({key: value for key, value in (("topic", topic), ("shop", shop)) if value})
            page = self.ask("read", **argument)
            for entry in page["messages"]:
                found.append({**entry, "message": self._decoded(entry["topic"], entry["payload"])})
            position = page.get("next")
        return found

    def said_since(self, head, **filters):
        """What the log holds behind this number, but for what the gateway counts once a minute. Where the broker confirms too slowly,
        the gateway answers from its spool: so the log is read when the spool has drained."""
        wait_until(self.drained, "the spool's end")
        return [entry for entry in self.log(start=head + 1, **filters) if entry["topic"] != "gateway.seen"]

    def proto(self):
        return messages("cart")

    def _decoded(self, topic, payload):
        cart = self.proto()
        kinds = {
            "reminder.sent": "ReminderOutcome", "reminder.released": "ReminderOutcome",
            "reminder.refused": "ReminderOutcome", "reminder.ambiguous": "ReminderOutcome",
            "reminder.skipped": "ReminderOutcome", "tick.nightly": "Tick", "tick.monthly": "Tick",
        }
        name = kinds.get(topic) or "".join(part.title() for part in topic.split("."))
        kind = getattr(cart, name, None)
        return kind.FromString(base64.b64decode(payload)) if kind else None
