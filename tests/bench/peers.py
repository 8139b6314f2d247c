"""cartbus and its peers from Debian as the bench of the bus runs them: each at its stated durability, data on the same disk."""

import contextlib
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import time

from place import BUILD, family, free_port, free_ports

START_S = 60


def listens(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


class Server:
    """One system: its processes, its folder, the address that bench_bus is given."""

    kind = None  # as bench_bus calls it, if not by its name

    def __init__(self, name, folder):
        self.name, self.folder, self.processes = name, folder, []
        folder.mkdir()
        self.address = str(free_port())

    def spawn(self, *command, **environment):
        log = open(self.folder / f"{pathlib.Path(str(command[0])).name}.log", "ab")
        process = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                   cwd=self.folder, start_new_session=True, env={**os.environ, **environment})
        self.processes.append(process)
        return process

    def wait_for(self, ready):
        deadline = time.monotonic() + START_S
        while not ready():
            if time.monotonic() > deadline or self.processes[-1].poll() is not None:
                raise SystemExit(f"{self.name} did not start: see {self.folder}")
            time.sleep(0.02)

    def pids(self):
        """All of its processes; a server may have started others."""
        return [pid for process in self.processes for pid in family(process.pid)]

    def stop(self):
        for process in reversed(self.processes):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        self.processes = []


class Redis(Server):
    def start(self):
        self.spawn("redis-server", "--port", self.address, "--bind", "127.0.0.1", "--appendonly", "yes", "--appendfsync",
                   "always", "--save", "", "--dir", self.folder)
        self.wait_for(lambda: listens(int(self.address)))


class Nats(Server):
    def start(self):
        self.spawn("nats-server", "-js", "-a", "127.0.0.1", "-p", self.address, "-sd", self.folder)
        self.wait_for(lambda: listens(int(self.address)))


class Beanstalkd(Server):
    def start(self):
        self.spawn("beanstalkd", "-l", "127.0.0.1", "-p", self.address, "-b", self.folder, "-f0")
        self.wait_for(lambda: listens(int(self.address)))


class RabbitMQ(Server):
    """With an epmd of its own, and everything it writes below its folder."""

    def start(self):
        epmd, dist = str(free_port()), str(free_port())
        own = {"HOME": str(self.folder), "ERL_EPMD_PORT": epmd, "ERL_EPMD_ADDRESS": "127.0.0.1"}
        self.spawn("epmd", "-port", epmd, "-address", "127.0.0.1", **own)
        self.wait_for(lambda: listens(int(epmd)))
        self.spawn("/usr/lib/rabbitmq/bin/rabbitmq-server", **own, RABBITMQ_NODENAME="bench@localhost",
                   RABBITMQ_NODE_IP_ADDRESS="127.0.0.1", RABBITMQ_NODE_PORT=self.address, RABBITMQ_DIST_PORT=dist,
                   RABBITMQ_MNESIA_BASE=str(self.folder), RABBITMQ_LOG_BASE=str(self.folder),
                   RABBITMQ_PID_FILE=str(self.folder / "pid"), RABBITMQ_CONF_ENV_FILE=str(self.folder / "none"),
                   RABBITMQ_ENABLED_PLUGINS_FILE=str(self.folder / "plugins"))
        self.wait_for(lambda: listens(int(self.address)))


class Cartbus(Server):
    FOLDERS = ("state", "run", "shops", "secrets", "keys")

    def __init__(self, name, folder):
        super().__init__(name, folder)
        topology = folder / "topology.conf"
        topology.write_text(subprocess.run([BUILD / "bin" / "bench_bus", "--manifest"], text=True, check=True,
                                           capture_output=True).stdout)
        for one in self.FOLDERS:
            (folder / one).mkdir(mode=0o700)
        self.config = self.write_config("cartbus.conf", f"[log]\nlevel = notice\n[broker]\ntopology = {topology}\n")
        self.address = str(self.config)

    def write_config(self, name, further):
        config = self.folder / name
        config.write_text("[paths]\n" + "".join(f"{one} = {self.folder}/{one}\n" for one in self.FOLDERS) + further)
        return config

    def start(self):
        """Answers the seconds until it is ready."""
        log = self.folder / "cartbus-broker.log"
        before = log.read_text().count(" ready ") if log.exists() else 0
        began = time.monotonic()
        self.spawn(BUILD / "bin" / "cartbus-broker", "--config", self.config)
        self.wait_for(lambda: log.exists() and log.read_text().count(" ready ") > before)
        return time.monotonic() - began

    def kill(self):
        os.killpg(self.processes[-1].pid, signal.SIGKILL)
        self.processes.pop().wait()


