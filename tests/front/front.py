"""nginx and Caddy from Debian, with the configurations of deploy/front, before a gateway.

    with System() as system, Nginx(tmp_path, system.port) as front:
        front.request("GET", "/u/...")

The files run as they stand but for ports and paths, and the certificate, whose CA is the test's own.
"""

import http.client
import os
import pathlib
import socket
import ssl
import subprocess
import sys

from cartbus_system import end_with_parent, free_ports, wait_until
from http_peer import Certificates
from shop_webhooks import Answer

SOURCES = pathlib.Path(__file__).resolve().parents[2]
NAME = "cartbus.shop.example"
PATIENCE_S = 60


def put(text, changes):
    """`text` with each of {old: new}, all of which are to be in it."""
    for old, new in changes.items():
        assert old in text, f"{old} is not in the example any more"
        text = text.replace(old, new)
    return text


class Front:
    rate_limits = False

    def __init__(self, folder, gateway_port):
        self.folder = pathlib.Path(folder)
        self.logs = self.folder / "logs"
        self.logs.mkdir(parents=True)
        self.plain_port = free_ports(2)
        self.port = self.plain_port + 1
        self.certificates = Certificates(self.folder / "tls")
        self.certificates.context(names=f"DNS:{NAME}")
        self.trust = ssl.create_default_context(cafile=self.certificates.ca)
        self.certificate, self.key = (self.folder / "tls" / name for name in ("server.pem", "server.key"))
        words = self.prepare(gateway_port)
        self.out = open(self.logs / "out", "ab")
        self.process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=self.out, stderr=self.out, preexec_fn=end_with_parent,
                                        env={**os.environ, "HOME": str(self.folder), "XDG_DATA_HOME": str(self.folder)})

    def __enter__(self):
        wait_until(self._listens, "the server in front listens", PATIENCE_S)
        return self

    def _listens(self):
        assert self.process.poll() is None, self.said()
        try:
            self.connect().close()
            return True
        except OSError:
            return False

    def __exit__(self, kind, error, trace):
        if error:
            print(self.said()[-3000:], file=sys.stderr)
        self.process.terminate()
        self.process.wait(PATIENCE_S)
        self.out.close()

    def said(self):
        return "\n".join(path.read_text(errors="replace") for path in sorted(self.logs.iterdir()))

    def connect(self, timeout_s=PATIENCE_S):
        plain = socket.create_connection(("127.0.0.1", self.port), timeout_s)
        return self.trust.wrap_socket(plain, server_hostname=NAME)

    def request(self, method, path, body=None, headers=None, timeout_s=PATIENCE_S):
        connection = http.client.HTTPConnection(NAME, timeout=timeout_s)
        connection.sock = self.connect(timeout_s)
        try:
            connection.request(method, path, body=body, headers=headers or {})
            response = connection.getresponse()
            return Answer(response.status, dict(response.getheaders()), response.read())
        finally:
            connection.close()


class Nginx(Front):
    rate_limits = True

    def prepare(self, gateway_port):
        site = put((SOURCES / "deploy" / "front" / "nginx.conf").read_text(), {
            "listen 80;": f"listen 127.0.0.1:{self.plain_port};",
            "listen [::]:80;": "",
            "listen 443 ssl;": f"listen 127.0.0.1:{self.port} ssl;",
            "listen [::]:443 ssl;": "",
            "server 127.0.0.1:8080": f"server 127.0.0.1:{gateway_port}",
            f"/etc/letsencrypt/live/{NAME}/fullchain.pem": str(self.certificate),
            f"/etc/letsencrypt/live/{NAME}/privkey.pem": str(self.key),
            "/var/log/nginx": str(self.logs),
            "/var/www/html": str(self.folder),
        })
        (self.folder / "site.conf").write_text(site)
        kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        whole = f"user {'root' if os.geteuid() == 0 else 'nobody'};\ndaemon off;\npid {self.folder}/pid;\nerror_log {self.logs}/error.log;\n"
        whole += "events {}\nhttp {\n" + "".join(f"{kind}_temp_path {self.folder}/{kind};\n" for kind in kinds) + "include site.conf;\n}\n"
        (self.folder / "nginx.conf").write_text(whole)
        return ["nginx", "-c", str(self.folder / "nginx.conf"), "-e", str(self.logs / "error.log")]


class Caddy(Front):
    def prepare(self, gateway_port):
        text = (SOURCES / "deploy" / "front" / "Caddyfile").read_text()
        ports = f"http_port {self.plain_port}\nhttps_port {self.port}\nadmin off\ndefault_bind 127.0.0.1"
        (self.folder / "Caddyfile").write_text(put(text, {
            "\n{\n": f"\n{{\n{ports}\n",
            f"\n{NAME} {{\n": f"\n{NAME} {{\ntls {self.certificate} {self.key}\n",
            "127.0.0.1:8080": f"127.0.0.1:{gateway_port}",
        }))
        return ["caddy", "run", "--adapter", "caddyfile", "--config", str(self.folder / "Caddyfile")]
