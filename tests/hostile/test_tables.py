# SPDX-License-Identifier: Apache-2.0
"""Every route and every gRPC method under attack, whoever wrote it: none may cost more memory than
docs/operate/limits.md says, take it unpaid, take a body that it has no use for, or keep others
waiting. The rows come from the server itself, see tables.py.

Each row meets each attack over one kind of connection, chosen by the row;
NEREID_HOSTILE_SECONDS=60 gives the long form: over all of them. `make test` alone runs a third of
the pairs of row and attack, the same each time."""

from __future__ import annotations

import json
import os
import struct
import threading
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

import pytest

from hostile.bombs import UNKNOWN, bomb_names, make_bomb, many_tokens
from hostile.lines import Body, Head, Http1, Line
from hostile.tables import Method, Route, tables
from hostile.target import (
    AUTHORIZED,
    GRPC,
    HTTP1,
    HTTP2,
    LIMIT,
    SLACK,
    Certificates,
    Protocol,
    Target,
    Watch,
    attack,
    broke,
    mib,
)
from support.certificates import make_certificate
from support.infer import echo_document
from support.process_memory import MIB

LONG = float(os.environ.get("NEREID_HOSTILE_SECONDS", "5")) >= 60

LARGE = 80 * MIB  # less than the three quarters of LIMIT that one request may take
SMALL = MIB - 4096  # less than what every route takes
MANY_SMALL = 80
TOO_LARGE = 90 * MIB  # for a route that does not take large bodies
NEVER_ENDING = 256 * MIB
# What a body that is refused may cost all the same: sockets' buffers, and a first step of memory.
MOST_FOR_A_REFUSAL = 32 * MIB

FIELD_BYTES = 3800  # of a header that fits into HPACK's table
REFERENCES = 15  # to it, so that a head has 57,000 of the 65,536 bytes that it may have
FIELD = b"\x40\x01x" + b"\x7f\xd9\x1c" + b"y" * FIELD_BYTES  # into the table, at index 62
AGAIN = b"\xbe"
UNFINISHED_HEADS = 1500
UNFINISHED_BYTES = 63 << 10
BYTES_PER_CONNECTION = 12 << 10
BYTES_PER_TLS_CONNECTION = 28 << 10

TOKENS = 50 * MIB
FIELDS = 24 * MIB
# For the attacks on the loops: as much as --http-max-input-size allows, on a server that has the
# memory for it.
ROOMY = 1792 * MIB
LONG_TEXT = 60 * MIB
LONG_MESSAGE = 60 * MIB
LONGEST_WAIT = 2.0
LEAST_WAIT = 0.75

REST = [*HTTP1, *HTTP2]

Row = Route | Method


@dataclass(frozen=True)
class Case:
    attack: str
    protocol: Protocol
    row: Row | None = None  # none: all of them
    bomb: str = ""
    keys: bool = False
    limit: int = LIMIT

    @property
    def what(self) -> str:
        return " ".join(word for word in (self.attack, self.bomb) if word)

    @property
    def id(self) -> str:
        row = "all" if self.row is None else self.row.name
        return f"{self.protocol.name}-{self.what}-{row}"

    @property
    def sentence(self) -> str:
        row = "all rows" if self.row is None else self.row.name
        return f"{row} over {self.protocol.name}, {self.what.replace('-', ' ')}"

    # -- the row's requests --------------------------------------------------------------------

    def head(self, size: int | None = None, more: Sequence[tuple[str, str]] = ()) -> Head:
        """`size` bytes of content are announced."""
        assert self.row is not None
        if isinstance(self.row, Method):
            return Head("POST", self.row.path, None, tuple(more), grpc=True)
        return Head(self.row.method, self.row.path, size, tuple(more))

    def prefix(self, size: int) -> bytes:
        """What comes before the content of a body."""
        return struct.pack(">BI", 0, size) if isinstance(self.row, Method) else b""

    def small_body(self) -> bytes:
        """Of a request with the row's usual answer."""
        if isinstance(self.row, Method):
            content = self.row.small_request()
            return self.prefix(len(content)) + content
        assert self.row is not None
        if self.row.schema == "InferRequest":
            return json.dumps(echo_document((1.0,) * 100)).encode()
        return b"{}" if self.row.method == "POST" else b""

    def is_refusal(self, answer: str) -> bool:
        """Whether it is an answer to a request with a body that its row has no use for. Those that
        only read may be answered, without their body."""
        if isinstance(self.row, Route) and self.row.method == "GET":
            return answer.isdigit() and answer != "100"
        if isinstance(self.row, Method):
            if answer == "message":  # a stream refuses one of its requests in a message
                return self.row.client_streams
            return answer.startswith("grpc-") and answer != "grpc-0"
        return answer.isdigit() and (answer.startswith("4") or answer == "503")


