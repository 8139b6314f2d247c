"""The operator's command: its answers, its exits, and what it refuses."""

import datetime
import json
import socket
import stat
import subprocess
import sys
import time
import zoneinfo

import pytest

from cartbus_system import BUILD, System, wait_until

CARTBUS = BUILD / "bin" / "cartbus"
ADD = ("--time-zone", "Europe/Berlin", "--currency", "EUR", "--locale", "de-DE", "--title", "Blumen Huber", "--url",
       "https://shop.example", "--from", "Blumen Huber <shop@shop.example>")
SUBCOMMANDS = ("up", "config check", "shop add", "shop check", "shop list", "shop mode", "shop secret",
               "rules check", "preview", "send-test", "voice check", "voice show", "webhook send", "status", "top", "tap", "carts", "log",
               "trace", "why", "queues", "timers", "dlq list", "dlq show", "dlq redrive", "dlq drop", "replay",
               "cart override", "cart suppress", "cart write-off", "gateway strike", "queues resume")


def run(*words, stdin=None):
    return subprocess.run([str(CARTBUS), *map(str, words)], capture_output=True, text=True, timeout=60, input=stdin)


@pytest.fixture
def files():
    """An installation that does not run."""
    with System() as system:
        yield system


@pytest.fixture(scope="module")
def running():
    """One that does, with the shop demo."""
    with System({"gateway": {"public-url": "https://carts.example"}}) as system:
        system.add_shop("demo")
        system.start()
        yield system


# ---- without a broker ----


@pytest.mark.parametrize("name", SUBCOMMANDS)
def test_every_subcommand_teaches_itself_with_an_example(name):
    done = run(*name.split(), "--help")
    assert done.returncode == 0
    assert f"cartbus {name}" in done.stdout and "Example" in done.stdout


def test_the_help_names_every_subcommand():
    done = run("--help")
    assert done.returncode == 0
    for name in SUBCOMMANDS:
        assert f"  {name}" in done.stdout


@pytest.mark.parametrize("words", [("--help",), ("-h",), ("help",), ("shop", "--help"), ("shop", "-h"), ("help", "dlq"), ("dlq", "--help"),
                                   ("status", "-h"), ("help", "shop", "add"), ("version",), ("--version",), ("-V",)])
def test_who_asks_for_help_or_the_version_gets_it(words):
    done = run(*words)
    assert done.returncode == 0 and done.stderr == ""
    assert ("Usage: cartbus" if words[-1].lower() not in ("version", "--version", "-v") else "cartbus ") in done.stdout
    if words[:1] in (("shop",), ("dlq",)):
        family = [name for name in SUBCOMMANDS if name.startswith(words[0] + " ")]
        assert family and all(f"  {name} " in done.stdout for name in family) and "  status" not in done.stdout


def test_the_first_word_alone_shows_what_it_begins():
    done = run("shop")
    assert done.returncode == 2 and "  shop add NAME" in done.stderr and "  shop mode SHOP MODE" in done.stderr


@pytest.mark.parametrize("typed, meant", [("staus", "status"), ("catrs demo", "carts"), ("cart demo", "carts"), ("shop lsit", "shop list"),
                                          ("rule check", "rules check"), ("dlq redirve intake", "dlq redrive"), ("timer --json", "timers")])
def test_a_subcommand_that_is_mistyped_is_named(typed, meant):
    done = run(*typed.split())
    assert done.returncode == 2 and f'did you mean "cartbus {meant}"?' in done.stderr
    assert "did you mean" not in run("nonsense").stderr


def test_a_slip_in_an_option_names_the_option_that_was_meant():
    done = run("rules", "check", "--curency", "EUR", "rules.txt")
    assert done.returncode == 2 and "there is no --curency; did you mean --currency?" in done.stderr
    assert "did you mean" not in run("rules", "check", "--xyzzy", "rules.txt").stderr
    assert "did you mean" not in run("rules", "check", "--loc", "en", "rules.txt").stderr  # a beginning that names one


def test_a_voice_is_shown_as_json_to_a_program():
    shown = json.loads(run("voice", "show", "de", "--json").stdout)
    assert shown == {"language": "de", "text": run("voice", "show", "de").stdout}


@pytest.mark.parametrize("words", [(), ("nonsense",), ("shop", "nonsense"), ("trace",), ("trace", "demo"), ("status", "extra"),
                                   ("status", "--nonsense"), ("top", "--interval", "0"), ("top", "--sort", "size"), ("shop", "mode", "demo", "loud"),
                                   ("shop", "mode", "demo", "live", "--priority", "x"), ("tap", "--cart", "c"),
                                   ("webhook", "send", "demo", "--as", "fax"), ("dlq", "redrive", "intake"),
                                   ("dlq", "drop", "intake", "5"), ("preview", "demo", "c", "--step", "3"),
                                   ("preview", "demo", "--locale", "german"), ("send-test", "demo"), ("send-test", "demo", "me@"),
                                   ("voice", "check"), ("voice", "show"),
                                   ("cart", "override", "demo", "c", "6h", "1h"), ("cart", "override", "demo", "c", "1h", "x"),
                                   ("cart", "override", "demo", "c", "1d", "401d"), ("cart", "override", "demo", "c", "1s", "1h"),
                                   ("keys", "make", "x")])
