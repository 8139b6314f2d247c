"""judge.py: whether the tests notice a change

All changes of a run are planted at once, asleep (planted.h): the tree is built once for all of them. Then each test is run once with
all of them asleep: it has to pass, and tells which changed functions it calls. A change is woken by an environment variable, and
only the tests that reach it are asked, the likeliest and quickest first, until one fails.

Owns:      build-mutants: a copy of the tree, its sanitizer build, what the tests write, and what is known about them.
Promises:  a test is known by the bytes of its programs: what was learnt about it is forgotten when they change; a test counts as
           one that notices a change if it fails twice with it and passes without any before and behind; no change touches the
           tree itself.
Read next: run, plant.py
"""

import concurrent.futures
import dataclasses
import functools
import hashlib
import json
import os
import pathlib
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import xml.etree.ElementTree

import plant
from reached import where_told, without_group

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "build-mutants"
SOURCE = FOLDER / "source"
BUILD = SOURCE / "build-asan"  # where builds of the tree lie, too: a compiler cache finds what those made
TMP = FOLDER / "tmp"
KNOWN_TESTS = FOLDER / "tests.json"
BROKEN = FOLDER / "broken.json"
PLANTED_FILES = FOLDER / "planted.json"
JOBS = os.cpu_count() or 1
UNREACHED = "none of 0 tests"
PROGRAM_LIMIT_S = 240  # of a test program without changes
LATE_S, LATE_TIMES = 20, 6  # an endless loop is noticed when a test takes so many times its time, and this
LARGEST_FILE = 1 << 30  # what a changed program may write
PYTHON = "/usr/bin/python3"  # Debian's: it has pytest
# The copy and /tmp are the tests' own, everything else of the tree is read-only: a change may well remove what it should not.
# The test is a child of the shell: as process 1 it would be another one than it is elsewhere.
CONFINED = ["unshare", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child", "sh", "-c",
            'mount --bind "$2" "$2" && mount --rbind "$1" "$1" && mount -o remount,ro,bind "$1" && '
            'mount --bind "$3" /tmp && cd "$2" && shift 3 && "$@"; exit $?', "sh", str(ROOT), str(FOLDER)]


def run(command, **options):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", **options)


def run_or_end(command, what, **options):
    done = run(command, **options)
    if done.returncode != 0:
        sys.exit(f"mutants: {what}\n{done.stdout[-4000:]}")
    return done.stdout


def read_json(path, otherwise):
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError):
        return otherwise


def write_json(path, what):
    beside = path.with_suffix(".new")
    beside.write_text(json.dumps(what))
    beside.rename(path)


def digest(*paths):
    found = hashlib.sha256()
    for path in paths:
        found.update(path.read_bytes())
    return found.hexdigest()


def digest_of_text(text):
    return hashlib.sha256(text.encode()).hexdigest()


def mirrors(name, path):
    """Is a test of this name of the folder of this file; and is it called like the file? unit.broker.queue is of bus/broker and its rooms,
    unit.kit.mail.compose of services/kit/mail, service.waiter.look of services/carts/waiter.
    """
    words = name.split(".")[1:]
    if words[0] in ("kit", "carts"):
        del words[0]
    return words[0] in path.parent.parts, len(words) > 1 and words[1].split("_")[0] == path.stem.split("_")[0]


@dataclasses.dataclass
class Test:
    """A program of unit or service tests"""
    name: str
    words: list
    files: frozenset  # of bus/ and services/ in it
    sound: bool = False
    seconds: float = 0
    reached: frozenset = frozenset()  # numbers of changes

    def program(self):
        return pathlib.Path(self.words[0])


