"""A stand-in for an OpenTelemetry collector: it takes OTLP/HTTP in JSON and holds each request against the shape that the protocol gives it.

No collector is packaged for Debian 12. What it checks is written after opentelemetry.io/docs/specs/otlp; it is not the real thing.
"""

import json
import re

from http_peer import Peer, reply

ID = {"traceId": re.compile(r"(?!0{32})[0-9a-f]{32}"), "spanId": re.compile(r"(?!0{16})[0-9a-f]{16}"), "parentSpanId": re.compile(r"(?!0{16})[0-9a-f]{16}")}
VALUES = {"stringValue": str, "intValue": str}
KINDS, CODES = range(6), range(3)


def attributes_of(rows):
    read = {}
    for row in rows:
        assert row.keys() == {"key", "value"} and len(row["value"]) == 1 and row["key"] not in read, row
        (kind, value), = row["value"].items()
        assert isinstance(value, VALUES[kind]) and value, row
        read[row["key"]] = int(value) if kind == "intValue" else value
    return read


def check_span(span):
    assert {"traceId", "spanId", "name", "kind", "startTimeUnixNano", "endTimeUnixNano", "attributes", "status"} <= span.keys()
    assert span.keys() <= {"traceId", "spanId", "parentSpanId", "name", "kind", "startTimeUnixNano", "endTimeUnixNano", "attributes", "status"}
    assert all(pattern.fullmatch(span[name]) for name, pattern in ID.items() if name in span), span
    assert span["kind"] in KINDS and span["status"]["code"] in CODES and span["name"]
    assert 0 < int(span["startTimeUnixNano"]) <= int(span["endTimeUnixNano"])


class Collector:
    """`answer(request)` is what the next ones get; None: they are taken. Spans are those of requests that were taken."""

    def __init__(self):
        self.spans, self.wrong, self.answer, self.refused = [], [], None, 0
        self.peer = Peer(self._take)
        self.url = f"http://127.0.0.1:{self.peer.port}"

    def close(self):
        self.peer.close()

    def _take(self, request):
        try:
            spans = self._read(request)
        except (AssertionError, KeyError, TypeError, ValueError) as error:
            self.wrong.append(repr(error))
            reply(request, 400)
            return
        if self.answer:
            self.refused += len(spans)
            self.answer(request)
            return
        self.spans += spans
        reply(request, 200, json.dumps({"partialSuccess": {}}).encode())

    def _read(self, request):
        assert (request.method, request.path) == ("POST", "/v1/traces"), request.path
        assert request.headers["Content-Type"] == "application/json"
        found = []
        body = json.loads(request.body)
        assert body.keys() == {"resourceSpans"}
        for resource in body["resourceSpans"]:
            assert resource.keys() == {"resource", "scopeSpans"}
            of = attributes_of(resource["resource"]["attributes"])
            for scope in resource["scopeSpans"]:
                assert scope.keys() == {"scope", "spans"} and scope["scope"]["name"] == "cartbus" and scope["spans"]
                for span in scope["spans"]:
                    check_span(span)
                    found.append({**span, "service": of["service.name"], "attributes": attributes_of(span["attributes"])})
        return found
