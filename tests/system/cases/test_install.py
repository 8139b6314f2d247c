"""What is typed on a machine where nothing was built, or where somebody else installs at the same time."""

import fcntl
import os
import pathlib
import re
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]


@pytest.fixture
def apt(tmp_path):
    """A real apt with a state of its own: what this machine has installed, and a repository that is a folder."""
    for folder in ("state/lists/partial", "dpkg", "cache/archives/partial", "repository"):
        (tmp_path / folder).mkdir(parents=True)
    shutil.copy("/var/lib/dpkg/status", tmp_path / "dpkg" / "status")
    (tmp_path / "repository" / "Packages").write_text("")
    (tmp_path / "sources.list").write_text(f"deb [trusted=yes] file:{tmp_path}/repository ./\n")
    (tmp_path / "apt.conf").write_text(
        f'Dir::State "{tmp_path}/state"; Dir::State::status "{tmp_path}/dpkg/status"; Dir::Cache "{tmp_path}/cache"; '
        f'Dir::Etc::sourcelist "{tmp_path}/sources.list"; Dir::Etc::sourceparts "-"; APT::Sandbox::User "root";\n')
    return tmp_path


def install(apt, *packages):
    return subprocess.Popen([ROOT / "deploy" / "install_packages", *packages], env={**os.environ, "APT_CONFIG": str(apt / "apt.conf")},
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def read_until(process, words):
    said = ""
    for line in process.stdout:
        said += line
        if words in line:
            return
    raise AssertionError(f"it ended with {process.wait()} and said: {said}")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root installs without sudo, which takes no APT_CONFIG along")
@pytest.mark.parametrize("lock, words", [("state/lists/lock", "somebody else reads the lists"), ("dpkg/lock-frontend", "Waiting for cache lock")])
def test_an_installation_waits_for_whoever_else_installs(apt, lock, words):
    with open(apt / lock, "w", encoding="ascii") as held:
        fcntl.lockf(held, fcntl.LOCK_EX)
        waiting = install(apt, "bash")
        read_until(waiting, words)
        assert waiting.poll() is None
    said = waiting.stdout.read()
    assert waiting.wait(60) == 0 and "bash is already the newest version" in said, said


@pytest.mark.skipif(os.geteuid() != 0, reason="only root installs without sudo, which takes no APT_CONFIG along")
def test_a_package_that_there_is_not_ends_the_installation(apt):
    nosuch = install(apt, "cartbus-nosuch")
    assert "Unable to locate package" in nosuch.communicate(timeout=60)[0] and nosuch.returncode != 0


def test_whoever_installs_packages_waits_for_the_lock():
    for name in ("tests/suites/packages.bash", "deploy/quickstart"):
        text = (ROOT / name).read_text()
        assert "deploy/install_packages" in text and not re.search(r"apt-get install -", text), name


@pytest.mark.parametrize("words, cure", [(("deploy/demo/play",), "deploy/quickstart"), (("deploy/demo/judge", "/nonexistent"), "deploy/quickstart"),
                                         (("deploy/demo/judge",), "deploy/quickstart"), (("tests/lint/man",), "tests/run lint man")])
def test_where_nothing_was_built_it_is_said_what_builds(tmp_path, words, cure):
    for folder in ("deploy/demo", "tests/lint"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    environment = {name: value for name, value in os.environ.items() if name != "CARTBUS_BUILD"}
    done = subprocess.run([tmp_path / words[0], *words[1:]], env=environment, capture_output=True, text=True, timeout=60)
    said = done.stdout + done.stderr
    assert done.returncode == 1 and "Traceback" not in said and cure in said, said


def test_a_bench_has_what_it_needs_built_first_and_never_twice(tmp_path):
    shutil.copytree(ROOT / "tests" / "bench", tmp_path / "tests" / "bench", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "tests" / "run").write_text('#!/bin/sh\necho "tests/run $*"\n')
    (tmp_path / "tests" / "run").chmod(0o755)

    def bench(**build):
        environment = {name: value for name, value in os.environ.items() if name != "CARTBUS_BUILD"} | build
        return subprocess.run([tmp_path / "tests/bench/run", "--long", "timer"], env=environment, capture_output=True, text=True, timeout=60)

    assert bench().stdout == "tests/run bench --long timer\n"
    given = bench(CARTBUS_BUILD=str(tmp_path / "nowhere"))
    assert given.returncode == 1 and "`tests/run bench` builds the release" in given.stderr and not given.stdout


@pytest.mark.parametrize("name", ["tests/run", "README.md"])
def test_time_and_disk_are_told_before_they_are_spent(name):
    said = (subprocess.run([ROOT / name, "--help"], capture_output=True, text=True, timeout=60).stdout if name == "tests/run"
            else (ROOT / name).read_text())
    assert re.search(r"\d+ GB of\s+disk", said) and re.search(r"twenty\s+minutes", said)
