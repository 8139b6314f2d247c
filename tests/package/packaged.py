"""The package as a file, and a bare Debian to install it on."""

import pathlib
import subprocess

from machine import debian

SOURCES = pathlib.Path(__file__).resolve().parents[2]


def make(*words):
    done = subprocess.run([SOURCES / "deploy" / "package", *words], check=True, stdout=subprocess.PIPE, text=True)
    return pathlib.Path(done.stdout.splitlines()[-1])


def field(package, name):
    return subprocess.run(["dpkg-deb", "--field", package, name], check=True, capture_output=True, text=True).stdout.strip()


def bare_debian(package, *further, name="bare"):
    """Without a library of ours: apt takes what the package asks for from what was fetched before, so the network is no part of a test.

    `further`: each a set of packages that a test installs, with blanks between.
    """
    fetch = "APT_CONFIG=$MMDEBSTRAP_APT_CONFIG apt-get install --yes --download-only -o APT::Install-Recommends=true"
    hooks = [f"--customize-hook={fetch} {words}" for words in (f'"{package}"', *further)]
    return debian(name, ["apt"], "--skip=cleanup/apt", *hooks, differing=[field(package, "Depends"), *further])
