"""HTTP servers that misbehave on purpose, over TLS with certificates of the test's own, and the probe that asks them.

They stand in for the services of others: they check the shape of what is asked, and are none of the real platforms.
"""

import http.server
import json
import os
import pathlib
import select
import socket
import ssl
import struct
import subprocess
import threading

BUILD = pathlib.Path(os.environ.get("CARTBUS_BUILD", "build-asan"))
PATIENCE_S = 30
CA_CONF = """[ca]
default_ca = one
[one]
database = index
new_certs_dir = .
serial = serial
default_md = sha256
policy = any
unique_subject = no
[any]
commonName = supplied
"""


class Certificates:
    """A CA of the test's own, and server certificates of any kind."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(exist_ok=True)
        self.ca = self.folder / "ca.pem"
        self._openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", "ca.key",
                      "-out", "ca.pem", "-subj", "/CN=test ca", "-days", "2")
        (self.folder / "ca.conf").write_text(CA_CONF)
        (self.folder / "index").write_text("")
        (self.folder / "serial").write_text("01\n")

    def _openssl(self, *arguments):
        subprocess.run(["openssl", *arguments], cwd=self.folder, check=True, capture_output=True)

    def context(self, names="IP:127.0.0.1,DNS:localhost", dates=()):
        self._openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", "server.key",
                      "-out", "server.csr", "-subj", "/CN=server")
        (self.folder / "ext").write_text(f"subjectAltName={names}\n")
        self._openssl("ca", "-batch", "-config", "ca.conf", "-cert", "ca.pem", "-keyfile", "ca.key", "-in", "server.csr", "-out",
                      "server.pem", "-extfile", "ext", "-notext", *(dates or ("-days", "2")))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.folder / "server.pem", self.folder / "server.key")
        return context

    def expired(self):
        return self.context(dates=("-startdate", "20200101000000Z", "-enddate", "20200102000000Z"))


class Request:
    def __init__(self, handler, body):
        self.method, self.path = handler.command, handler.path
        self.headers, self.body = handler.headers, body
        self.handler = handler

    def json(self):
        return json.loads(self.body)


def reply(request, status=200, body=b"{}", **headers):
    """The usual answer; names of headers with _ for -."""
    handler = request.handler
    body = body if isinstance(body, bytes) else json.dumps(body).encode()
    handler.send_response(status)
    headers.setdefault("Content_Type", "application/json")
    headers.setdefault("Content_Length", str(len(body)))
    for name, value in headers.items():
        if value is not None:
            handler.send_header(name.replace("_", "-"), value)
    handler.end_headers()
    handler.wfile.write(body)


class Peer:
    """Answers each request with `answer(request)`. A request counts once all of its body has come; `partial` are the others."""

    def __init__(self, answer=reply, context=None, listener=None, host="127.0.0.1"):
        self.answer, self.requests, self.partial = answer, [], []
        self.connections = 0
        peer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *args):
                pass

            def handle_any(self):
                wanted = int(self.headers.get("Content-Length") or 0)
                body = b""
                while len(body) < wanted and (more := self.rfile.read1(wanted - len(body))):
                    body += more
                    peer.partial_now = len(body)
                if len(body) < wanted:
                    peer.partial.append(body)
                    self.close_connection = True
                    return
                request = Request(self, body)
                peer.requests.append(request)
                try:
                    peer.answer(request)
                    self.wfile.flush()
                except OSError:
                    self.close_connection = True

            do_GET = do_POST = do_PUT = do_HEAD = handle_any

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True
            block_on_close = False

            def finish_request(self, connection, address):
                peer.connections += 1
                if context:
                    try:
                        connection = context.wrap_socket(connection, server_side=True)
                    except OSError:
                        return
                try:
                    super().finish_request(connection, address)
                except OSError:
                    pass

            def handle_error(self, connection, address):
                pass

        if listener:
            self.server = Server(listener.getsockname(), Handler, bind_and_activate=False)
            self.server.socket.close()
            self.server.socket = listener
        else:
            self.server = Server((host, 0), Handler)
        self.port = self.server.server_address[1]
        self.url = f"{'https' if context else 'http'}://{host if ':' not in host else f'[{host}]'}:{self.port}"
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


# ---- what a server may do instead of answering ----


def never(request):
    request.handler.rfile.read()  # until the other side has had enough


def slow(request):
    """A byte at a time."""
    request.handler.send_response(200)
    request.handler.send_header("Content-Length", "1000000")
    request.handler.end_headers()
    pause = threading.Event()
    while not pause.wait(0.05):
        request.handler.wfile.write(b"x")


def gigabyte(request):
    request.handler.send_response(200)
    request.handler.send_header("Connection", "close")
    request.handler.end_headers()
    for _ in range(1 << 10):
        request.handler.wfile.write(b" " * (1 << 20))


def announced(request):
    reply(request, body=b"x", Content_Length=str(1 << 30))


def head(request):
    """Without an end."""
    request.handler.wfile.write(b"HTTP/1.1 200 OK\r\n")
    for i in range(100000):
        request.handler.wfile.write(f"X-{i}: {'y' * 100}\r\n".encode())


def reset(request):
    handler = request.handler
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    handler.close_connection = True
    socket.socket(fileno=handler.connection.detach()).close()


def noise(request):
    request.handler.wfile.write(b"what is that\r\n\r\n")


def garbage(request):
    reply(request, 200, b"\xff\xfe{")


def redirect(request):
    reply(request, 302, b"", Location="http://127.0.0.1:1/")


def broken(request):
    reply(request, 500, b"{}")


# The first two last until the other side's deadline.
BAD = {act.__name__: act for act in (never, slow, gigabyte, announced, head, reset, noise, garbage, redirect, broken)}


class Probe:
    """A driver alone, as a program of tests/system offers it."""

    def __init__(self, program, argument, inside=(), environment=None):
        self.process = subprocess.Popen([*inside, BUILD / "bin" / program, argument], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, bufsize=0, env={**os.environ, **(environment or {})})
        self.heard = b""

    def say(self, **line):
        self.process.stdin.write(json.dumps(line).encode() + b"\n")

    def hear(self, patience_s=PATIENCE_S):
        while b"\n" not in self.heard:
            ready, _, _ = select.select([self.process.stdout], [], [], patience_s)
            assert ready, f"the probe said nothing within {patience_s} s"
            more = os.read(self.process.stdout.fileno(), 1 << 20)
            assert more, "the probe has ended"
            self.heard += more
        line, self.heard = self.heard.split(b"\n", 1)
        return json.loads(line)

    def close(self):
        if self.process.poll() is None:
            out, _ = self.process.communicate(timeout=PATIENCE_S)
            assert out.decode().endswith("closed\n") and self.process.returncode == 0


class HttpProbe(Probe):
    """The HTTP driver, as tests/system/programs/http_probe.c offers it."""

    def __init__(self, folder, inside=(), environment=None):
        self.secrets = pathlib.Path(folder) / "secrets"
        self.secrets.mkdir(exist_ok=True)
        super().__init__("http_probe", self.secrets, inside, environment)

    def secret(self, name, text, mode=0o600):
        path = self.secrets / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text + "\n")
        path.chmod(mode)

    def ask(self, url, method="GET", **request):
        self.say(id="a", method=method, url=url, **request)
        return self.hear()