def test_arguments_that_make_no_sense_exit_with_2_and_change_nothing(files, words):
    config = ("--config", files.config_path) if len(words) > 1 or words[:1] in (("status",), ("trace",)) else ()
    done = run(*words, *config)
    assert done.returncode == 2
    assert done.stderr.strip() != ""


def test_a_sample_is_previewed_in_any_language_without_a_broker(files):
    files.add_shop("demo")
    for locale, words in (("en", "Back to your basket"), ("de-AT", "Zurück zum Warenkorb"), ("fr-CA", "Retrouver mon panier"),
                          ("ja", "カートに戻る"), ("ar-EG", "العودة إلى السلة"), ("hi-IN", "अपने कार्ट पर लौटें")):
        mail = files.cartbus("preview", "demo", "--locale", locale, "--step", "2", json_output=True)
        assert words in mail["text"] and words in mail["html"] and f'<html lang="{locale[:2]}"' in mail["html"]
    assert files.cartbus("preview", "demo", "--html").stdout.startswith("<!DOCTYPE html>")
    assert "multipart/alternative" in files.cartbus("preview", "demo", "--eml").stdout


def test_a_preview_speaks_as_the_files_do_that_lie_there(files):
    files.add_shop("demo")
    folder = files.folder / "shops" / "demo"
    words = "First reminder\nSubject: {}\nBody:\n{{return link}}\nSecond reminder\nSubject: s\nBody:\n{{return link}}\n"
    (folder / "voice.txt").write_text(words.format("eigene"))
    (folder / "voice.fr.txt").write_text(words.format("les siens"))
    draft = files.folder / "draft.txt"
    draft.write_text(words.format("{item count: one \"x\", other \"# choses\"}"))

    def subject(*more):
        return files.cartbus("preview", "demo", *more, json_output=True)["subject"]

    assert [subject("--locale", locale) for locale in ("fr-CA", "de", "ja")] == ["les siens", "eigene", "eigene"]
    assert subject("--voice", str(draft)) == "3 choses"
    (folder / "voice.fr.txt").write_text(words.format("{rien}"))
    done = files.cartbus("preview", "demo", "--locale", "fr", check=False)
    assert done.returncode == 1 and "voice.fr.txt: line 2, column 10: unknown {rien}" in done.stderr
    assert files.cartbus("config", "check", check=False).returncode == 1


def test_a_voice_is_checked_with_line_and_column_before_it_is_published(files):
    voice = files.folder / "voice.fr.txt"
    shown = run("voice", "show", "fr-CA")
    voice.write_text(shown.stdout)
    assert run("voice", "check", voice).returncode == 0
    for text, where in ((shown.stdout.replace("{total}", "{totla}", 1), "line 8, column 19"), ("", "line 1, column 1"),
                        (shown.stdout.replace("{end}", "", 1), "line 4, column 17"), ("a\0b", "NUL"), ("x" * 40000, "32 KB")):
        voice.write_text(text)
        done = run("voice", "check", voice)
        assert done.returncode == 1 and where in done.stderr, done.stderr
    voice.write_text(shown.stdout.replace("{total}", "{totla}", 1))
    told = json.loads(run("voice", "check", voice, "--json").stdout)
    assert (told["right"], told["line"], told["column"]) == (False, 8, 19) and "totla" in told["expected"] and "column" not in told["expected"]
    wrong = files.folder / "voice.french.txt"
    wrong.write_text(shown.stdout)
    assert "is no language" in run("voice", "check", wrong).stderr
    assert run("voice", "show", "sv").returncode == 1 and run("voice", "check", files.folder / "nosuch").returncode == 1


@pytest.mark.parametrize("words", [("status",), ("top", "--once"), ("queues",), ("timers",), ("carts", "demo"), ("log",), ("tap",), ("tap", "--bare"), ("trace", "demo", "c"), ("why", "demo", "c"),
                                   ("dlq", "list"), ("cart", "suppress", "demo", "c"), ("gateway", "strike", "g")])
def test_a_broker_that_is_away_is_exit_3_and_said(files, words):
    done = run(*words, "--config", files.config_path)
    assert done.returncode == 3
    assert "cannot reach the broker" in done.stderr and "cartbus up" in done.stderr


@pytest.mark.parametrize("words", [("status",), ("top", "--once")])
def test_a_broker_that_is_away_is_said_at_once(files, words):
    def took():
        began = time.monotonic()
        assert run(*words, "--config", files.config_path).returncode == 3
        return time.monotonic() - began
    assert min(took() for _ in range(3)) < 2.5