def choose(kind: str, row: Row, protocols: Sequence[Protocol]) -> Sequence[Protocol]:
    """The same for a row in every run, whatever other rows there are."""
    if isinstance(row, Route) and row.port != "http":  # has neither TLS nor a twin for gRPC
        protocols = [one for one in protocols if one.port == "http" and not one.tls]
        if row.port == "metrics":  # nor HTTP/2
            protocols = [one for one in protocols if one.version == 1]
    if LONG or not protocols:
        return protocols
    return [protocols[zlib.crc32(f"{kind} {row.name}".encode()) % len(protocols)]]


def marks(case: Case) -> Sequence[pytest.MarkDecorator]:
    return [pytest.mark.thorough] if zlib.crc32(case.id.encode()) % 3 else []


def walk(kind: str, *given: Sequence[Case]) -> pytest.MarkDecorator:
    cases = [case for several in given for case in several]
    params = [pytest.param(case, id=case.id, marks=marks(case)) for case in cases]
    if tables().failure:
        params = [pytest.param(Case(kind, HTTP1[0]), id=f"{kind}-no-tables")]
    return pytest.mark.parametrize("case", params)


def routes(
    kind: str,
    protocols: Sequence[Protocol],
    rows: Sequence[Route] = tables().routes,
    keys: bool = False,
    limit: int = LIMIT,
) -> list[Case]:
    return [
        Case(kind, protocol, row, keys=keys, limit=limit)
        for row in rows
        for protocol in choose(kind, row, protocols)
    ]


def methods(kind: str, rows: Sequence[Method] = tables().methods, keys: bool = False) -> list[Case]:
    return [
        Case(kind, protocol, row, keys=keys) for row in rows for protocol in choose(kind, row, GRPC)
    ]


SMALL_ROUTES = [row for row in tables().routes if not row.takes_large]
SMALL_METHODS = [row for row in tables().methods if not row.takes_large]
JSON_ROUTES = [row for row in tables().routes if row.schema]
KEYED_ROUTES = [row for row in tables().routes if row.port != "metrics"]
GETS = [row for row in tables().routes if row.method == "GET"]


@pytest.fixture(scope="session")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return Certificates(*make_certificate(tmp_path_factory.mktemp("certificates")))


@pytest.fixture
def target(
    request: pytest.FixtureRequest, case: Case, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Target]:
    """A server for this case alone, so that its memory is the attack's."""
    if tables().failure:
        broke(tables().failure)
    certificates = request.getfixturevalue("certificates") if case.protocol.tls else None
    folder = tmp_path_factory.mktemp("target")
    port = "http" if case.row is None else case.row.port
    server = Target(folder, case.sentence, certificates, case.keys, case.limit, port)
    try:
        yield server
    finally:
        server.stop()


# -- heads -----------------------------------------------------------------------------------------


@walk("heads", routes("heads", HTTP2), methods("heads"))
def test_heads_of_references(target: Target, case: Case) -> None:
    """A byte of HPACK stands for a field of the table: each of the streams that a connection may
    have gets a head of the largest size, for 130 bytes on the wire."""
    start = case.head().http2()
    with attack(target) as (watch, lines):
        for _ in range(4 if LONG else 1):
            line = lines.enter_context(target.attacker(case.protocol))
            line.begin_block(start + FIELD + AGAIN * (REFERENCES - 1))
            block = start + AGAIN * REFERENCES
            while line.unanswered < line.most_streams - 100 and len(line.streams) < 2 * 4096:
                if watch.over() or line.closed or line.goaway:
                    break
                for _ in range(100):
                    line.begin_block(block)
                line.flush(watch.over)
                line.pump()
        # A request without a body is answered at once: its head is gone, and is paid for until its
        # stream ends. One with a body keeps its head.
        answered = case.head().method != "POST"
        watch.check_held(freed=target.limit if answered else 0)