class CartbusOverTcp(Cartbus):
    """As from another host: each of the two services shows its key, and all is encrypted (CURVE)."""

    kind = "cartbus"
    PORTS = 16  # the four that everybody shares, and the lanes

    def __init__(self, name, folder):
        super().__init__(name, folder)
        place = f"127.0.0.1:{free_ports(self.PORTS)}"
        with self.config.open("a") as config:
            config.write(f"listen = {place}\n")
        programs = folder / "programs"  # `keys make` knows a service by its program beside the broker's: both of these are bench_bus
        programs.mkdir()
        shutil.copy(BUILD / "bin" / "cartbus", programs)
        (programs / "cartbus-broker").symlink_to(BUILD / "bin" / "cartbus-broker")
        for service in ("benchsay", "benchhear"):
            (programs / f"cartbus-{service}").symlink_to(BUILD / "bin" / "bench_bus")
            subprocess.run([programs / "cartbus", "keys", "make", service, "--config", self.config], check=True, capture_output=True)
        self.address = str(self.write_config("connect.conf", f"[connect]\nbroker = {place}\n"))


SERVERS = {"cartbus": Cartbus, "cartbus.curve": CartbusOverTcp, "redis": Redis, "nats": Nats, "rabbitmq": RabbitMQ,
           "beanstalkd": Beanstalkd}


class Field:
    """Some of them, started; what one round of work says, by name."""

    def __init__(self, folder, names):
        self.folder, self.names, self.systems = folder, names, {}

    def __enter__(self):
        try:
            for name in self.names:
                self.add(name)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for server in self.systems.values():
            server.stop()

    def leave_only(self, label):
        for other in list(self.systems):
            if other != label:
                self.drop(other)

    def add(self, name, label=None):
        """Another one of `name` under a label of its own: a cartbus with an empty log."""
        label = label or name
        server = SERVERS[name](label, self.folder / label)
        server.kind = server.kind or name
        self.systems[label] = server
        server.start()
        return server

    def drop(self, label):
        self.systems[label].stop()
        shutil.rmtree(self.systems.pop(label).folder)

    def work(self, label, work, messages, **options):
        server = self.systems[label]
        done = subprocess.run([BUILD / "bin" / "bench_bus", server.kind, server.address, work, str(messages),
                               *(f"{name}={value}" for name, value in options.items())], text=True, capture_output=True)
        if done.returncode != 0:
            raise SystemExit(f"{label}, {work}: {done.stderr}")
        return {name: float(value) for name, value in re.findall(r"^(\w+) ([\d.]+)", done.stdout, re.M)}


class Syncs:
    """How often the processes of a server ask the kernel for a sync, counted by the kernel; None where it may not be asked."""

    CALLS = ("fsync", "fdatasync", "msync", "sync_file_range")

    def __init__(self, pids):
        self.process = None
        if shutil.which("perf"):
            events = ",".join(f"syscalls:sys_enter_{call}" for call in self.CALLS)
            self.process = subprocess.Popen(["perf", "stat", "-x,", "-e", events, "-p", ",".join(map(str, pids))],
                                            text=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)

    def count(self):
        if not self.process:
            return None
        self.process.send_signal(signal.SIGINT)
        counts = re.findall(r"^(\d+),[^,]*,syscalls:", self.process.communicate()[1], re.M)
        return sum(map(int, counts)) if counts else None
