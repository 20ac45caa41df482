# SPDX-License-Identifier: Apache-2.0
"""A server of S3 in memory that checks signatures (AWS Signature Version 4).

It misbehaves when a test asks it to.
It knows what a reader needs: GetObject with ranges, HeadObject, HeadBucket and ListObjectsV2.
"""

from __future__ import annotations

import hashlib
import hmac
import threading
import time
import urllib.parse
from collections.abc import Callable
from dataclasses import dataclass, field
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from xml.sax.saxutils import escape

PAGE = 1000


@dataclass
class Stored:
    content: bytes
    changed: float

    @property
    def etag(self) -> str:
        return f'"{hashlib.md5(self.content, usedforsecurity=False).hexdigest()}"'


@dataclass
class S3Server:
    """`log` has a line for each request that was signed well: method, path and query."""

    keys: dict[str, str] = field(default_factory=lambda: {"test-key": "test-secret"})
    delay: float = 0.0
    is_down: bool = False
    cut: bool = False  # bodies of objects end after half of them
    before_body: Callable[[str], None] | None = None  # called with the key before an object is sent
    objects: dict[tuple[str, str], Stored] = field(default_factory=dict)
    log: list[str] = field(default_factory=list)
    refused: int = 0
    at_once: int = 0  # requests being answered
    most_at_once: int = 0

    def __post_init__(self) -> None:
        handler = type("Handler", (_Handler,), {"store": self})
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.lock = threading.Lock()
        self._thread = threading.Thread(target=self._http.serve_forever, daemon=True)
        self._thread.start()

    @property
    def port(self) -> int:
        return int(self._http.server_address[1])

    def url(self, bucket: str, prefix: str = "") -> str:
        return f"s3://127.0.0.1:{self.port}/{bucket}" + (f"/{prefix}" if prefix else "")

    def put(self, bucket: str, key: str, content: bytes) -> None:
        self.objects[bucket, key] = Stored(content, time.time())

    def put_folder(self, bucket: str, prefix: str, folder: Path) -> None:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                self.put(bucket, f"{prefix}/{path.relative_to(folder)}", path.read_bytes())
            elif not any(path.iterdir()):
                self.put(bucket, f"{prefix}/{path.relative_to(folder)}/", b"")

    def count(self, start: str) -> int:
        return sum(line.startswith(start) for line in list(self.log))

    def lists(self) -> int:
        return sum("list-type=2" in line for line in list(self.log))

    def stop(self) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()


def _sign(key: bytes, text: str) -> bytes:
    return hmac.new(key, text.encode(), hashlib.sha256).digest()


def expected_signature(
    method: str, path: str, query: str, headers: dict[str, str], authorization: str, secret: str
) -> str:
    """The signature that a request with these headers has by `secret`."""
    fields = dict(part.strip().split("=", 1) for part in authorization.split(" ", 1)[1].split(","))
    scope = fields["Credential"].split("/", 1)[1]
    signed = fields["SignedHeaders"].split(";")
    pairs = urllib.parse.parse_qsl(query, keep_blank_values=True)
    quoted = sorted(
        (urllib.parse.quote(k, safe="-_.~"), urllib.parse.quote(v, safe="-_.~")) for k, v in pairs
    )
    canonical = "\n".join(
        [
            method,
            urllib.parse.quote(urllib.parse.unquote(path), safe="/-_.~"),
            "&".join(f"{k}={v}" for k, v in quoted),
            *(f"{name}:{' '.join(headers[name].split())}" for name in signed),
            "",
            ";".join(signed),
            headers["x-amz-content-sha256"],
        ]
    )
    digest = hashlib.sha256(canonical.encode()).hexdigest()
    text = "\n".join(["AWS4-HMAC-SHA256", headers["x-amz-date"], scope, digest])
    key = ("AWS4" + secret).encode()
    for part in scope.split("/"):
        key = _sign(key, part)
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()


