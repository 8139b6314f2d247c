"""`cartbus doctor`: what is wrong with an installation, and what helps."""

import json
import os
import shutil
import subprocess

import pytest

from cartbus_system import System, every_program, fixture, free_port, wait_until
from mail_peer import Keep, Peer, certificates, login
from name_server import NameServer
from wall_clock import Wall

pytestmark = pytest.mark.xdist_group("doctor")
TEN_YEARS_S = 10 * 365 * 86400


def public_key(bits):
    private = subprocess.run(["openssl", "genrsa", str(bits)], capture_output=True, check=True).stdout
    lines = subprocess.run(["openssl", "rsa", "-pubout"], input=private, capture_output=True, check=True).stdout.decode().split("\n")
    return "".join(line for line in lines if line and "-----" not in line)


@pytest.fixture(scope="module")
def names():
    key = public_key(2048)
    server = NameServer({
        "right.test": {
            "@": [("TXT", "v=spf1 ip4:192.0.2.1 -all"), ("TXT", "a-site-verification=1"), ("MX", "10 ns")],
            "m1._domainkey": [("TXT", f"v=DKIM1; k=rsa; p={key}")],
            "m2._domainkey": [("CNAME", "m1._domainkey")],
            "_dmarc": [("TXT", "v=DMARC1; p=quarantine")],
            "mail": [("TXT", "v=spf1 ip4:192.0.2.1 -all"), ("A", "192.0.2.1")],
        },
        "wrong.test": {
            "@": [("TXT", "v=spf1 a -all"), ("TXT", "v=spf1 mx -all"), ("MX", "0 .")],
            "m1._domainkey": [("TXT", f"v=DKIM1; k=rsa; p={key[:200]}")],
            "m2._domainkey": [("TXT", "v=DKIM1; p=")],
            "_dmarc": [("TXT", "v=DMARC1; rua=mailto:d@wrong.test")],
        },
        "bare.test": {},
    })
    yield server
    server.close()


def add_shop(system, name, sender, *selectors):
    """Its bounces go to the sender's domain, without what stands before a second dot."""
    system.add_shop(name, mail=f"Shop <{sender}>", extra="".join(f"dkim-selector = {one}\n" for one in selectors))
    edit(system, name, f"bounce@{name}.example", "bounce@" + ".".join(sender.split("@")[1].split(".")[-2:]))


def edit(system, name, before, after):
    path = system.folder / "shops" / name / "shop.conf"
    text = path.read_text()
    assert before in text
    path.write_text(text.replace(before, after))


def doctor(system, *arguments):
    done = system.cartbus("doctor", "--json", *arguments, check=False)
    told = json.loads(done.stdout)
    return done.returncode, told["findings"], told


def of(findings, area, *kinds):
    return [(one["finding"], one["text"], one["remedy"]) for one in findings if one["area"] == area and (not kinds or one["finding"] in kinds)]


@pytest.fixture(scope="module")
def keep():
    return Keep()


@pytest.fixture(scope="module")
def system(keep, tmp_path_factory):
    folder = tmp_path_factory.mktemp("tls")
    ca, context = certificates(folder)
    peer = Peer(keep, tls_context=context, require_starttls=True, authenticator=login("shop", "s3cret"), auth_required=True)
    mail = {"transport": "smtp", "smtp-host": "127.0.0.1", "smtp-port": peer.port, "smtp-ca": ca, "smtp-user": "shop"}
    with System({"mail": mail}) as running:
        running.write_secret("smtp.password", "s3cret")
        add_shop(running, "demo", "shop@mail.right.test", "m1")
        running.start(*every_program())
        yield running
    peer.close()


def test_what_is_right_is_told_as_right_and_nothing_is_mailed(system, keep, names):
    code, findings, told = doctor(system, "--resolver", names.address)
    assert code == 1
    assert [one["text"] for one in findings if one["finding"] == "wrong"] == ["m1._domainkey.mail.right.test: no DKIM key"]
    assert [one for one in of(findings, "dmarc", "fine") if one[1].startswith("_dmarc.right.test")], "the domain above says it"
    edit(system, "demo", "shop@mail.right.test", "shop@right.test")
    edit(system, "demo", "dkim-selector = m1", "dkim-selector = m1\ndkim-selector = m2")
    code, findings, told = doctor(system, "--resolver", names.address)
    assert (code, told["wrong"], told["well"]) == (0, 0, True), findings
    for area in ("configuration", "files", "disk", "broker", "processes", "mail", "public-url", "spf", "dkim", "dmarc", "mx"):
        assert of(findings, area, "fine"), area
    assert "over TLS, with our login" in of(findings, "mail")[0][1]
    assert not keep.mails