def test_another_user_is_told_to_use_sudo_and_not_to_restart_the_broker(files):
    run_folder = files.folder / "run"
    run_folder.mkdir(exist_ok=True)
    run_folder.chmod(0o750)
    files.folder.chmod(0o755)
    files.config_path.chmod(0o644)
    done = subprocess.run([str(CARTBUS), "status", "--config", str(files.config_path)], capture_output=True, text=True, timeout=60,
                          user=65534, group=65534, extra_groups=[])
    assert done.returncode == 3 and "this user may not use" in done.stderr, done.stderr
    assert "sudo" in done.stderr and "restart" not in done.stderr


def test_a_key_is_made_only_for_a_service_that_there_is(files):
    done = run("keys", "make", "sendr", "--config", files.config_path)
    assert done.returncode == 2 and 'there is no service "sendr"; did you mean "sender"?' in done.stderr
    done = run("keys", "make", "far", "--service", "gatewy", "--config", files.config_path)
    assert done.returncode == 2 and 'did you mean "gateway"?' in done.stderr
    assert run("keys", "list", "--json", "--config", files.config_path).stdout.split() == ['{', '"keys":', '[]', '}']
    for name, options in (("sender-far", ("--service", "sender")), ("gateway", ()), ("look", ("--service", "cartbus"))):
        assert run("keys", "make", name, *options, "--config", files.config_path).returncode == 0


def test_a_shop_that_was_added_is_right_and_says_what_to_do_next(files):
    done = run("shop", "add", "demo", *ADD, "--config", files.config_path)
    assert done.returncode == 0, done.stderr
    secret = files.folder / "secrets" / "webhook" / "demo"
    for expected in ("/hooks/demo/shopify", "/hooks/demo/woocommerce", "orders/create", str(secret), "observe"):
        assert expected in done.stdout
    assert stat.S_IMODE(secret.stat().st_mode) == 0o600 and len(secret.read_text().strip()) == 64
    assert secret.read_text().strip() not in done.stdout
    assert run("config", "check", "--config", files.config_path).returncode == 0


@pytest.mark.parametrize("address, code, words", [("10.0.0.7", 0, "warning: [monitor] listen = 10.0.0.7"), ("0.0.0.0", 1, "strangers"),
                                                  ("::", 1, "strangers"), ("localhost", 1, "expected an IP address, as 127.0.0.1, found")])
def test_metrics_are_not_read_by_strangers(files, address, code, words):
    files.configure({"monitor": {"listen": address, "port": 9895}})
    done = run("config", "check", "--config", files.config_path)
    assert (done.returncode, words in done.stderr) == (code, True), done.stderr
    if code:
        started = files.program("monitor")
        assert started.returncode == 1 and words in started.stderr


@pytest.mark.parametrize("currency", ["USD", "JPY", "KWD", "CHF"])
def test_the_starting_rules_work_in_any_currency(files, currency):
    words = [currency if word == "EUR" else word for word in ADD]
    assert run("shop", "add", "demo", *words, "--config", files.config_path).returncode == 0
    rules = files.folder / "shops" / "demo" / "rules.txt"
    done = run("rules", "check", rules, "--currency", currency)
    assert done.returncode == 0 and "warning" not in done.stdout, "the sentences contradict each other:\n" + done.stdout


def test_a_shop_that_is_there_is_not_overwritten(files):
    assert run("shop", "add", "demo", *ADD, "--config", files.config_path).returncode == 0
    secret = files.folder / "secrets" / "webhook" / "demo"
    before = secret.read_text(), (files.folder / "shops" / "demo" / "shop.conf").read_text()
    done = run("shop", "add", "demo", *ADD, "--config", files.config_path)
    assert done.returncode == 1 and "is there already" in done.stderr
    assert before == (secret.read_text(), (files.folder / "shops" / "demo" / "shop.conf").read_text())


@pytest.mark.parametrize("option, value, word", [("--time-zone", "Mars/Olympus", "zone"), ("--currency", "XXY", "currency"),
                                                 ("--from", "nobody", "from"), ("--title", "two\nlines", "line break")])
def test_a_wrong_value_is_named_and_nothing_is_written(files, option, value, word):
    words = list(ADD)
    words[words.index(option) + 1] = value
    done = run("shop", "add", "demo", *words, "--config", files.config_path)
    assert done.returncode == 2 and word in done.stderr
    assert not (files.folder / "shops" / "demo").exists() and not (files.folder / "secrets" / "webhook" / "demo").exists()


@pytest.mark.parametrize("name", ["../evil", "Demo", "", "a b", "x" * 41])
def test_a_name_that_could_be_a_path_is_refused(files, name):
    assert run("shop", "add", name, *ADD, "--config", files.config_path).returncode == 2
    assert list((files.folder / "shops").iterdir()) == []