@walk("heads", [Case("unfinished-heads", protocol) for protocol in HTTP1])
def test_heads_that_do_not_end(target: Target, case: Case) -> None:
    """Many connections of HTTP/1.1, each with all of a head but its end. Which row it asks for
    nobody knows yet: each connection names another one."""
    rows = [row for row in tables().routes if row.port == "http"]
    buffers = BYTES_PER_TLS_CONNECTION if case.protocol.tls else BYTES_PER_CONNECTION
    with attack(target) as (watch, lines):
        for number in range(UNFINISHED_HEADS):
            if watch.over():
                break
            row = rows[number % len(rows)]
            head = Head(row.method, row.path).http1(end=True)[:-2] + b"x: "
            line = lines.enter_context(target.attacker(case.protocol))
            line.write(head + b"y" * (UNFINISHED_BYTES - len(head)))
            line.flush(watch.over)
        watch.slack += UNFINISHED_HEADS * buffers
        watch.check_held(SLACK + UNFINISHED_HEADS * buffers)


# -- bodies ----------------------------------------------------------------------------------------


def begin_many(
    target: Target, case: Case, watch: Watch, lines: ExitStack, count: int, size: int, first: int
) -> list[tuple[Line, int]]:
    """Begins `count` requests, each of which announces `size` bytes of content and sends `first` of
    them."""
    begun: list[tuple[Line, int]] = []
    per_line = 1 if case.protocol.version == 1 else 40
    prefix = case.prefix(size)
    for number in range(count):
        if watch.over():
            break
        if number % per_line == 0:
            line = lines.enter_context(target.attacker(case.protocol))
        request = line.begin(case.head(size))
        begun.append((line, request))
        line.feed(request, prefix + bytes(first), watch.over)
    return begun


@walk("withheld", routes("withheld", REST), methods("withheld"))
def test_bodies_without_their_last_byte(target: Target, case: Case) -> None:
    """One large one, or many as large as every route takes."""
    assert case.row is not None
    large = case.row.takes_large
    size, count = (LARGE, 1) if large else (SMALL, MANY_SMALL)
    with attack(target) as (watch, lines):
        begin_many(target, case, watch, lines, count, size, size - 1)
        watch.check_held()


@walk("dripping", routes("dripping", REST), methods("dripping"))
def test_bodies_that_drip(target: Target, case: Case) -> None:
    assert case.row is not None
    size = LARGE if case.row.takes_large else SMALL
    with attack(target) as (watch, lines):
        begun = begin_many(target, case, watch, lines, 80, size, 64 << 10)
        for _ in range(3):
            for line, request in begun:
                if not line.answer_of(request):
                    line.feed(request, 1)
        watch.check_held()


@walk("endless", routes("endless", REST), methods("endless"))
def test_bodies_that_never_end(target: Target, case: Case) -> None:
    """Without an announcement of their length, or as messages of two gigabytes: refused as soon as
    there is too much."""
    assert case.row is not None
    with attack(target) as (watch, lines):
        line = lines.enter_context(target.attacker(case.protocol))
        request = line.begin(case.head())
        if prefix := case.prefix((1 << 31) - 1):
            line.feed(request, prefix)
        line.feed(request, NEVER_ENDING, watch.over)
        watch.check_peak()
        check_refusal(watch, case, line, request, NEVER_ENDING)


@walk(
    "too-large",
    routes("too-large", REST, SMALL_ROUTES),
    methods("too-large", SMALL_METHODS),
)
def test_bodies_beyond_what_the_row_takes(target: Target, case: Case) -> None:
    """Refused at the head, or at the length of the message."""
    with attack(target) as (watch, lines):
        line = lines.enter_context(target.attacker(case.protocol))
        request = line.begin(case.head(TOO_LARGE))
        line.feed(request, case.prefix(TOO_LARGE) + bytes(TOO_LARGE - 1), watch.over)
        check_refusal(watch, case, line, request, TOO_LARGE)


def check_refusal(watch: Watch, case: Case, line: Line, request: int, size: int) -> None:
    assert case.row is not None
    most = LIMIT + MOST_FOR_A_REFUSAL if case.row.takes_large else MOST_FOR_A_REFUSAL
    watch.check_size(size, most, line.answer_of(request))
    answer = line.wait_answer(request, 10)
    if not case.is_refusal(answer):
        broke(f"{case.sentence}: a body of {mib(size)} got {answer or 'no answer'}, not a refusal.")


# -- what is dear to read --------------------------------------------------------------------------


@walk(
    "many-tokens",
    routes("many-tokens", REST, JSON_ROUTES),
)
def test_json_of_many_tokens(target: Target, case: Case) -> None:
    send_and_wait(target, case, many_tokens(TOKENS))


