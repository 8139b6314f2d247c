"""What a service needs to start, and what it says when that is not there: which file, and what to do."""

import json

import pytest

from cartbus_system import System


@pytest.fixture
def system():
    with System() as system:
        system.add_shop("demo")
        yield system


def refused(system, *names):
    """Starts it, expects that it gives up, and answers what it said."""
    process = system.start(*names, wait=False)
    assert process.popen.wait(20) == 1, process.tail()
    return process.tail()


@pytest.mark.parametrize("service, key", [("sender", "link.key"), ("gateway", "link.key"), ("gateway", "address.key"), ("sender", "smtp.password")])
def test_a_key_that_is_missing_or_open_to_all_is_named_with_its_remedy(system, service, key):
    if key == "smtp.password":
        system.configure({"mail": {"transport": "smtp", "smtp-user": "shop"}})
    path = system.folder / "secrets" / key
    path.unlink(missing_ok=True)
    said = refused(system, service)
    assert str(path) in said and ("cartbus secrets make" in said or "write the password" in said)
    system.write_secret(key, "0" * 64)
    path.chmod(0o644)
    said = refused(system, service)
    assert str(path) in said and "chmod 600" in said


@pytest.mark.parametrize("service", ["intake", "gateway", "monitor"])
def test_a_setting_that_nobody_knows_is_an_error_with_its_line_in_every_service(system, service):
    with open(system.config_path, "a") as config:
        config.write("[paths]\nstaet = /tmp\n")
    said = refused(system, service)
    assert f"cartbus.conf:{len(system.config_path.read_text().splitlines())}" in said and "staet" in said


def test_a_configuration_that_is_not_there_is_named(system):
    system.config_path.unlink()
    assert str(system.config_path) in refused(system, "intake")


def test_a_state_that_another_process_holds_is_refused(system):
    system.start("broker", "intake")
    system.processes["first"] = system.processes.pop("intake")
    said = refused(system, "intake")
    assert f"{system.folder}/state/intake is in use" in said and "--instance" in said


def test_the_folder_of_the_sockets_is_made_before_the_log_is_open(system):
    """Others may enter it, and while it is made the log's files would be open to them as well."""
    file = system.folder / "file"
    file.write_text("")
    system.configure({"paths": {"run": file / "run"}})
    assert "cannot make the folder" in refused(system, "broker")
    assert not (system.folder / "state" / "broker").exists()


def test_a_state_folder_that_cannot_be_made_is_named(system):
    (system.folder / "state").rmdir()
    (system.folder / "state").write_text("")
    assert f"{system.folder}/state/intake cannot be made" in refused(system, "intake")


def test_whoever_collects_logs_gets_an_object_of_json_per_line(system):
    system.configure({"log": {"format": "xml"}})
    for name in ("broker", "intake"):
        assert '[log] format: expected text or json, found "xml"' in refused(system, name)
        system.processes[name].log_path.unlink()
    system.configure({"log": {"format": "json"}})
    system.start("broker", "intake")
    system.stop("intake", "broker")
    for name in ("broker", "intake"):
        lines = [json.loads(line) for line in system.processes[name].tail().splitlines()]
        assert lines and {line["process"] for line in lines} == {name}, lines
        assert {line["level"] for line in lines} <= {"info", "notice", "warning"} and all(line["message"] for line in lines), lines
