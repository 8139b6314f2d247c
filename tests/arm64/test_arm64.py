"""arm64's package, made across, and its programs at work in qemu: another layout of numbers, `char` without a sign, and weaker order."""

import os
import pathlib
import re
import shlex
import subprocess

import pytest

from packaged import field, make

HERE = pathlib.Path(__file__).resolve().parent
ARM64 = 183  # EM_AARCH64
TREE = "/build/tests-arm64"
CONFIGURE = (f"cmake -S /source -B {TREE} -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 "
             "-DCMAKE_C_COMPILER=aarch64-linux-gnu-gcc -DPKG_CONFIG_EXECUTABLE=/usr/bin/aarch64-linux-gnu-pkg-config "
             "-DCMAKE_CROSSCOMPILING_EMULATOR=/usr/bin/qemu-aarch64-static")
TOO_SLOW = r"^service\.(week|rehearsal)"  # simulated weeks: many minutes in qemu


def inside(script):
    done = subprocess.run([HERE / "inside", script], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode == 77:
        pytest.skip("this kernel cannot run programs of another architecture in a namespace of its own: Linux 6.7 can")
    assert done.returncode == 0, done.stdout[-4000:]
    return done.stdout


def files(package):
    listed = subprocess.run(["dpkg-deb", "--contents", package], check=True, capture_output=True, text=True).stdout
    return sorted(line.split(None, 5)[5] for line in listed.splitlines())


@pytest.fixture(scope="session")
def package():
    if os.geteuid() != 0:
        pytest.fail("a Debian is made to build in, which takes root: sudo tests/run package --arm64")
    return make("--arch", "arm64")


def test_lintian_has_nothing_to_say(package):
    changes = package.with_suffix(".changes")
    done = subprocess.run(["lintian", "--allow-root", "--fail-on", "error,warning", changes], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_it_holds_what_this_machines_package_does(package):
    ours = make()
    assert field(package, "Architecture") == "arm64"
    assert files(package) == files(ours)
    assert field(package, "Depends") == field(ours, "Depends")


def test_its_programs_are_arm64s(package, tmp_path):
    subprocess.run(["dpkg-deb", "--extract", package, tmp_path], check=True)
    heads = {path.name: path.read_bytes()[:20] for path in tmp_path.rglob("*") if path.is_file() and not path.is_symlink()}
    machines = {name: int.from_bytes(head[18:20], "little") for name, head in heads.items() if head.startswith(b"\x7fELF")}
    assert {"cartbus", "cartbus-broker", "cartbus-sender"} <= machines.keys()
    assert set(machines.values()) == {ARM64}


def test_it_is_installed_and_knows_its_version(package):
    install = f"dpkg --install /build/{shlex.quote(package.name)}"
    said = inside(f"{install} && cartbus --version && cartbus config check && ls /etc/cartbus/secrets")
    assert f"cartbus {field(package, 'Version')}\n" in said and "address.key" in said


def test_the_tests_of_every_part_pass(package):
    inside(f"({CONFIGURE} && ninja -C {TREE} tests/unit/all tests/service/all topology) >{TREE}.log || {{ tail -n 30 {TREE}.log; false; }}")
    told = inside(f"ctest --test-dir {TREE} -j {os.cpu_count()} --timeout 300 -E '{TOO_SLOW}' --output-on-failure")
    print(re.search(r"\d+% tests passed.*", told)[0])