@walk(
    "many-fields",
    [
        Case("many-fields", protocol, row, bomb)
        for row in tables().methods
        for bomb in bomb_names(row.request)
        for protocol in choose(f"many-fields {bomb}", row, GRPC)
    ],
)
def test_messages_of_many_fields(target: Target, case: Case) -> None:
    assert isinstance(case.row, Method)
    send_and_wait(target, case, make_bomb(case.row.request, case.bomb, FIELDS))


def send_and_wait(target: Target, case: Case, content: bytes) -> None:
    with attack(target) as (watch, lines):
        line = lines.enter_context(target.attacker(case.protocol))
        send(case, line, watch, content)


def send(case: Case, line: Line, watch: Watch, content: bytes) -> None:
    """A whole request, and waits for its answer."""
    request = line.begin(case.head(len(content)))
    line.feed(request, case.prefix(len(content)) + content, watch.over, end=True)
    answer = line.wait_answer(request, 60, watch.over)
    if not answer and not watch.over():
        broke(f"{case.sentence}: {mib(len(content))} had no answer within 60 s.")


# -- answers that nobody reads ---------------------------------------------------------------------


@walk("unread", routes("unread", HTTP2), methods("unread"))
def test_answers_that_find_a_closed_window(target: Target, case: Case) -> None:
    body = case.small_body()
    with attack(target) as (watch, lines):
        for _ in range(4 if LONG else 1):
            line = lines.enter_context(target.attacker(case.protocol, window=0))
            while len(line.streams) < line.most_streams - 100:
                if watch.over() or line.closed or line.goaway:
                    break
                for _ in range(100):
                    request = line.begin(case.head(len(body) if body else None), end=not body)
                    if body:
                        line.feed(request, body, watch.over, end=True)
                line.flush(watch.over)
                line.pump()
        watch.check_held()


@walk("unread", routes("unread", HTTP1, GETS))
def test_pipelined_answers_that_nobody_reads(target: Target, case: Case) -> None:
    count = 50 if case.protocol.tls and not LONG else 200
    with attack(target) as (watch, lines):
        for _ in range(count):
            line = lines.enter_context(target.attacker(case.protocol, receive_buffer=4096))
            line.write(case.head().http1(end=True) * 50)
            line.write_without_reading()
        watch.check_held(SLACK + count * BYTES_PER_TLS_CONNECTION)


# -- without a key ---------------------------------------------------------------------------------


@walk(
    "without-a-key",
    routes("without-a-key", REST, KEYED_ROUTES, keys=True),
    methods("without-a-key", keys=True),
)
def test_bodies_without_a_key(target: Target, case: Case) -> None:
    """Are refused before they are taken."""
    wanted = "grpc-16" if isinstance(case.row, Method) else "401"
    with attack(target) as (watch, lines):
        line = lines.enter_context(target.attacker(case.protocol))
        request = line.begin(case.head(TOO_LARGE))
        line.feed(request, case.prefix(TOO_LARGE) + bytes(TOO_LARGE - 1), watch.over)
        watch.check_size(TOO_LARGE, MOST_FOR_A_REFUSAL, line.answer_of(request))
        answer = line.wait_answer(request, 10)
        if answer != wanted:
            broke(f"{case.sentence}: the client got {answer or 'no answer'}, not {wanted}.")


@walk("expect-without-a-key", routes("expect-without-a-key", HTTP1, KEYED_ROUTES, keys=True))
def test_expectations_without_a_key(target: Target, case: Case) -> None:
    check_expectation(target, case, SMALL, (), lambda answer: answer == "401")


@walk("expect-too-much", routes("expect-too-much", HTTP1, SMALL_ROUTES, keys=True))
def test_expectations_beyond_what_the_row_takes(target: Target, case: Case) -> None:
    check_expectation(target, case, TOO_LARGE, AUTHORIZED, case.is_refusal)


def check_expectation(
    target: Target,
    case: Case,
    size: int,
    more: Sequence[tuple[str, str]],
    wanted: Callable[[str], bool],
) -> None:
    with attack(target) as (_, lines):
        line = lines.enter_context(target.attacker(case.protocol))
        request = line.begin(case.head(size, [*more, ("Expect", "100-continue")]))
        answer = line.wait_answer(request, 10)
        if not wanted(answer):
            broke(
                f"{case.sentence}: the question whether {size} bytes are welcome got "
                f"{answer or 'no answer'}, not a refusal."
            )