class Tree:
    """The copy, with the changes in it"""

    def __init__(self):
        SOURCE.mkdir(parents=True, exist_ok=True)
        self.planted = read_json(PLANTED_FILES, {})  # path: the digest of the file that changes were planted in
        self.copy()
        self.environment = dict(os.environ, CMAKE_C_COMPILER_LAUNCHER="ccache" if shutil.which("ccache") else "",
                                CCACHE_BASEDIR=str(SOURCE), CCACHE_NOHASHDIR="yes")
        run_or_end(["cmake", "-S", str(SOURCE), "-B", str(BUILD), "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug",
                    "-DCARTBUS_SANITIZE=address"], "the tree cannot be configured", env=self.environment)
        self.compiled = {}  # path: how it is compiled
        for entry in json.loads((BUILD / "compile_commands.json").read_text()):
            self.compiled.setdefault(os.path.relpath(entry["file"], SOURCE), entry)

    def copy(self):
        """What git knows and what is new, as it is now; what is the same keeps its time, so that little is built again."""
        listed = run_or_end(["git", "-C", str(ROOT), "ls-files", "-z", "-co", "--exclude-standard"], "git does not list the tree")
        names = {name for name in listed.split("\0") if name and (ROOT / name).is_file()}
        for name in names:
            there, here = ROOT / name, SOURCE / name
            if here.is_file() and (here.read_bytes() == there.read_bytes() or self.planted.get(name) == digest(there)):
                continue
            here.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(there, here)
            self.planted.pop(name, None)
        for path in SOURCE.rglob("*"):
            inside = path.relative_to(SOURCE)
            if path.is_file() and not inside.parts[0].startswith("build") and str(inside) not in names:
                path.unlink()

    def build(self, *targets):
        return run(["ninja", "-C", str(BUILD), "-k", "0", "-j", str(JOBS), *targets], env=self.environment)

    def write(self, path, text):
        file = SOURCE / path
        if file.read_text() != text:
            file.write_text(text)

    def plant(self, changes):
        """{number: (path, change)} asleep, and nothing else; returns the numbers of those that do not compile, which are not planted."""
        known = set(read_json(BROKEN, []))  # that they do not compile need not be found out again
        keys = {number: digest_of_text(f"{path} {change} {read(path)}") for number, (path, change) in changes.items()}
        broken = {number for number, key in keys.items() if key in known}
        while True:
            by_path = {}
            for number, (path, change) in changes.items():
                if number not in broken:
                    by_path.setdefault(path, {})[number] = change
            for path in set(self.planted) - set(by_path):
                self.write(path, read(path))
            self.planted = {path: digest_of_text(read(path)) for path in by_path}
            write_json(PLANTED_FILES, self.planted)
            for path, inside in by_path.items():
                self.write(path, plant.asleep(read(path), path, inside))
            print(f"building with {len(changes) - len(broken)} changes in {len(by_path)} files", flush=True)
            built = self.build()
            if built.returncode == 0:
                return broken
            found = {int(number) for number in re.findall(r"planted-(\d+):\d+", built.stdout)} - broken
            if not found:
                sys.exit(f"mutants: the changes cannot be built together\n{built.stdout[-4000:]}")
            broken |= found
            write_json(BROKEN, sorted(known | {keys[number] for number in broken}))

    def optimized(self, path, text):
        """What an optimizing compiler makes of the text as this file, without debug information; None: it does not compile."""
        entry = self.compiled[path]
        words = [word for word in shlex.split(entry["command"]) if not word.startswith(("-fsanitize", "-g", "-O", "-fno-sanitize"))]
        if pathlib.PurePath(words[0]).name == "ccache":
            words = words[1:]
        with tempfile.NamedTemporaryFile("w", suffix=".c") as file:
            file.write(f'#line 1 "{path}"\n{text}')
            file.flush()
            words[words.index("-o") + 1] = "/dev/stdout"
            words[words.index("-c") + 1] = file.name
            words[words.index("-c")] = "-S"
            done = subprocess.run([*words, "-O2", "-g0", "-iquote", str((SOURCE / path).parent)], cwd=entry["directory"],
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        made = re.sub(rb'\t\.file\t.*', b"", done.stdout)
        return hashlib.sha256(made).digest() if done.returncode == 0 else None

    def makes_a_difference(self, path, change):
        source = read(path)
        return self.optimized(path, source) != self.optimized(path, change.made(source))


@functools.cache
def read(path):
    """A file as it was when the run began, without changes."""
    return (ROOT / path).read_text()


def lines(path, change):
    """(number, the line, the line as it is changed)"""
    source = read(path)
    number = source.count("\n", 0, change.start)
    return number + 1, source.splitlines()[number].strip(), change.made(source).splitlines()[number].strip()


def side_by_side(width, what, of, stop=lambda: None):
    """Calls what for each of these. When it is interrupted, it calls stop, and those that have not begun never do."""
    pool = concurrent.futures.ThreadPoolExecutor(width)
    try:
        for done in [pool.submit(what, one) for one in of]:
            done.result()
    except BaseException:
        stop()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


class Walls:
    """Runs a command where it can spoil nothing but the copy and a /tmp of its own"""

    def __init__(self, environment):
        self.guard, self.running, self.are_down = threading.Lock(), set(), False
        TMP.mkdir(exist_ok=True)
        self.environment = dict(environment, ASAN_OPTIONS="detect_stack_use_after_return=1:strict_string_checks=1:hard_rss_limit_mb=4096",
                                UBSAN_OPTIONS="print_stacktrace=1")
        self.are_up = run([*CONFINED, str(TMP), "true"]).returncode == 0
        if not self.are_up:
            print("this user may not unshare: the tests run without walls around them")

    def run(self, words, limit_s, awake=0, folder=None, **further):
        """(exit code, None if it was too late; what it printed); folder: its /tmp, kept"""
        own = folder or pathlib.Path(tempfile.mkdtemp(dir=TMP))
        own.chmod(0o1777)
        environment = dict(self.environment, **further)
        if awake:
            environment["CARTBUS_AWAKE"] = str(awake)
        inside = [*CONFINED, str(own)] if self.are_up else []
        process = self.begin([*inside, *words], environment)
        try:
            printed, _ = process.communicate(timeout=limit_s) if process else ("", "")
            return process.returncode if process else None, printed
        except subprocess.TimeoutExpired:
            return None, ""
        finally:
            self.end(process)
            if not folder:
                shutil.rmtree(own, ignore_errors=True)

    def begin(self, words, environment):
        """None: nothing is begun any more"""
        with self.guard:
            if self.are_down:
                return None
            process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment, text=True,
                                       errors="replace", stdin=subprocess.DEVNULL, start_new_session=True,
                                       preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (LARGEST_FILE, LARGEST_FILE)))
            self.running.add(process)
            return process

    def end(self, process):
        """Ends it, with what it started."""
        with self.guard:
            if process in self.running:
                self.running.remove(process)
                kill_group(process)
        if process:
            process.wait()

    def tear_down(self):
        """Ends all that runs, and begins nothing any more: what a test said from here on is worth nothing."""
        with self.guard:
            self.are_down = True
            for process in self.running:
                kill_group(process)