def test_wrong_records_are_told_with_what_helps(system, names):
    add_shop(system, "wrong", "shop@wrong.test", "m1", "m2")
    add_shop(system, "bare", "shop@bare.test")
    code, findings, _ = doctor(system, "--resolver", names.address)
    shutil.rmtree(system.folder / "shops" / "wrong")
    shutil.rmtree(system.folder / "shops" / "bare")
    assert code == 1
    for area, words in (
        ("spf", "wrong.test: several SPF records"), ("spf", "bare.test: no SPF record"),
        ("dkim", "m1._domainkey.wrong.test: its DKIM key is none"), ("dkim", "m2._domainkey.wrong.test: its DKIM key is revoked"),
        ("dmarc", "wrong.test: its DMARC record has no p="), ("dmarc", "bare.test: no DMARC record"),
        ("mx", "wrong.test, where bounces go: it takes no mail"), ("mx", "bare.test, where bounces go: it takes no mail"),
    ):
        assert [one for one in of(findings, area, "wrong") if words in one[1] and one[2]], (words, of(findings, area))
    (unknown,) = of(findings, "dkim", "doubtful")
    assert "bare.test" in unknown[1] and "dkim-selector" in unknown[2]


def test_without_a_name_server_there_is_one_finding_and_not_twenty(system):
    _, findings, _ = doctor(system, "--resolver", f"127.0.0.1@{free_port()}")
    (away,) = of(findings, "dns")
    assert away[0] == "wrong" and "resolv.conf" in away[2]
    assert not [one for one in findings if one["area"] in ("spf", "dkim", "dmarc", "mx")]


def test_a_domain_that_nobody_answers_for_is_told_once_and_hides_no_other(system, names):
    add_shop(system, "elsewhere", "shop@elsewhere.test", "m1", "m2")
    _, findings, _ = doctor(system, "--resolver", names.address)
    shutil.rmtree(system.folder / "shops" / "elsewhere")
    (failed,) = of(findings, "dns")
    assert failed[0] == "wrong" and failed[1] == "elsewhere.test: the name server has no answer (REFUSED)" and failed[2]
    assert [one for one in of(findings, "spf", "fine") if "right.test" in one[1]], "asked about as before"
    assert not [one for area in ("spf", "dkim", "dmarc", "mx") for one in of(findings, area) if "elsewhere" in one[1]]


def alarms_of(system, kind):
    return [one for one in system.cartbus("alarm", "list", check=False, json_output=True)["alarms"] if one["kind"] == kind]


def test_a_damaged_side_log_is_told_until_its_file_is_removed():
    with System() as system:
        stops = system.folder / "state" / "sidelog" / "stops"
        aside = stops.with_name("stops.damaged")

        def told():
            return alarms_of(system, "side-log")

        system.add_shop("demo")
        system.start("broker")
        system.cartbus("stop", "demo", "--reason", "wrong prices")
        system.stop("broker")
        whole = stops.read_bytes()
        stops.unlink()
        assert [one for one in of(doctor(system)[1], "files", "doubtful") if str(stops) in one[1] and one[2]]
        stops.mkdir()
        findings = doctor(system)[1]
        assert [one for one in of(findings, "files", "wrong") if f"{stops} cannot be read: Is a directory" in one[1] and one[2]]
        assert [one for one in of(findings, "broker", "wrong") if "cartbus verify" in one[2]]
        stops.rmdir()
        stops.write_bytes(b"x" + whole[1:])
        assert [one for one in of(doctor(system)[1], "files", "wrong") if f"{stops} is damaged" in one[1] and one[2]]
        system.start("broker", "monitor")
        assert [one for one in of(doctor(system)[1], "files", "wrong") if str(aside) in one[1] and one[2]]
        wait_until(told, "the alarm", within_s=60)
        aside.unlink()
        wait_until(lambda: not told(), "the alarm's end", within_s=60)
        assert not [one for one in of(doctor(system)[1], "files") if str(aside) in one[1]]


