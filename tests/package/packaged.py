"""The package as a file, the last release's, one whose configuration differs, and a bare Debian to install them on."""

import pathlib
import re
import shutil
import subprocess
import tempfile

from machine import SOURCES, debian

INSTALLED_WITHIN_S = 300
KEPT = SOURCES / "build-asan" / "packages"  # of releases; a commit never changes
RELEASES = SOURCES / "tests" / "releases"


def make(*words, source=SOURCES):
    done = subprocess.run([source / "deploy" / "package", *words], check=True, stdout=subprocess.PIPE, text=True)
    return pathlib.Path(done.stdout.splitlines()[-1])


def field(package, name):
    return subprocess.run(["dpkg-deb", "--field", package, name], check=True, capture_output=True, text=True).stdout.strip()


def apt(machine, *words):
    return machine.run("env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "--yes", *words, limit_s=INSTALLED_WITHIN_S).stdout


def last_release(version):
    """(version, commit) of the newest release below this version, by tests/releases."""
    rows = [line.split() for line in RELEASES.read_text().splitlines() if line and not line.startswith("#")]
    for released, commit in reversed(rows):
        if subprocess.run(["dpkg", "--compare-versions", released, "lt", version]).returncode == 0:
            return released, commit
    raise LookupError(f"{RELEASES} names no release below {version}: there is nothing to upgrade from")


def tree_of(commit):
    tree = KEPT / commit
    if not tree.exists():
        making = tree.with_suffix(".making")
        shutil.rmtree(making, ignore_errors=True)
        making.mkdir(parents=True)
        archive = subprocess.Popen(["git", "-C", SOURCES, "archive", commit], stdout=subprocess.PIPE)
        subprocess.run(["tar", "-x", "-C", making], stdin=archive.stdout, check=True)
        assert archive.wait() == 0, f"the history here does not hold {commit}: git fetch --unshallow"
        making.rename(tree)
    return tree


def made_before(tree):
    """The package that lies in a release's tree; what is told of it is written last."""
    for changes in tree.glob("build-package/cartbus_*.changes"):
        return changes.with_suffix(".deb")
    return None


def former(package):
    """(what is upgraded from, its sources): the last release's."""
    version, commit = last_release(field(package, "Version"))
    tree = tree_of(commit)
    print(f"upgraded from {version}, made of its own tree")
    return made_before(tree) or make(source=tree), tree


def repacked(package, version, edits):
    """The package under another version; `edits`: {path of a file: what is added to it, which may be all of it}."""
    with tempfile.TemporaryDirectory() as folder:
        inside = pathlib.Path(folder) / "inside"
        subprocess.run(["dpkg-deb", "--raw-extract", package, inside], check=True)
        control = inside / "DEBIAN" / "control"
        control.write_text(re.sub(r"^Version: .*$", f"Version: {version}", control.read_text(), flags=re.M))
        for path, text in edits.items():
            edited = inside / path.lstrip("/")
            edited.parent.mkdir(exist_ok=True)
            with open(edited, "a") as file:
                file.write(text)
        made = KEPT / f"cartbus_{version}_{field(package, 'Architecture')}.deb"
        made.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["dpkg-deb", "--root-owner-group", "--build", inside, made], check=True, stdout=subprocess.DEVNULL)
    return made


def log_format(sources):
    return re.search(r'FORMAT\[\] = "(\d+)"', next((sources / "bus" / "broker").rglob("recover.c")).read_text()).group(1)


def bare_debian(package, *further, name="bare"):
    """Without a library of ours: apt takes what the package asks for from what was fetched before, so the network is no part of a test.

    `further`: each a set of packages that a test installs, with blanks between.
    """
    fetch = "APT_CONFIG=$MMDEBSTRAP_APT_CONFIG apt-get install --yes --download-only -o APT::Install-Recommends=true"
    hooks = [f"--customize-hook={fetch} {words}" for words in (f'"{package}"', *further)]
    return debian(name, ["apt"], "--skip=cleanup/apt", *hooks, differing=[field(package, "Depends"), *further])


class Chroot:
    """A Debian without a running systemd, as containers and image builders have it; what is changed lies in a layer of its own."""

    ENTER = """set -eu
mount -t overlay overlay -o "lowerdir=$1,upperdir=$2/upper,workdir=$2/work" "$2/root"
mount -t proc proc "$2/root/proc"
mount --bind /dev "$2/root/dev"
exec chroot "$2/root" sh -ec "$3" </dev/null"""

    def __init__(self, folder, root):
        self.folder, self.root = pathlib.Path(folder), root
        for part in ("upper", "work", "root"):
            (self.folder / part).mkdir(parents=True)

    def shell(self, script):
        """What it says, errors too; it has to end well."""
        done = subprocess.run(["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-ec", self.ENTER, "chroot", self.root, self.folder, script],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive"})
        assert done.returncode == 0, f"{script} ended with {done.returncode}:\n{done.stdout}"
        return done.stdout