def kill_group(process):
    if process.returncode is not None:
        return  # another process may have its number
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


class Judge:
    def __init__(self):
        self.tree = Tree()
        self.walls = Walls(self.tree.environment)
        self.tests = list(self.read_tests())
        if not self.tests:
            sys.exit("mutants: there are no unit and service tests")
        self.changes, self.broken = {}, set()
        self.deep = None

    def read_tests(self):
        """From CMake's own lists: ctest says no program of a test that is not built yet."""
        inputs = {}
        for path in sorted((BUILD / "tests").rglob("CTestTestfile.cmake")):
            for name, command in re.findall(r'^add_test\((?:\[=\[)?((?:unit|service)\.[\w.]+)(?:\]=\])? (".*")\)$', path.read_text(), re.M):
                words = shlex.split(command)
                program = os.path.relpath(words[0], BUILD)
                if program not in inputs:
                    found = run(["ninja", "-C", str(BUILD), "-t", "inputs", program]).stdout.splitlines()
                    inputs[program] = frozenset(os.path.relpath(os.path.join(BUILD, line), SOURCE) for line in found if line.endswith(".c"))
                yield Test(name, words, inputs[program])

    def paths(self):
        """The files that may be changed: those that some test holds."""
        held = set().union(*(test.files for test in self.tests))
        return sorted(path for path in held if path.startswith(("bus/", "services/")) and (ROOT / path).is_file())

    # ---- before: all planted, all asleep ----

    def plant(self, changes):
        self.changes = changes
        self.broken = self.tree.plant(changes)
        self.learn_tests()

    def learn_tests(self):
        """Runs each test once without a change, if its program is another one than last time: is it sound, how long does it take,
        what does it reach?"""
        known = read_json(KNOWN_TESTS, {})
        keys = {test.name: digest(test.program()) for test in self.tests}
        new = []
        for test in self.tests:
            one = known.get(test.name)
            if one and one["key"] == keys[test.name]:
                test.sound, test.seconds, test.reached = one["sound"], one["seconds"], frozenset(one["reached"])
            else:
                new.append(test)
        new.sort(key=lambda test: -known.get(test.name, {"seconds": 0})["seconds"])  # the longest first: all end together
        guard, left = threading.Lock(), {test.name for test in new}

        def learn(test):
            self.learn(test)
            if self.walls.are_down:
                return
            with guard:
                known[test.name] = {"key": keys[test.name], "sound": test.sound, "seconds": test.seconds, "reached": sorted(test.reached)}
                write_json(KNOWN_TESTS, known)
                left.remove(test.name)
                if len(left) % 20 == 0:
                    print(f"{len(left)} tests are left to be learnt", flush=True)
                if not test.sound:
                    print(f"{test.name} fails without any change: it is not asked", flush=True)
        side_by_side(2 * JOBS, learn, new, self.walls.tear_down)
        print(f"{sum(test.sound for test in self.tests)} of {len(self.tests)} tests are asked, {len(new)} of them were learnt anew", flush=True)

    def learn(self, test):
        own = pathlib.Path(tempfile.mkdtemp(dir=TMP))
        own.chmod(0o1777)
        told = own / "reached"
        told.touch()
        told.chmod(0o666)
        begun = time.monotonic()
        ended, _ = self.walls.run(test.words, PROGRAM_LIMIT_S, folder=own,
                                  CARTBUS_REACHED="/tmp/reached" if self.walls.are_up else str(told))
        test.seconds = time.monotonic() - begun
        test.sound = ended == 0
        test.reached = frozenset(int(line) for line in told.read_text().split())
        if not test.sound:  # a machine may be loaded, and a process may be forbidden to tell what it reaches
            test.sound = self.walls.run(test.words, PROGRAM_LIMIT_S)[0] == 0
            test.reached |= {number for number, (path, _) in self.changes.items() if path in test.files}
        shutil.rmtree(own, ignore_errors=True)

    # ---- one change ----

    def asked_about(self, number, near):
        """The tests that reach it: those named like the file first, then those of its folder, then the others; the quickest first."""
        path = pathlib.PurePath(self.changes[number][0])

        def likelihood(test):
            return (*(not is_so for is_so in mirrors(test.name, path)), test.seconds)
        asked = [test for test in self.tests if test.sound and number in test.reached]
        return sorted((test for test in asked if not near or not likelihood(test)[0]), key=likelihood)

    def notices(self, test, number):
        """Without the change it has to pass, also now: on a busy machine some tests fail or are late by themselves."""
        limit_s = LATE_S + LATE_TIMES * test.seconds

        def ended(awake):
            return self.walls.run(test.words, limit_s, awake=awake)[0]
        first = ended(number)
        fails = first is None or (first != 0 and ended(number) != 0)
        return fails and ended(0) == 0

    def judge(self, number, near=False, deep_s=0):
        """("killed", by what), ("survived", how many were asked) or (why it does not count, "")"""
        path, change = self.changes[number]
        if number in self.broken:
            return "does not compile", ""
        asked = self.asked_about(number, near)
        for test in asked:
            if self.notices(test, number):
                return "killed", test.name
        if not self.tree.makes_a_difference(path, change):
            return "makes no difference", ""
        words = f"none of {len(asked)} tests that reach it"
        if deep_s:
            killer, further = self.deep.notices(number, deep_s)
            if killer:
                return "killed", killer
            words += f" and of {further}"
        return "survived", words


