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


def bare_debian(package):
    """Without a library of ours: apt takes what the package asks for from what was fetched before, so the network is no part of a test."""
    fetch = f'APT_CONFIG=$MMDEBSTRAP_APT_CONFIG apt-get install --yes --download-only -o APT::Install-Recommends=true "{package}"'
    return debian("bare", ["apt"], "--skip=cleanup/apt", f"--customize-hook={fetch}", differing=[field(package, "Depends")])