def test_a_webhook_secret_that_the_gateway_cannot_use_is_told_until_it_can():
    with System() as system:
        shop = system.add_shop("demo")
        secret = system.folder / "secrets" / "webhook" / "demo"

        def told():
            return alarms_of(system, "webhook-secrets")

        system.start("broker", "gateway", "monitor")
        wait_until(system.connected, "the gateway's connection")
        secret.chmod(0o644)
        assert system.post(shop.cart(fixture("cart-changed"))).status == 503
        wait_until(told, "the alarm", within_s=60)
        assert "1 shop" in told()[0]["text"] and "cartbus config check" in told()[0]["remedy"]
        assert "webhook-secrets" in system.cartbus("status", check=False).stdout
        secret.chmod(0o600)
        wait_until(lambda: not told(), "the alarm's end", within_s=60)


def test_what_is_open_to_others_is_named(system, names):
    secret, state = system.folder / "secrets" / "link.key", system.folder / "state" / "waiter"
    own = state / "CURRENT"
    secret.chmod(0o644)
    (system.folder / "state").chmod(0o777)
    changed = os.getuid() == 0
    if changed:
        os.chown(own, 12345, -1)
    _, findings, _ = doctor(system, "--resolver", names.address)
    secret.chmod(0o600)
    (system.folder / "state").chmod(0o750)
    if changed:
        os.chown(own, 0, -1)
    told = of(findings, "files", "wrong")
    assert [one for one in told if str(secret) in one[1] and "chmod 600" in one[2]]
    assert [one for one in told if "[paths] state" in one[1] and "0777" in one[1]]
    assert not changed or [one for one in told if str(own) in one[1] and "12345" in one[1] and "chown" in one[2]]


def test_a_folder_that_lies_behind_a_link_is_looked_at_all_the_same(system, names):
    secrets, elsewhere = system.folder / "secrets", system.folder / "elsewhere"
    mode = secrets.stat().st_mode
    secrets.rename(elsewhere)
    secrets.symlink_to(elsewhere)
    (elsewhere / "link.key").chmod(0o644)
    elsewhere.chmod(0o755)
    _, findings, _ = doctor(system, "--resolver", names.address)
    (elsewhere / "link.key").chmod(0o600)
    elsewhere.chmod(mode)
    secrets.unlink()
    elsewhere.rename(secrets)
    told = of(findings, "files", "wrong")
    assert [one for one in told if "elsewhere/link.key" in one[1] and "chmod 600" in one[2]]


def test_a_login_that_the_mail_server_refuses_is_told(system, names):
    system.write_secret("smtp.password", "wrong")
    _, findings, _ = doctor(system, "--resolver", names.address)
    system.write_secret("smtp.password", "s3cret")
    (told,) = of(findings, "mail")
    assert told[0] == "wrong" and "535" in told[1] and "smtp.password" in told[2]


def test_a_password_that_is_not_there_is_told_once(system, names):
    path = system.folder / "secrets" / "smtp.password"
    path.rename(path.with_name("elsewhere"))
    _, findings, _ = doctor(system, "--resolver", names.address)
    path.with_name("elsewhere").rename(path)
    assert len([one for one in findings if str(path) in one["text"] and "smtp-user" in one["text"]]) == 1, findings


def test_what_does_not_run_is_told_and_a_broker_that_is_away_is_exit_3(system, names):
    system.kill("waiter")
    wait_until(lambda: "no waiter is running" in str(of(doctor(system, "--resolver", names.address)[1], "processes", "wrong")), "the waiter's absence")
    system.kill("gateway")
    system.kill("broker")
    code, findings, _ = doctor(system, "--resolver", names.address)
    assert code == 3
    assert of(findings, "broker", "wrong") and of(findings, "public-url", "wrong")
    assert of(findings, "spf", "fine"), "the rest is looked at all the same"


def test_a_clock_that_is_ten_years_off_is_told(system, names, monkeypatch):
    wall = Wall(system)
    for name, value in wall.environment().items():
        monkeypatch.setenv(name, value)
    for ahead_s, words in ((-TEN_YEARS_S, "behind the log"), (TEN_YEARS_S, "more than a day ahead of the log's last message")):
        wall.set(ahead_s)
        system.start("broker")
        _, findings, _ = doctor(system, "--resolver", names.address)
        assert [one for one in findings if words in one["text"] and one["remedy"]], findings
        before = [one for one in of(findings, "clock", "wrong") if "before this program was installed" in one[1] and "timedatectl" in one[2]]
        assert bool(before) == (ahead_s < 0)
        system.kill("broker")


def test_a_configuration_that_cannot_be_read_is_a_finding_too(tmp_path):
    with System() as system:
        system.config_path.write_text("[gateway]\nprot = 1\n")
        code, findings, _ = doctor(system)
        (told,) = findings
        assert code == 1 and told["area"] == "configuration" and "prot" in told["text"] and told["remedy"]
