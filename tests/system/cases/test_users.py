"""Who may come on the broker's own machine when `[broker] users = listed`: each user what its section says, nobody else."""

import subprocess
import sys

import pytest

from cartbus_system import SOURCES, System, wait_until

NOBODY = 65534
STRANGER = """
import sys, zmq, bus_pb2
def hello(service):
    control = zmq.Context.instance().socket(zmq.DEALER)
    control.linger = 0
    control.connect("ipc://" + sys.argv[1] + "/control")
    control.send(bus_pb2.Control(hello=bus_pb2.Hello(service=service, instance=service, run="r")).SerializeToString())
    if not control.poll(1000 * int(sys.argv[2])):
        return "silence"
    answer = bus_pb2.Control.FromString(control.recv())
    return answer.refusal.reason or answer.WhichOneof("what")
for service in sys.argv[3:]:
    print(hello(service), flush=True)
"""


class Listed(System):
    def __init__(self, **users):
        super().__init__({"broker": {"users": "listed"}, **{f"user {name}": section for name, section in users.items()}})
        subprocess.run(["protoc", "-I", str(SOURCES / "proto"), f"--python_out={self.folder}", "bus.proto"], check=True)

    def as_nobody(self, *services, within_s=20):
        """What the broker answers to hellos of another user, whom the folder's permissions let through."""
        for path in (self.folder / "run", *(self.folder / "run").iterdir()):
            path.chmod(0o777)
        done = subprocess.run([sys.executable, "-B", "-c", STRANGER, self.folder / "run", str(within_s), *services], user=NOBODY, group=NOBODY,
                              extra_groups=[], env={"PYTHONPATH": str(self.folder)}, text=True, capture_output=True, timeout=60)
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    def told(self, words):
        return words in self.processes["broker"].log_path.read_text()


def test_who_is_not_listed_is_nobody_not_even_root():
    with Listed(nobody={"service": "intake"}) as system:
        system.start("broker")
        done = system.cartbus("status", check=False)
        assert done.returncode != 0
        wait_until(lambda: system.told("refused a connection of uid:0,"), "a line about who it was")
        assert system.as_nobody("intake") == ["welcome"]


def test_a_listed_user_is_what_its_section_says_and_nothing_else():
    users = {"root": {"service": "cartbus gateway", "rights": "all"}, "nobody": {"service": "intake", "instance": "intake*"}}
    with Listed(**users) as system:
        system.start("broker", "gateway")
        welcomed, refused = system.as_nobody("intake", "sender")
        assert welcomed == "welcome" and "may not be sender of service sender" in refused
        assert system.told(f"refused a hello of uid:{NOBODY}")
        with pytest.raises(AssertionError, match="may not be sender"):
            system.start("sender")
        assert [one["who"] for one in system.ask("status")["sessions"] if one["service"] == "gateway"] == ["uid:0"]


def test_under_shared_no_other_user_comes_in():
    with Listed() as system:
        system.configure({"broker": {"users": "shared"}})
        system.start("broker")
        assert system.as_nobody("intake", within_s=2) == ["silence"]
        assert system.told(f"refused a connection of uid:{NOBODY},")
