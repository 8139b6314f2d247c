"""A Debian that is really booted: systemd as its process 1, cartbus installed as `cmake --install` does it, or not at all.

    with Machine(tmp_path) as machine:
        machine.run("systemctl", "start", "cartbus.target")

Its packages are systemd and the libraries that the programs are linked to: if something else is needed, it shows. The file system is made
once and kept beside the build; each machine writes to a layer of its own. It has the network of its host, or one of its own where
nothing but itself answers.
"""

import contextlib
import fcntl
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys

SOURCES = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCES / "tests" / "system"))

from cartbus_system import end_with_parent, free_port, wait_until  # noqa: E402  (found through the path above)

BUILD = SOURCES / "build"
ROOTS = SOURCES / "build-asan" / "roots"
BOOTED_WITHIN_S = 60
CONTROL_GROUPS = [pathlib.Path("/sys/fs/cgroup", name) for name in ("", "unified", "systemd")]


def stage(folder):
    """What an installation puts where."""
    subprocess.run(["cmake", "--install", BUILD], env={**os.environ, "DESTDIR": str(folder)}, check=True, stdout=subprocess.DEVNULL)
    return folder


def libraries():
    """The packages that what is installed is linked to."""
    programs = [path for path in (BUILD / "bin").glob("cartbus*") if path.name == "cartbus" or "test" not in path.name]
    linked = subprocess.run(["ldd", *programs], check=True, capture_output=True, text=True).stdout
    files = {os.path.realpath(path) for path in re.findall(r"=> (/\S+)", linked)}
    owners = subprocess.run(["dpkg", "-S", *sorted(files)], capture_output=True, text=True).stdout
    return sorted({line.split(":")[0] for line in owners.splitlines()})


def discard(folder):
    """With what mmdebstrap mounted in it, if it was cut short."""
    mounted = [line.split()[4] for line in pathlib.Path("/proc/self/mountinfo").read_text().splitlines()]
    for place in reversed([place for place in mounted if place.startswith(f"{folder}/")]):
        subprocess.run(["umount", "--lazy", place], check=True)
    shutil.rmtree(folder)


def debian(name, packages, *options, differing=()):
    """A minimal Debian 12 with systemd and these; made anew when they, or what else it differs by, change."""
    packages = ["systemd", "systemd-sysv", *packages]
    made = ROOTS / f"{name}-{hashlib.sha256(' '.join([*packages, *differing]).encode()).hexdigest()[:16]}"
    ROOTS.mkdir(parents=True, exist_ok=True)
    with open(ROOTS / f"{name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # who tests beside us wants the same
        if not made.exists():
            for former in ROOTS.glob(f"{name}-*"):
                discard(former)
            making = made.with_suffix(".making")
            subprocess.run(["mmdebstrap", "--quiet", "--variant=minbase", f"--include={','.join(packages)}", *options, "bookworm", making],
                           check=True)
            making.rename(made)
    return made


def remove_tree(group):
    """False: somebody is in it yet."""
    for folder, _, _ in os.walk(group, topdown=False):
        with contextlib.suppress(OSError):
            os.rmdir(folder)
    return not group.exists()


class Machine:
    ENVIRONMENT = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8"}
    own_network = False

    def __init__(self, folder, root=None):
        """`root`: a Debian as it is; without one, cartbus is installed on it."""
        self.folder = pathlib.Path(folder)
        self.port = free_port()
        self.upper = self.folder / "upper"
        self.upper.mkdir(mode=0o755)
        self.root = root or debian("linked", ["ca-certificates", "tzdata", *libraries()])
        if not root:
            stage(self.upper)
        self.log = open(self.folder / "console.log", "ab")
        if not self.own_network:
            self.write("/etc/systemd/system/cartbus-gateway.socket.d/port.conf",
                       f"[Socket]\nListenStream=\nListenStream=127.0.0.1:{self.port}\n")

    def __enter__(self):
        self.power_on()
        return self

    def __exit__(self, kind, error, trace):
        if error:
            print(self.run("journalctl", "--no-pager", "-n", "200", "-o", "short-precise", check=False).stdout, file=sys.stderr)
        self.power_off()

    def write(self, path, text):
        """A file of the machine, before it is booted."""
        inside = self.upper / path.lstrip("/")
        inside.parent.mkdir(parents=True, exist_ok=True)
        inside.write_text(text)

    def power_on(self):
        apart = ["unshare", "--net", "sh", "-c", 'ip link set lo up; exec "$@"', "sh"] if self.own_network else []
        self.unshare = subprocess.Popen([*apart, SOURCES / "tests" / "systemd" / "boot", self.root, self.folder], stdin=subprocess.DEVNULL,
                                        stdout=self.log, stderr=self.log, preexec_fn=end_with_parent)
        wait_until(lambda: self._state() in ("running", "degraded"), "the machine is up", BOOTED_WITHIN_S)

    def _state(self):
        assert self.unshare.poll() is None, (self.folder / "console.log").read_text()[-3000:]
        children = pathlib.Path(f"/proc/{self.unshare.pid}/task/{self.unshare.pid}/children").read_text().split()
        self.init = children[0] if children else None
        return self.init and self.run("systemctl", "is-system-running", check=False).stdout.strip()

    def power_off(self):
        """As a cut from the power for its processes: all end at once. What was written and not synced is still there."""
        self.unshare.kill()
        self.unshare.wait()
        group = "machine-" + hashlib.md5(str(self.folder).encode()).hexdigest()[:16]  # as boot names it
        for top in CONTROL_GROUPS:
            wait_until(lambda: remove_tree(top / group), f"the last process of {top / group} being gone")

    def entering(self, *words):
        """What runs these words on the machine."""
        network = ["-n"] if self.own_network else []
        return ["nsenter", "-t", self.init, "-m", "-p", "-i", "-u", "-C", *network, "--", *words]

    def start(self, *words):
        """These words, running."""
        return subprocess.Popen(self.entering(*words), stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log, env=self.ENVIRONMENT)

    def run(self, *words, check=True, stdin=None, limit_s=120):
        done = subprocess.run(self.entering(*words), input=stdin, text=True, capture_output=True, timeout=limit_s, env=self.ENVIRONMENT)
        if check and done.returncode != 0:
            raise AssertionError(f"{' '.join(words)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
        return done

    def shell(self, script):
        return self.run("sh", "-ec", script).stdout

    def show(self, unit, *properties):
        """{property: value} of a unit."""
        done = self.run("systemctl", "show", unit, f"--property={','.join(properties)}")
        return dict(line.split("=", 1) for line in done.stdout.splitlines() if "=" in line)