NOWHERE = [Route("POST", "/nope"), Route("GET", "/nope"), Route("POST", "/v2/models/echo/nope")]
MISUSED = [
    Route("POST" if row.method == "GET" else "GET", row.pattern)
    for row in tables().routes
    if row.port == "http"
    and not {("POST", row.pattern), ("GET", row.pattern)}
    <= {(one.method, one.pattern) for one in tables().routes}
]


@walk(
    "no-such-route",
    routes("no-such-route", HTTP1, NOWHERE),
    routes("no-such-route", HTTP2, NOWHERE),
    routes("wrong-method", REST, MISUSED),
)
def test_bodies_that_nobody_wants(target: Target, case: Case) -> None:
    """404 or 405, before the body is taken."""
    wanted = "404" if case.attack == "no-such-route" else "405"
    with attack(target) as (watch, lines):
        line = lines.enter_context(target.attacker(case.protocol))
        request = line.begin(case.head(TOO_LARGE))
        line.feed(request, TOO_LARGE - 1, watch.over)
        watch.check_size(TOO_LARGE, MOST_FOR_A_REFUSAL, line.answer_of(request))
        answer = line.wait_answer(request, 10)
        if answer not in (wanted, "413"):
            broke(f"{case.sentence}: the client got {answer or 'no answer'}, not {wanted}.")


# -- others meanwhile ------------------------------------------------------------------------------


LIVE = Head("GET", "/v2/health/live").http1(end=True)
CALL_LIVE = Head("POST", "/inference.GRPCInferenceService/ServerLive", grpc=True)


class Probes:
    """Ten connections to a port, so that there is one on each of its loops, that ask again and
    again whether the server lives, and note what the worst of them had to wait."""

    def __init__(self, target: Target, port: str) -> None:
        self.port = port
        self.worst = 0.0
        self._lines = [target.http1() if port == "http" else target.http2(port) for _ in range(10)]
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Probes:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join(60)
        for line in self._lines:
            line.close()

    def _run(self) -> None:
        while not self._stop.wait(0.05):
            began = time.monotonic()
            asked = [(line, self._ask(line)) for line in self._lines]
            answered = all([line.wait_answer(request, 30) for line, request in asked])
            self.worst = max(self.worst, time.monotonic() - began if answered else 30.0)

    def _ask(self, line: Line) -> int:
        if isinstance(line, Http1):
            line.forget()
            line.write(LIVE)
            line.flush()
            return 0
        request = line.begin(CALL_LIVE)
        line.feed(request, bytes(5), end=True)
        return request


def with_own_handlers(rows: Sequence[Route]) -> list[Route]:
    """In the short form neither the paths with a version nor those of the cloud platforms, which
    hand requests on."""
    return [row for row in rows if LONG or ("{version}" not in row.pattern and row.port == "http")]


@walk(
    "others-meanwhile",
    routes("others-meanwhile", REST, with_own_handlers(JSON_ROUTES), limit=ROOMY),
    [
        Case("others-meanwhile", protocol, row, UNKNOWN, limit=ROOMY)
        for row in tables().methods
        for protocol in choose("others-meanwhile", row, GRPC)
    ],
)
def test_others_are_answered_meanwhile(target: Target, case: Case) -> None:
    """While a long text or message is read, no connection has to wait for it."""
    content: Body
    if isinstance(case.row, Method):
        content = make_bomb(case.row.request, UNKNOWN, LONG_MESSAGE)
    else:
        content = many_tokens(LONG_TEXT)
    with attack(target) as (watch, lines):
        with Probes(target, "http") as http, Probes(target, "grpc") as grpc:
            line = lines.enter_context(target.attacker(case.protocol))
            send(case, line, watch, content)
        check_waits(case, http, grpc)
        check_waits(case, grpc, http)


def check_waits(case: Case, one: Probes, other: Probes) -> None:
    """The other port tells a server that is held up from a machine that has much to do."""
    held_up = one.worst > LEAST_WAIT and one.worst > 5 * other.worst
    if one.worst > LONGEST_WAIT or held_up:
        broke(
            f"{case.sentence}: meanwhile clients of the port for {one.port} had to wait up to "
            f"{one.worst:.2f} s to hear that the server lives (at most {LONGEST_WAIT:.0f} s, "
            f"{LEAST_WAIT} s if the other port answers sooner; that one took {other.worst:.2f} s)."
        )