def test_rules_are_explained_or_refused_with_their_place(files):
    rules = files.folder / "rules.txt"
    rules.write_text("Small carts (under $40): remind after 4 hours, then after 24. Medium carts: 2 hours, then 22. "
                     "Big carts (over $150): 1 hour, then 20.\n")
    done = run("rules", "check", rules, "--currency", "USD", "--json")
    assert done.returncode == 0
    assert [wait["first_us"] // 3_600_000_000 for wait in json.loads(done.stdout)["waits"]] == [4, 2, 1]
    rules.write_text(rules.read_text().replace("22", "22 bananas"))
    done = run("rules", "check", rules, "--currency", "USD")
    assert done.returncode == 1 and "line 1, column" in done.stderr and "bananas" in done.stderr


def test_rules_are_said_back_in_the_shops_language_as_rules_that_mean_the_same(files):
    files.add_shop("demo", locale="ja-JP")
    rules = files.folder / "shops" / "demo" / "rules.txt"
    rules.write_text("Small carts (under 40 EUR): never. All other carts: one reminder after 4 hours.\n")
    said = run("rules", "check", rules)
    assert said.returncode == 0 and "小さいカート（40.00 EUR未満）：リマインドなし。" in said.stdout
    rules.write_text(said.stdout)
    assert run("rules", "check", rules).stdout == said.stdout
    assert "Kleine Warenkörbe (unter 40,00 EUR): keine Erinnerung." in run("rules", "check", rules, "--locale", "de-AT").stdout


def test_a_link_in_the_words_leads_to_the_shops_own_hosts_or_is_refused(files):
    files.add_shop("demo")
    voice = files.folder / "shops" / "demo" / "voice.txt"
    words = "First reminder\nSubject: s\nBody:\n**Hello**, see [us](https://{}/hours).\n\n{{return link}}\n"
    words += "Second reminder\nSubject: s\nBody:\n{{return link}}\n"
    voice.write_text(words.format("rival.example"))
    for done in (run("voice", "check", voice), run("config", "check", "--config", files.config_path),
                 run("preview", "demo", "--config", files.config_path)):
        assert done.returncode == 1 and "line 4, column 21" in done.stderr and "name it as host in [shop]" in done.stderr, done.stderr
    voice.write_text(words.format("demo.example"))
    assert run("voice", "check", voice).returncode == 0
    shown = run("preview", "demo", "--html", "--config", files.config_path)
    assert "<b>Hello</b>" in shown.stdout and 'href="https://demo.example/hours"' in shown.stdout


def test_a_colour_that_hides_its_words_is_refused_with_one_that_does_not(files):
    files.add_shop("demo")
    conf = files.folder / "shops" / "demo" / "shop.conf"
    conf.write_text(conf.read_text() + "\n[mail]\naccent = #ffcc00\n")
    done = run("config", "check", "--config", files.config_path)
    assert done.returncode == 1 and "accent: expected a colour on which white words can be read" in done.stderr and "would do" in done.stderr


def test_what_no_process_takes_for_a_text_no_check_calls_right(files):
    files.add_shop("demo")
    folder = files.folder / "shops" / "demo"
    (folder / "voice.txt").write_text(run("voice", "show", "en").stdout)
    right = {name: (folder / name).read_bytes() for name in ("shop.conf", "rules.txt", "voice.txt")}
    for name, text in right.items():
        for wrong, words in ((text + b"\0" + text, "NUL"), (text + b"# \xff\n", "UTF-8"), (text + b"\n" * 32768, "32 KB")):
            (folder / name).write_bytes(wrong)
            done = run("config", "check", "--config", files.config_path)
            assert done.returncode == 1 and f"{name} is" in done.stderr and words in done.stderr, (name, done.stderr)
        (folder / name).write_bytes(text)
    assert run("config", "check", "--config", files.config_path).returncode == 0


def test_a_wrong_configuration_is_said_with_file_and_line(files):
    with open(files.config_path, "a") as config:
        config.write("[gateway]\nprot = 1\n")
    done = run("config", "check", "--config", files.config_path)
    assert done.returncode == 1
    assert f"cartbus.conf:{len(files.config_path.read_text().splitlines())}" in done.stderr and "prot" in done.stderr
    assert run("status", "--config", files.folder / "none.conf").returncode == 1


@pytest.mark.parametrize("section, text, words", [
    ("mailin", "folder = {folder}/gone", "[mailin] folder = {folder}/gone: No such file or directory: expected a maildir (with new/ in it)"),
    ("mail", "maildir = {folder}/cartbus.conf/mail", "{folder}/cartbus.conf/mail/tmp: Not a directory: make the folder writable for this user"),
    ("backup", "folder = backups", '[backup] folder: expected a path that begins with /, of at most 190 bytes, found "backups"'),
    ("mailin", "folder = bounces", '[mailin] folder: expected a path that begins with /, of at most 190 bytes, found "bounces"'),
], ids=["maildir", "mails", "backup", "bounces"])
def test_a_folder_that_is_not_there_or_only_from_here_is_wrong(files, section, text, words):
    with open(files.config_path, "a") as config:
        config.write(f"[{section}]\n{text.format(folder=files.folder)}\n")
    done = run("config", "check", "--config", files.config_path)
    assert done.returncode == 1 and words.format(folder=files.folder) in done.stderr, done.stderr


@pytest.mark.parametrize("section, text", [("gateway", "port = {}"), ("monitor", "port = {}"), ("mailin", "lmtp = 127.0.0.1:{}")],
                         ids=["gateway", "monitor", "lmtp"])
@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0", *(["::"] if socket.has_dualstack_ipv6() else [])])
def test_a_port_that_another_process_has_is_wrong(files, section, text, host):
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.create_server((host, 0), family=family, dualstack_ipv6=family == socket.AF_INET6) as taken:
        port = taken.getsockname()[1]
        drop_in = files.config_path.with_name(files.config_path.name + ".d")
        drop_in.mkdir()
        (drop_in / "port.conf").write_text(f"[{section}]\n{text.format(port)}\n")
        done = run("config", "check", "--config", files.config_path)
        assert done.returncode == 1 and f"[{section}]" in done.stderr and f"cannot listen on 127.0.0.1 port {port}: " in done.stderr, done.stderr
        assert not [line for line in done.stderr.splitlines() if "warning:" in line and "cannot listen" in line]
    assert run("config", "check", "--config", files.config_path).returncode == 0


LISTENERS = [("0.0.0.0", "::1", True), ("::1", "0.0.0.0", True), ("::1", "127.0.0.1", True), ("127.0.0.1", "::1", True),
             ("127.0.0.1", "::ffff:127.0.0.1", False), ("::", "127.0.0.1", False), ("::1", "::", False)]


@pytest.mark.parametrize("ours, theirs, is_free", LISTENERS)
def test_a_port_of_the_other_family_is_taken_only_where_both_cannot_listen(files, ours, theirs, is_free):
    """As the kernel judges it, which is asked beside it."""
    family = socket.AF_INET6 if ":" in theirs else socket.AF_INET
    with socket.socket(family) as taken:
        if family == socket.AF_INET6:
            taken.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        taken.bind((theirs, 0))
        taken.listen()
        port = taken.getsockname()[1]
        with socket.socket(socket.AF_INET6 if ":" in ours else socket.AF_INET) as tried:
            assert can_listen(tried, ours, port) == is_free
        drop_in = files.config_path.with_name(files.config_path.name + ".d")
        drop_in.mkdir()
        (drop_in / "port.conf").write_text(f"[gateway]\nlisten = {ours}\nport = {port}\n")
        done = run("config", "check", "--config", files.config_path)
        assert ("cannot listen on" not in done.stderr) == is_free, done.stderr


def can_listen(tried, host, port):
    try:
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        tried.bind((host, port))
        tried.listen()
    except OSError:
        return False
    return True


NAMED = """
import ctypes, socket
with socket.create_server(("127.0.0.1", 0)) as taken:
    ctypes.CDLL(None).prctl(15, b"\\x1b[31mred", 0, 0, 0)  # PR_SET_NAME
    print(taken.getsockname()[1], flush=True)
    input()
"""


def test_the_name_of_who_has_a_port_sends_nothing_to_the_terminal(files):
    with subprocess.Popen([sys.executable, "-c", NAMED], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as named:
        port = int(named.stdout.readline())
        drop_in = files.config_path.with_name(files.config_path.name + ".d")
        drop_in.mkdir()
        (drop_in / "port.conf").write_text(f"[gateway]\nport = {port}\n")
        done = run("config", "check", "--config", files.config_path)
        named.stdin.write("\n")
        named.stdin.close()
    assert "red (uid " in done.stderr and "\x1b" not in done.stderr, done.stderr


@pytest.mark.parametrize("text", ["[monitor]\nport = {}\n", "[mailin]\nlmtp = 127.0.0.1:{}\n", "[monitor]\nlisten = ::\nport = {}\n"],
                         ids=["monitor", "lmtp", "everywhere"])
def test_a_port_that_two_services_are_to_have_is_wrong(files, text):
    port = json.loads(run("config", "check", "--dump", "--json", "--config", files.config_path).stdout)["gateway"]["port"]
    drop_in = files.config_path.with_name(files.config_path.name + ".d")
    drop_in.mkdir()
    (drop_in / "port.conf").write_text(text.format(port))
    done = run("config", "check", "--config", files.config_path)
    assert done.returncode == 1 and f"port {port} is that of [gateway] port as well" in done.stderr, done.stderr


def test_the_doctor_calls_no_configuration_fine_that_has_a_wrong_value(files):
    def found():
        told = json.loads(run("doctor", "--json", "--resolver", "127.0.0.1@9", "--config", files.config_path).stdout)["findings"]
        return {one["finding"]: one["remedy"] for one in told if one["area"] == "configuration"}

    assert "fine" in found()
    drop_in = files.config_path.with_name(files.config_path.name + ".d")
    drop_in.mkdir()
    (drop_in / "wrong.conf").write_text("[backup]\nfolder = backups\n")
    assert "fine" not in found() and found()["wrong"] == "mend it, and ask `cartbus config check`"


@pytest.mark.parametrize("key, words, copied", [
    ("link", "signed links in mails: they still count for 400 days", "copy link.key and link.key.previous there"),
    ("admin", "signed the owner's links in exports: they end at once", "copy admin.key there"),
])
def test_a_rotation_says_how_long_the_key_before_counts_and_which_files_to_copy(files, key, words, copied):
    done = run("secrets", "rotate", key, "--config", files.config_path)
    assert done.returncode == 0 and words in done.stdout and copied in done.stdout, done


def test_a_secret_that_others_may_read_is_wrong(files):
    files.add_shop("demo")
    assert run("config", "check", "--config", files.config_path).returncode == 0
    (files.folder / "secrets" / "webhook" / "demo").chmod(0o644)
    done = run("config", "check", "--config", files.config_path)
    assert done.returncode == 1 and "chmod 600" in done.stderr


def test_a_rotation_keeps_the_secret_before(files):
    shop = files.add_shop("demo")
    secret = files.folder / "secrets" / "webhook" / "demo"
    previous = secret.with_name("demo.previous")
    assert run("shop", "secret", "demo", "--rotate", "--config", files.config_path).returncode == 0
    assert previous.read_text().strip() == shop.secret != secret.read_text().strip()
    assert stat.S_IMODE(previous.stat().st_mode) == stat.S_IMODE(secret.stat().st_mode) == 0o600
    rotated = secret.read_text()
    assert run("shop", "secret", "demo", "--set", "--config", files.config_path, stdin="a-secret-of-shopify\n").returncode == 0
    assert secret.read_text() == "a-secret-of-shopify\n"
    assert previous.read_text() == f"{shop.secret}\n{rotated}"  # the storefront may sign with either
    assert run("shop", "secret", "demo", "--rotate", "--config", files.config_path).returncode == 1
    for wrong in ("short\n", "s" * 600 + "\n"):
        assert run("shop", "secret", "demo", "--set", "--config", files.config_path, stdin=wrong).returncode == 2
    before = previous.read_text()  # said twice, the rotation goes on
    assert run("shop", "secret", "demo", "--set", "--config", files.config_path, stdin="a-secret-of-shopify\n").returncode == 0
    assert (secret.read_text(), previous.read_text()) == ("a-secret-of-shopify\n", before)
    for number in range(6):
        assert run("shop", "secret", "demo", "--set", "--config", files.config_path, stdin=f"a-secret-mistyped-{number}\n").returncode == 0
    full, last = previous.read_text(), secret.read_text()
    refused = run("shop", "secret", "demo", "--set", "--config", files.config_path, stdin="a-secret-too-many\n")
    assert refused.returncode == 1 and "--forget-previous" in refused.stderr
    assert (previous.read_text(), secret.read_text()) == (full, last) and full.startswith(f"{shop.secret}\n")
    assert run("shop", "secret", "demo", "--forget-previous", "--config", files.config_path).returncode == 0
    assert not previous.exists()


# ---- with everything running ----


def send(system, *options):
    done = system.cartbus("webhook", "send", "demo", *options, json_output=True)
    assert done["status"] == 200
    return done["cart"]


def has_row(system, cart):
    return lambda: system.cartbus("why", "demo", cart, check=False).stdout.startswith("Cart sample") or None


def test_all_is_green_and_a_program_can_read_it(running):
    status = running.cartbus("status", json_output=True)
    assert status["red"] == []
    assert {"gateway", "intake", "sender"} <= {session["service"] for session in status["sessions"]}
    assert {queue["name"] for queue in running.cartbus("queues", json_output=True)["queues"]} >= {"intake", "sender"}
    assert running.cartbus("status").stdout.startswith("GREEN")
    assert running.cartbus("dlq", "list").stdout == "no dead letters\n"


@pytest.mark.parametrize("platform", ["shopify", "woocommerce", "cart"])
def test_a_sample_of_each_platform_is_accepted_and_traced_by_any_of_its_names(running, platform):
    cart = send(running, "--as", platform)
    topic = "cart.checkout" if platform == "woocommerce" else "cart.changed"
    wait_until(lambda: running.cartbus("trace", "demo", cart, check=False).returncode == 0, "the sample in the log")
    said = running.cartbus("trace", "demo", cart, json_output=True)["messages"]
    assert topic in [one["topic"] for one in said]
    assert f"{cart}@example.com" not in json.dumps(said), "addresses are masked"


def test_a_sample_leaves_other_samples_as_they_are(running):
    cart = send(running, "--as", "shopify")
    wait_until(has_row(running, cart), "the cart's row")
    order = send(running, "--as", "woocommerce")
    wait_until(has_row(running, order), "the order's row")
    assert running.cartbus("why", "demo", cart, json_output=True)["cart"]["status"] == "open"


@pytest.mark.parametrize("options, body", [(["--as", "shopify", "--topic", "shop/redact"], {"id": 1, "line_items": []}),
                                           (["--as", "shopify", "--topic", "themes/publish"], {"id": 1}), ([], {"no": "id"})])
def test_a_body_that_was_not_taken_ends_with_1_and_names_no_cart(running, tmp_path, options, body):
    (tmp_path / "body.json").write_text(json.dumps(body))
    done = running.cartbus("webhook", "send", "demo", *options, "--file", str(tmp_path / "body.json"), check=False)
    assert done.returncode == 1 and done.stdout.startswith("200 ") and "trace" not in done.stdout


def test_a_wrong_secret_is_answered_no(running):
    secret = running.folder / "secrets" / "webhook" / "demo"
    right = secret.read_text()
    other = running.folder / "other"
    (other / "secrets" / "webhook").mkdir(parents=True)
    (other / "secrets" / "webhook" / "demo").write_text("f" * 32)
    (other / "secrets" / "webhook" / "demo").chmod(0o600)
    config = other / "cartbus.conf"
    config.write_text(running.config_path.read_text().replace(str(running.folder / "secrets"), str(other / "secrets")))
    done = run("webhook", "send", "demo", "--config", config)
    assert done.returncode == 1 and done.stdout.startswith("401")
    assert secret.read_text() == right


def test_why_tells_what_happened_what_was_decided_and_when_next(running):
    cart = send(running, "--as", "shopify", "--email", "why@example.com")
    wait_until(has_row(running, cart), "the cart's row")
    why = running.cartbus("why", "demo", cart, json_output=True)
    assert why["cart"]["status"] == "open" and why["cart"]["ids"]["email"] == "w***@example.com"
    assert [one["topic"] for one in why["story"] if one["said_by"] == "gateway"] == ["cart.changed"]
    assert any(one["topic"] == "audit" for one in why["story"])
    assert why["next"][0]["at_us"] == why["cart"]["abandoned_us"] + 2 * 3_600_000_000, "a medium cart waits two hours"
    by_address = running.cartbus("why", "demo", "Why@Example.com", json_output=True)
    assert by_address["cart"]["ids"] == why["cart"]["ids"]
    assert any(timer["due_us"] == why["next"][0]["at_us"] for timer in running.cartbus("timers", json_output=True)["timers"])


def test_why_and_timers_tell_when_the_next_mail_goes_after_the_quiet_hours(running):
    berlin = zoneinfo.ZoneInfo("Europe/Berlin")
    left = datetime.datetime.now(berlin).replace(microsecond=0)
    night, morning = ((left + datetime.timedelta(hours=hours)).replace(minute=0, second=0) for hours in (1, 9))
    shop = running.add_shop("night", rules=(
        "Small carts (under 40 EUR): remind after 3 hours, then after 30. Medium carts: 3 hours, then 30. Big carts (over 150 EUR): "
        f"3 hours, then 30. Quiet hours: {night:%H:%M} to {morning:%H:%M}."))
    wait_until(lambda: [one for one in running.log(topic="document") if one["shop"] == "night" and one["message"].kind == "rules"], "its rules")
    event = {"event": "changed", "cart": "n-1", "email": "n@mail.example", "at": left.astimezone(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
             "currency": "EUR", "total": "20.00", "recovery_url": "https://night.example/r", "items": [{"title": "Vase", "quantity": 1, "price": "20.00"}]}
    assert running.post(shop.cart(event)).status == 200
    looks = wait_until(lambda: (done := running.cartbus("why", "night", "n-1", "--json", check=False)).returncode == 0
                       and json.loads(done.stdout)["next"], "the cart's timer")
    send = looks[0]["send"]
    assert looks[0]["at_us"] == (int(left.timestamp()) + 3 * 3600) * 1_000_000  # it is looked at then, and mailed later
    assert (send["step"], send["at_us"], send["observed"], send["with_sender"]) == (1, int(morning.timestamp()) * 1_000_000, True, False)
    assert send["at"] == f"{morning:%Y-%m-%d %H:%M:%S}" and send["why"] == f"quiet hours until {morning:%H:%M}"
    told = f"only observed: first reminder (quiet hours until {morning:%H:%M})"
    assert f"  {morning:%Y-%m-%d %H:%M:%S}  {told}\n" in running.cartbus("why", "night", "n-1").stdout
    assert told in running.cartbus("timers", "--shop", "night").stdout
    timers = {timer["name"]: timer for timer in running.cartbus("timers", json_output=True)["timers"] if timer["shop"] == "night"}
    assert next(timer["send"] for name, timer in timers.items() if name.startswith("cart/")) == send
    assert told not in running.cartbus("timers", "--shop", "night", "--looks").stdout


def test_a_preview_is_the_mail_and_nothing_is_sent(running):
    cart = send(running, "--as", "shopify", "--email", "preview@example.com")
    wait_until(has_row(running, cart), "the cart's row")
    mail = running.cartbus("preview", "demo", cart, "--step", "2", json_output=True)
    assert "64,00" in mail["text"] and "https://carts.example/u/" in mail["text"]
    assert "64,00" in mail["html"] and "<html" in mail["html"]
    assert mail["subject"] and mail["message_id"].startswith("2.")
    assert running.cartbus("preview", "demo", cart).stdout.startswith("Subject: ")
    head = running.cartbus("preview", "demo", "--locale", "fr").stdout.split("\n\n")[0].splitlines()
    assert 'From: "Demo" <shop@demo.example>' in head and head[-1] == "Words: built in, fr"
    assert mail["from"] == '"Demo" <shop@demo.example>' and mail["words"] == "built in, de"
    assert [one for one in running.cartbus("trace", "demo", cart, json_output=True)["messages"] if one["topic"].startswith("reminder")] == []


def test_the_owner_overrides_and_writes_off_one_cart_by_any_of_its_names(running):
    cart = send(running, "--as", "shopify", "--email", "owner@example.com")
    wait_until(has_row(running, cart), "the cart's row")

    def why():
        return running.cartbus("why", "demo", cart, json_output=True)

    left = why()["cart"]["abandoned_us"]
    running.cartbus("cart", "override", "demo", cart, "30min", "6h", "--reason", "launch day")
    wait_until(lambda: why()["next"][0]["at_us"] == left + 1_800_000_000, "the timer at the cart's own wait")
    assert "override_wait: 30 min, then 6 h: launch day" in running.cartbus("why", "demo", cart).stdout
    running.cartbus("cart", "write-off", "demo", cart, "--reason", "out of stock")
    wait_until(lambda: why()["cart"]["status"] == "closed", "the cart being closed")
    assert why()["next"] == []
    assert "out of stock" in json.dumps(why()["story"])


def test_a_cart_that_nobody_knows_is_exit_1(running):
    for words in (("trace", "demo", "nosuch"), ("why", "demo", "nosuch"), ("cart", "suppress", "demo", "nosuch"),
                  ("preview", "demo", "nosuch"), ("preview", "nosuch", "c"), ("webhook", "send", "nosuch"),
                  ("dlq", "show", "intake", "1"), ("shop", "mode", "nosuch", "live"), ("gateway", "strike", "nosuch"),
                  ("queues", "resume", "nosuch"), ("queues", "resume", "intake")):
        assert running.cartbus(*words, check=False).returncode == 1, words


def test_a_mode_is_in_force_when_the_command_answers_and_a_higher_pause_stays(running):
    def mode():
        return running.cartbus("shop", "list", json_output=True)["shops"][0]["mode"]

    assert mode() == "observe"
    running.cartbus("shop", "mode", "demo", "live")
    assert mode() == "live"
    running.cartbus("shop", "mode", "demo", "paused", "--priority", "5", "--reason", "wrong prices")
    done = running.cartbus("shop", "mode", "demo", "live", check=False)
    assert done.returncode == 1 and "wrong prices" in done.stderr and mode() == "paused"
    running.cartbus("shop", "mode", "demo", "observe", "--priority", "5")
    assert mode() == "observe"


def test_a_stop_is_ended_by_resume_and_why_tells_of_it(running):
    cart = send(running, "--as", "cart", "--email", "stopped@example.com")
    wait_until(has_row(running, cart), "the cart's row")
    running.cartbus("stop", "demo", "--reason", "wrong prices")
    try:
        done = running.cartbus("shop", "mode", "demo", "live", check=False)
        assert done.returncode == 1 and "cartbus resume demo" in done.stderr and "--priority" not in done.stderr
        told = running.cartbus("why", "demo", cart).stdout
        assert "when it is resumed   no reminder goes meanwhile: the shop is paused" in told and "never" not in told
        assert cart in [one["cart"] for one in running.cartbus("carts", "demo", "--waiting", json_output=True)["carts"]]
    finally:
        running.cartbus("resume", "demo", "--reason", "right again")


def test_a_tap_shows_what_happens_and_only_what_was_asked_for(running):
    words = [str(CARTBUS), "tap", "--json", "--topic", "shop.*", "--shop", "demo", "--config", str(running.config_path)]
    tap = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    try:
        def says_something():
            running.cartbus("shop", "mode", "demo", "observe", "--priority", "9")
            return tap_line_ready(tap)
        wait_until(says_something, "a line of the tap")
        said = json.loads(tap.stdout.readline())
        assert said["topic"] == "shop.status" and said["shop"] == "demo" and said["payload"]["mode"] == "observe"
    finally:
        tap.terminate()
        assert tap.wait(10) == 0


def test_a_tap_of_one_topic_shows_none_whose_name_only_begins_so(running):
    def tap_of(topic):
        return subprocess.Popen([str(CARTBUS), "tap", "--json", "--topic", topic, "--config", str(running.config_path)],
                                stdout=subprocess.PIPE, text=True)
    taps = [tap_of("shop.status"), tap_of("shop.statu"), tap_of("shop.statu*")]
    try:
        def all_but_one_say_something():
            running.cartbus("shop", "mode", "demo", "observe", "--priority", "9")
            return tap_line_ready(taps[0]) and tap_line_ready(taps[2])
        wait_until(all_but_one_say_something, "a line of the taps")
        running.cartbus("shop", "mode", "demo", "observe", "--priority", "8")
    finally:
        for tap in taps:
            tap.terminate()
    said = [tap.communicate(timeout=10)[0] for tap in taps]
    assert "shop.status" in said[0] and "shop.status" in said[2] and said[1] == ""


def tap_line_ready(tap):
    import select
    return select.select([tap.stdout], [], [], 0.2)[0]
