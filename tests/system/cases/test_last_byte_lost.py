"""The last byte of a mail on a way that loses it, or its acknowledgement: it arrives while its yes is good, or never.

Two network namespaces and a wire. The wire breaks when the claim was asked for, and is mended when the yes is over.
"""

import signal
import subprocess
import time

import pytest

from cartbus_system import BUILD
from hosts import Host, Wire
from mail_peer import Probe
from test_last_byte import Window, wait_past

GOOD_S = 1.0
KERNEL_PATIENCE_S = 3.0  # no retransmission of a last byte comes so late after the last one

# What breaks: the wire at our end, our route, what leaves us on its way.
BREAKS = {"cut": (Wire.cut, Wire.mend), "swallow": (Wire.swallow, Wire.give_back),
          "astray": (lambda wire: wire.lead_astray(wire.one), lambda wire: wire.lead_back(wire.one))}


def now_s():
    return time.clock_gettime(time.CLOCK_BOOTTIME)


class Way:
    """A mail server on one host, the transport alone on another; the first mail is at its last byte."""

    def __init__(self, folder):
        self.near, self.far = Host("near"), Host("far")
        self.wire = Wire(1, self.near, self.far)
        self.server = Window(listener=self.far.listener(self.wire.address[self.far], 0))
        self.probe = Probe(folder, inside=self.near.inside, transport="smtp", smtp_host=self.wire.address[self.far],
                           smtp_port=self.server.port, smtp_tls="none")
        self.claim("first")

    def claim(self, name):
        self.probe.say(f"mail {name} claim anna@mail.example")
        assert self.probe.hear() == f"claim {name}"

    def go(self, name, good_s=GOOD_S):
        """Returns the boot time at which the yes is over, at the latest."""
        self.probe.say(f"go {name} {good_s * 1000:.0f}")
        return now_s() + good_s

    def stop_behind_the_write(self, name, good_s):
        """The kernel has the last byte, and the process is stopped; returns what go() does."""
        halting = subprocess.Popen([BUILD / "bin" / "cartbus-test-halt", str(self.probe.process.pid), "handed-over"], stdout=subprocess.PIPE, text=True)
        assert halting.stdout.readline() == "watching\n"
        over_s = self.go(name, good_s)
        assert halting.stdout.readline() == "stopped\n"
        assert halting.wait() == 0
        return over_s

    def close(self):
        self.probe.kill()
        self.server.close()
        self.near.close()
        self.far.close()


@pytest.fixture
def way(tmp_path):
    way = Way(tmp_path)
    yield way
    way.close()


def judge(way, over_s):
    """The first mail's end is not known, it has not arrived late, and the next one goes over another connection."""
    assert way.probe.hear() == "done first unknown the server had not acknowledged the last byte in time, and was cut off"
    assert [end - over_s for end in way.server.ended if end > over_s] == []
    before = len(way.server.ended)
    way.claim("next")
    way.go("next")
    assert way.probe.hear().startswith("done next sent")
    assert (len(way.server.ended), len(way.server.peers)) == (before + 1, 2)


@pytest.mark.parametrize("way_of_breaking", BREAKS)
def test_a_last_byte_that_is_lost_does_not_arrive_when_its_yes_is_over(way, way_of_breaking):
    break_it, mend_it = BREAKS[way_of_breaking]
    break_it(way.wire)
    over_s = way.go("first")
    wait_past(over_s)
    mend_it(way.wire)
    wait_past(over_s + KERNEL_PATIENCE_S)
    judge(way, over_s)
    assert len(way.server.ended) == 1


def test_a_last_byte_whose_acknowledgement_is_lost_is_neither_sent_nor_lost(way):
    way.wire.lead_astray(way.far)
    over_s = way.go("first")
    wait_past(over_s)
    way.wire.lead_back(way.far)
    judge(way, over_s)
    assert len(way.server.ended) == 2


@pytest.mark.parametrize("good_s", (0.7, GOOD_S))
@pytest.mark.parametrize("way_of_breaking", BREAKS)
def test_a_lost_last_byte_of_a_sender_that_is_stopped_does_not_arrive_when_its_yes_is_over(way, way_of_breaking, good_s):
    """Nothing of ours runs: the kernel gives up by itself."""
    break_it, mend_it = BREAKS[way_of_breaking]
    break_it(way.wire)
    over_s = way.stop_behind_the_write("first", good_s)
    wait_past(over_s)
    mend_it(way.wire)
    wait_past(over_s + KERNEL_PATIENCE_S)
    way.probe.process.send_signal(signal.SIGCONT)
    judge(way, over_s)
    assert len(way.server.ended) == 1