class Deep:
    """The system tests: the real processes. They are asked one change after the other, in what time there is.

    What a file of them reaches is learnt when a change first needs it: those files first whose names and words are the changed file's.
    """

    def __init__(self, judge):
        self.judge, self.folder = judge, FOLDER / "deep"
        self.alone = threading.Lock()
        self.known = None  # "tests": {pytest's name: (passed, seconds, numbers)}, of the files "modules"

    def pytest(self, words, **further):
        """{test: (passed, seconds)}"""
        own = pathlib.Path(tempfile.mkdtemp(dir=TMP))
        own.chmod(0o1777)
        results = self.folder / f"{own.name}.xml"
        command = [PYTHON, "-m", "pytest", "-q", "--rootdir", str(SOURCE), "-p", "no:cacheprovider", "-p", "reached", "-o", "junit_family=xunit1",
                   f"--junitxml={results}", *words]
        self.judge.walls.run(["sh", "-c", 'cd "$0" && exec "$@"', str(SOURCE), *command], None, folder=own, **{
            "CARTBUS_BUILD": str(BUILD), "PYTHONPATH": str(SOURCE / "tests" / "mutants"), "PYTHONDONTWRITEBYTECODE": "1",
            "CARTBUS_REACHED_FOLDER": str(self.folder / "reached"), **further})
        shutil.rmtree(own, ignore_errors=True)
        found = {}
        if results.is_file():
            for case in xml.etree.ElementTree.parse(results).iter("testcase"):
                name = without_group(f"{case.get('file')}::{case.get('name')}")
                found[name] = (case.find("failure") is None and case.find("error") is None and case.find("skipped") is None,
                               float(case.get("time", "0")))
            results.unlink()
        return found

    def begin(self):
        """Takes what was learnt of these programs and tests before."""
        kept = read_json(self.folder / "tests.json", {})
        key = digest(*sorted((BUILD / "bin").glob("cartbus*")), *sorted((SOURCE / "tests" / "system").glob("**/*.py")))
        self.known = kept if kept.get("key") == key else {"key": key, "modules": [], "tests": {}}
        reached = self.folder / "reached"
        if self.known is not kept:
            shutil.rmtree(reached, ignore_errors=True)
        self.folder.mkdir(exist_ok=True)
        reached.mkdir(exist_ok=True)
        reached.chmod(0o1777)

    def learn(self, module):
        """Runs the system tests of this file once without any change."""
        reached = self.folder / "reached"
        for name, (passed, seconds) in self.pytest(["-n", str(2 * JOBS), "--dist", "loadgroup", module]).items():
            told = where_told(reached, name)
            numbers = sorted({int(line) for line in told.read_text().split()}) if told.is_file() else []
            self.known["tests"][name] = (passed, seconds, numbers)
        if self.judge.walls.are_down:
            return
        self.known["modules"].append(module)
        write_json(self.folder / "tests.json", self.known)

    def likeliest(self, number):
        """The files of system tests: first those named like the changed file, then those that say most of the words of its name."""
        path = pathlib.PurePath(self.judge.changes[number][0])
        words = {word for word in [path.parent.name, *path.stem.split("_")] if word != "cartbus"}

        def likelihood(file):
            named, text = set(file.stem.split("_")), file.read_text()
            return (-len(words & named), -sum(word in text for word in words), file.stat().st_size, file.name)
        files = sorted((SOURCE / "tests" / "system" / "cases").glob("test_*.py"), key=likelihood)
        return [f"tests/system/cases/{file.name}" for file in files]

    def reaching(self, number, asked):
        """What can be asked now, without what was asked: lists of tests. Tests of one file may share processes, which the first of them
        starts: tests that reach the change come first, those that reach least else in front, and the whole files behind them."""
        alone, of_module = [], {}
        for name, (passed, seconds, numbers) in self.known["tests"].items():
            module = name.split("::")[0]
            if passed:
                of_module.setdefault(module, []).append(name)
            if passed and number in numbers:
                alone.append(([name], (len(numbers), seconds)))
        modules = {names[0].split("::")[0] for names, _ in alone}
        whole = sorted((of_module[module] for module in modules if len(of_module[module]) > 1), key=self.seconds)
        asks = [names for names, _ in sorted(alone, key=lambda ask: ask[1])] + whole
        return [names for names in asks if tuple(names) not in asked]

    def notices(self, number, limit_s):
        """(the test that does or "", how many were asked)"""
        asked = set()
        with self.alone:
            if not self.known:
                self.begin()
            begun, unlearnt = time.monotonic(), [one for one in self.likeliest(number) if one not in self.known["modules"]]
            while time.monotonic() - begun < limit_s:
                asks = self.reaching(number, asked)
                if not asks and not unlearnt:
                    break
                if not asks:
                    self.learn(unlearnt.pop(0))
                    continue
                asked.add(tuple(asks[0]))
                if self.failed(asks[0], number) and (failed := self.failed(asks[0], number)):
                    return failed, ""
        tests = {name for names in asked for name in names}
        return "", f"{len(tests)} system tests in files that reach it; {len(self.known['modules'])} files of them are learnt"

    def seconds(self, names):
        return sum(self.known["tests"][name][1] for name in names)

    def failed(self, names, number):
        side_by_side = ["-n", str(2 * JOBS), "--dist", "loadgroup"] if len(names) > 1 else []
        for name, (passed, _) in self.pytest([*side_by_side, "-x", *names], CARTBUS_AWAKE=str(number)).items():
            if not passed:
                return name
        return ""
