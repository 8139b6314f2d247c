"""A name server that knows some domains and no others: Knot, at a port of this machine."""

import subprocess
import tempfile
from pathlib import Path

from cartbus_system import end_with_parent, free_port, wait_until

CONF = """server:
    listen: 127.0.0.1@{port}
    rundir: "{folder}"
database:
    storage: "{folder}"
log:
  - target: stderr
    any: warning
template:
  - id: default
    storage: "{folder}"
    journal-content: none
zone:
"""
START = "@ 60 SOA ns.{zone}. admin.{zone}. 1 60 60 60 60\n@ 60 NS ns\nns 60 A 127.0.0.1\n"


def strings(text):
    """A TXT record's strings: of 255 bytes at most each."""
    return " ".join(f'"{text[at:at + 200]}"' for at in range(0, len(text), 200))


class NameServer:
    """zones: {"shop.test": {"@": ["TXT ...", "MX 10 mail"], "_dmarc": [...]}}; a text is written as ("TXT", words)."""

    def __init__(self, zones):
        self._folder = tempfile.TemporaryDirectory(prefix="cartbus-dns-")
        folder = Path(self._folder.name)
        self.port = free_port()
        conf = CONF.format(port=self.port, folder=folder)
        for zone, names in zones.items():
            lines = [START.format(zone=zone)]
            for name, records in names.items():
                lines += [f"{name} 60 {kind} {strings(words) if kind == 'TXT' else words}\n" for kind, words in records]
            (folder / f"{zone}.zone").write_text("".join(lines))
            conf += f"  - domain: {zone}\n    file: {zone}.zone\n"
        (folder / "knot.conf").write_text(conf)
        self.log = open(folder / "log", "wb")
        self.process = subprocess.Popen(["knotd", "-c", str(folder / "knot.conf")], stdout=self.log, stderr=self.log, preexec_fn=end_with_parent)
        wait_until(lambda: self._answers(next(iter(zones))), "the name server being ready")

    @property
    def address(self):
        return f"127.0.0.1@{self.port}"

    def _answers(self, zone):
        assert self.process.poll() is None, Path(self.log.name).read_text()
        asked = ["kdig", "@127.0.0.1", "-p", str(self.port), "+timeout=1", "+retry=0", "+short", "SOA", zone]
        return subprocess.run(asked, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False).stdout

    def close(self):
        self.process.terminate()
        self.process.wait()
        self.log.close()
        self._folder.cleanup()
