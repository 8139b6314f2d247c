"""A log that is not the one it was: put back from an older copy, begun anew, or given another identity."""

import re
import shutil
import uuid

import pytest
from cartbus_system import System, fixture, wait_until


@pytest.fixture
def system():
    with System() as system:
        shop = system.add_shop("demo")
        system.start("broker", "gateway", "intake")
        for _ in range(3):
            post(system, shop)
        yield system


def post(system, shop):
    answer = system.post(shop.cart(fixture("cart-changed", id=uuid.uuid4().hex)))
    assert answer.status == 200, answer.body


def broker_folder(system):
    return system.folder / "state" / "broker"


def ends(process):
    wait_until(lambda: not process.running, f"the end of {process.instance}")
    assert process.popen.returncode == 1, process.tail()
    return process.tail()


def test_an_older_copy_of_the_log_is_refused_until_it_gets_an_identity_of_its_own(system):
    folder, copy = broker_folder(system), system.folder / "older"
    system.stop("intake", "broker")
    shutil.copytree(folder, copy)
    system.start("broker", "intake")
    post(system, system.shops["demo"])
    wait_until(system.drained, "the spool's end")
    system.stop("intake", "broker")
    shutil.rmtree(folder)
    copy.rename(folder)

    # the gateway is still there and remembers: its hello is enough, and the proof outlives the broker
    broker = system.start("broker", wait=False)
    said = ends(broker)
    assert "confirmed messages are missing" in said and "--new-identity" in said
    system.stop("gateway")
    broker = system.start("broker", wait=False)
    assert "confirmed messages are missing" in ends(broker)

    done = system.program("broker", "--new-identity")
    assert done.returncode == 0 and "move the files in the state folders" in done.stdout
    (away,) = (system.folder / "state" / "sidelog").glob("stops.of-*")
    assert f"The side log lies in {away} now" in done.stdout
    again = system.program("broker", "--new-identity")
    assert again.returncode == 0 and "side log" not in again.stdout
    system.start("broker")
    for name in ("gateway", "intake"):
        said = ends(system.start(name, wait=False))
        assert "belongs to log" in said and f"move the files in the state folder of {name} away" in said
        shutil.rmtree(system.folder / "state" / name)
    system.start("gateway", "intake")
    post(system, system.shops["demo"])
    refused = system.cartbus("restore", "--release", check=False)
    assert refused.returncode == 1 and "was given another identity" in refused.stderr and f"{away} was put away" in refused.stderr
    assert "backup ends" not in refused.stderr and "message 0" not in refused.stderr
    assert "claimed again" in system.cartbus("restore", "--release", "--unlearnt").stdout


def test_a_log_begun_anew_is_refused_by_those_who_knew_the_other(system):
    system.stop("intake", "broker", "gateway")
    shutil.rmtree(broker_folder(system))
    stops = system.folder / "state" / "sidelog" / "stops"
    for _ in range(2):
        said = ends(system.start("broker", wait=False))
        assert "is gone: its side log" in said and "cartbus restore DIR" in said and "rename it to stops.of-" in said
    stops.rename(stops.with_name(re.search(r"rename it to (stops\.of-\w+)", said).group(1)))
    system.start("broker")
    said = ends(system.start("intake", wait=False))
    assert "belongs to log" in said and "move the files in the state folder of intake away" in said
    for name in ("gateway", "intake"):  # as the handbook has it: the files, not the folders
        for path in (system.folder / "state" / name).iterdir():
            if path.is_file():
                path.rename(system.folder / f"{name}-{path.name}")
    system.start("gateway", "intake")
    post(system, system.shops["demo"])
    wait_until(system.drained, "the spool's end")
