"""Stand-ins for Google's token endpoint, Sheets and Drive, over TLS with certificates of the test's own.

They are not Google: they check the shape of what is asked against its documentation, verify each JWT with python3-cryptography, and
misbehave when a test says so.
"""

import base64
import json
import threading
import time
import urllib.parse

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from http_peer import Certificates, Peer, reply

ACCOUNT = "cartbus@project.iam.gserviceaccount.com"
SHEET, RULES_ID = "1SheetOfTheOwner_-x", "1DocumentOfTheRules"
SCOPES = {"https://www.googleapis.com/auth/spreadsheets", "https://www.googleapis.com/auth/drive.readonly"}
GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer"


def unpacked(part):
    return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))


class Google:
    """`misbehaves["GET"]` and the like: what is done to the next requests of this method instead, one by one: fn(request)."""

    def __init__(self, folder):
        self.certificates = Certificates(folder)
        self.key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        self.peer = Peer(self.answer, self.certificates.context())
        self.url = self.peer.url
        self.wrong, self.tokens, self.rows, self.appends = [], [], [], []
        self.documents = {}
        self.misbehaves = {"GET": [], "POST": [], "token": []}
        self.lock = threading.Lock()

    def key_file(self, **changes):
        pem = self.key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        return json.dumps({"type": "service_account", "project_id": "project", "private_key_id": "k1", "private_key": pem.decode(),
                           "client_email": ACCOUNT, "token_uri": self.url + "/token", **changes})

    def settings(self):
        return {"sheets-url": self.url, "drive-url": self.url, "ca": self.certificates.ca}

    def answer(self, request):
        with self.lock:
            try:
                self.route(request)
            except (AssertionError, ValueError, KeyError) as error:
                self.wrong.append(f"{request.method} {request.path}: {error!r}")
                reply(request, 400, b"{}")

    def route(self, request):
        if request.path == "/token":
            return self.misbehaves["token"].pop(0)(request) if self.misbehaves["token"] else self.token(request)
        assert request.headers["Authorization"] == f"Bearer {self.tokens[-1]}", "another token"
        if self.misbehaves[request.method]:
            return self.misbehaves[request.method].pop(0)(request)
        path, _, query = request.path.partition("?")
        if path.startswith("/drive/v3/files/"):
            return self.export(request, path, query)
        return self.look(request, path, query) if request.method == "GET" else self.append(request, path, query)

    def token(self, request):
        assert request.headers["Content-Type"] == "application/x-www-form-urlencoded"
        form = urllib.parse.parse_qs(request.body.decode(), strict_parsing=True)
        assert form["grant_type"] == [GRANT] and len(form) == 2
        head, claims, signature = form["assertion"][0].split(".")
        self.key.public_key().verify(unpacked(signature), f"{head}.{claims}".encode(), padding.PKCS1v15(), hashes.SHA256())
        assert json.loads(unpacked(head)) == {"alg": "RS256", "typ": "JWT", "kid": "k1"}
        said = json.loads(unpacked(claims))
        assert set(said) == {"iss", "scope", "aud", "iat", "exp"} and said["iss"] == ACCOUNT and said["scope"] in SCOPES
        assert said["aud"] == self.url + "/token" and abs(said["iat"] - time.time()) < 300 and said["iat"] < said["exp"] <= said["iat"] + 3600
        self.tokens.append(f"ya29.token-{len(self.tokens)}")
        reply(request, 200, {"access_token": self.tokens[-1], "expires_in": 3599, "token_type": "Bearer"})

    def look(self, request, path, query):
        assert path == f"/v4/spreadsheets/{SHEET}/values/" + urllib.parse.quote("'Anna''s carts'!A:B", safe="~"), path
        assert query == "majorDimension=COLUMNS", query
        columns = [[row[column] for row in self.rows] for column in (0, 1)]
        body = {"range": "'Anna''s carts'!A1:B1000", "majorDimension": "COLUMNS"}
        reply(request, 200, {**body, "values": columns} if self.rows else body)

    def append(self, request, path, query):
        self.write(request)
        assert path.startswith(f"/v4/spreadsheets/{SHEET}/values/" + urllib.parse.quote("'Anna''s carts'!A1", safe="~") + ":append"), path
        assert urllib.parse.parse_qs(query) == {"valueInputOption": ["RAW"], "insertDataOption": ["INSERT_ROWS"]}, query
        reply(request, 200, {"spreadsheetId": SHEET})

    def write(self, request):
        body = request.json()
        assert set(body) == {"values"} and all(isinstance(row, list) for row in body["values"])
        assert request.headers["Content-Type"] == "application/json"
        self.appends.append(body["values"])
        self.rows += body["values"]

    def export(self, request, path, query):
        assert path.endswith("/export") and query == "mimeType=text/plain", request.path
        text = self.documents.get(path.split("/")[4])
        if text is None:
            return reply(request, 404, b"{}")
        reply(request, 200, b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode(), Content_Type="text/plain")

    def close(self):
        self.peer.close()