class _Handler(BaseHTTPRequestHandler):
    store: S3Server
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        pass

    def do_HEAD(self) -> None:
        self._count_and_answer()

    def do_GET(self) -> None:
        self._count_and_answer()

    def _count_and_answer(self) -> None:
        store = self.store
        with store.lock:
            store.at_once += 1
            store.most_at_once = max(store.most_at_once, store.at_once)
        try:
            self._answer()
        finally:
            with store.lock:
                store.at_once -= 1

    def _answer(self) -> None:
        store = self.store
        time.sleep(store.delay)
        if store.is_down:
            self.close_connection = True
            return
        path, _, query = self.path.partition("?")
        if not self._is_signed(path, query):
            store.refused += 1
            self._refuse(403, "SignatureDoesNotMatch")
            return
        store.log.append(f"{self.command} {self.path}")
        bucket, _, key = urllib.parse.unquote(path).lstrip("/").partition("/")
        if all(name != bucket for name, _ in store.objects):
            self._refuse(404, "NoSuchBucket")
        elif key:
            self._send_object(bucket, key)
        elif self.command == "HEAD":
            self._send(200, b"", {})
        else:
            self._send_list(bucket, dict(urllib.parse.parse_qsl(query)))

    def _is_signed(self, path: str, query: str) -> bool:
        headers = {name.lower(): value for name, value in self.headers.items()}
        authorization = headers.get("authorization", "")
        if not authorization.startswith("AWS4-HMAC-SHA256 "):
            return False
        key_id = authorization.split("Credential=")[1].split("/")[0]
        secret = self.store.keys.get(key_id)
        if secret is None:
            return False
        signature = authorization.split("Signature=")[1].strip()
        wanted = expected_signature(self.command, path, query, headers, authorization, secret)
        return hmac.compare_digest(signature, wanted)

    def _send_list(self, bucket: str, query: dict[str, str]) -> None:
        prefix, after = query.get("prefix", ""), query.get("continuation-token", "")
        keys = sorted(k for b, k in self.store.objects if b == bucket and k.startswith(prefix))
        keys = [key for key in keys if key > after]
        page, rest = keys[:PAGE], keys[PAGE:]
        entries = "".join(self._entry(bucket, key) for key in page)
        more = f"<NextContinuationToken>{escape(page[-1])}</NextContinuationToken>" if rest else ""
        body = (
            '<?xml version="1.0"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">'
            f"<Name>{bucket}</Name><Prefix>{escape(prefix)}</Prefix><KeyCount>{len(page)}</KeyCount>"
            f"<IsTruncated>{str(bool(rest)).lower()}</IsTruncated>{more}{entries}</ListBucketResult>"
        )
        self._send(200, body.encode(), {"Content-Type": "application/xml"})

    def _entry(self, bucket: str, key: str) -> str:
        stored = self.store.objects[bucket, key]
        when = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(stored.changed))
        milliseconds = int(stored.changed * 1000) % 1000
        return (
            f"<Contents><Key>{escape(key)}</Key><Size>{len(stored.content)}</Size>"
            f"<LastModified>{when}.{milliseconds:03}Z</LastModified>"
            f"<ETag>{escape(stored.etag)}</ETag></Contents>"
        )

    def _send_object(self, bucket: str, key: str) -> None:
        if self.command == "GET" and self.store.before_body is not None:
            self.store.before_body(key)
        stored = self.store.objects.get((bucket, key))
        if stored is None:
            self._refuse(404, "NoSuchKey")
            return
        content, status = stored.content, 200
        headers = {
            "ETag": stored.etag,
            "Last-Modified": formatdate(stored.changed, usegmt=True),
            "Accept-Ranges": "bytes",
        }
        asked = self.headers.get("Range")
        if asked:
            first, last = asked.removeprefix("bytes=").split("-")
            begin, end = int(first), min(int(last or len(content)), len(content) - 1)
            headers["Content-Range"] = f"bytes {begin}-{end}/{len(content)}"
            content, status = content[begin : end + 1], 206
        self._send(status, content, headers)

    def _refuse(self, status: int, code: str) -> None:
        body = f'<?xml version="1.0"?><Error><Code>{code}</Code><Message>{code}</Message></Error>'
        self._send(status, body.encode(), {"Content-Type": "application/xml"})

    def _send(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command == "HEAD":
            return
        if self.store.cut and "ETag" in headers:
            body = body[: len(body) // 2]
            self.close_connection = True
        self.wfile.write(body)
