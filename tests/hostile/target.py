# SPDX-License-Identifier: Apache-2.0
"""A fresh server under attack, and what an attack must not do to it: take memory beyond the stated
bound or without paying for it, keep others waiting, or leave something behind."""

from __future__ import annotations

import http.client
import json
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from hostile.clients import CONSTANT, allow_many_files
from hostile.lines import Head, Http1, Http2, Line, connect
from hostile.tables import ECHO, OPEN_EVERYTHING, VERTEX_AI, add_models
from support import raw_http
from support.infer import echo_document
from support.metrics import metric
from support.nereid import start_nereid
from support.poll import poll_until
from support.process_memory import MIB, peak_resident, resident
from support.server_process import LOOPBACK

KEY = "key-of-the-operator-0123456789"
AUTHORIZED = (("Authorization", f"Bearer {KEY}"),)
LIMIT = 128 * MIB
# The tests end the server before it harms the machine.
MOST_OF_ALL = 3 << 30

# Below this, growth is not compared with the gauge: allocators and stacks move that much.
NOTICEABLE = 64 * MIB
SLACK = 32 * MIB
SLACK_OF_MOMENTS = 64 * MIB  # where the gauge may have been asked just before or after its peak
# What other clients may have to wait: seconds.
PATIENCE = 30.0
IDLE_SECONDS = 30.0


@dataclass(frozen=True)
class Protocol:
    """How a client speaks, and to which port."""

    name: str
    port: str
    version: int
    tls: bool

    @property
    def grpc(self) -> bool:
        return self.name.startswith("grpc")


HTTP1 = [Protocol("http1", "http", 1, False), Protocol("http1-tls", "http", 1, True)]
HTTP2 = [
    Protocol("http2", "http", 2, False),
    Protocol("http2-tls", "http", 2, True),
    Protocol("rest-on-grpc-port", "grpc", 2, False),
    Protocol("rest-on-grpc-port-tls", "grpc", 2, True),
]
GRPC = [Protocol("grpc", "grpc", 2, False), Protocol("grpc-tls", "grpc", 2, True)]


def broke(sentence: str) -> None:
    """Fails with one sentence."""
    pytest.fail(sentence, pytrace=False)


def mib(size: float) -> str:
    return f"{size / MIB:.0f} MiB"


@dataclass(frozen=True)
class Certificates:
    certificate: Path
    key: Path


OWN_PORTS = {
    "tfs_http": ("--tfs-http-port=0",),
    "tfs_grpc": ("--tfs-grpc-port=0",),
    "sagemaker": ("--allow-sagemaker=true", "--sagemaker-port=0"),
    "vertex_ai": (
        "--allow-vertex-ai=true",
        "--vertex-ai-port=0",
        f"--vertex-ai-default-model={ECHO}",
    ),
}
ENVIRONMENT = {**VERTEX_AI, "SAGEMAKER_TRITON_DEFAULT_MODEL_NAME": ECHO}


class Target:
    """The server. `case` begins the sentence of each failure."""

    def __init__(
        self,
        folder: Path,
        case: str,
        certificates: Certificates | None,
        keys: bool,
        limit: int = LIMIT,
        port: str = "http",
    ) -> None:
        """`port`: the one that is attacked, if it is of HTTP or has services of its own."""
        allow_many_files()
        self.case = case
        self._port = port
        self.limit = limit
        self.keys = keys
        self.certificates = certificates
        models = add_models(folder / "models")
        arguments = [f"--max-in-flight-bytes={limit}", "--exit-timeout-secs=1", *OPEN_EVERYTHING]
        if certificates is not None:
            for port in ("http", "grpc"):
                arguments += [
                    f"--{port}-use-ssl=true",
                    f"--{port}-server-cert={certificates.certificate}",
                    f"--{port}-server-key={certificates.key}",
                ]
        if keys:
            key_file = folder / "keys"
            key_file.write_text(f"all {KEY}\n", encoding="ascii")
            key_file.chmod(0o600)
            arguments.append(f"--api-key-file={key_file}")
        arguments += OWN_PORTS.get(self._port, ())
        self.server = start_nereid(models.root, folder / "log", arguments, ENVIRONMENT)
        try:
            poll_until("the server listens", self._listens, 60)
            with GoodClient(self) as good:
                for _ in range(20):
                    good.ask()
        except BaseException:
            self.server.kill()
            raise
        self.at_rest = resident(self.server)

    def _listens(self) -> bool:
        assert self.server.is_alive(), self.server.log_text()[-2000:]
        return "Started Metrics Service" in self.server.log_text()

    @property
    def more(self) -> tuple[tuple[str, str], ...]:
        return AUTHORIZED if self.keys else ()

    def stop(self) -> None:
        self.server.kill()

    # -- connections ---------------------------------------------------------------------------

    def _connect(self, port: str, version: int, receive_buffer: int | None) -> socket.socket:
        context = None
        if self.certificates is not None:
            context = ssl.create_default_context(cafile=str(self.certificates.certificate))
            context.set_alpn_protocols(["h2" if version == 2 else "http/1.1"])
        return connect((LOOPBACK, self.server.port(port)), context, receive_buffer)

    def http1(self, port: str = "http", receive_buffer: int | None = None) -> Http1:
        return Http1(self._connect(port, 1, receive_buffer))

    def http2(self, port: str, window: int | None = None) -> Http2:
        return Http2(self._connect(port, 2, None), window)

    def attacker(
        self, protocol: Protocol, window: int | None = None, receive_buffer: int | None = None
    ) -> Line:
        port = protocol.port if self._port == "http" else self._port
        if protocol.version == 1:
            return self.http1(port, receive_buffer)
        return self.http2(port, window)

    # -- memory --------------------------------------------------------------------------------

    @property
    def bound(self) -> int:
        return self.at_rest + self.limit + CONSTANT

    def gauge(self) -> float:
        return metric(self.server.metrics_url, "nereid_in_flight_bytes")

    def forget_peak(self) -> None:
        Path(f"/proc/{self.server.process.pid}/clear_refs").write_text("5", encoding="ascii")


class GoodClient:
    """Keeps one connection and asks for an inference, which has to be right and in time."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._body = json.dumps(echo_document((3.5, -1.0))).encode()
        head = Head("POST", f"/v2/models/{ECHO}/infer", len(self._body), target.more)
        self._request = head.http1(end=False) + self._body
        self._line = target.http1()

    def __enter__(self) -> GoodClient:
        return self

    def __exit__(self, *_: object) -> None:
        self._line.close()

    def ask(self) -> None:
        line = self._line
        line.forget()
        line.write(self._request)
        began = time.monotonic()
        if not line.pump_until(lambda: b"3.5,-1.0]" in line.received, PATIENCE):
            if line.received:
                answer = line.received.decode(errors="replace")
                broke(f"{self._target.case}: another client's inference got {answer!r}.")
            broke(
                f"{self._target.case}: another client's inference had no answer within "
                f"{time.monotonic() - began:.0f} s."
            )


class Watch:
    """Looks at the server's memory and asks for inferences while an attack runs."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._stop = threading.Event()
        self._failure: BaseException | None = None
        self._most_gauge = 0.0
        self._broken = threading.Event()
        self.slack = SLACK_OF_MOMENTS
        target.forget_peak()
        self.before = resident(target.server)
        self._threads = [
            threading.Thread(target=self._look, daemon=True),
            threading.Thread(target=self._behave, daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def over(self) -> bool:
        """Whether the attack has succeeded, and should spare the machine the rest."""
        return self._broken.is_set()

    def grown(self) -> int:
        return resident(self._target.server) - self.before

    def _look(self) -> None:
        statm = Path(f"/proc/{self._target.server.process.pid}/statm")
        while not self._stop.wait(0.01):
            try:
                now = int(statm.read_text(encoding="ascii").split()[1]) * 4096
            except (OSError, IndexError):
                self._broken.set()
                return
            if now > self._target.bound + SLACK:
                self._broken.set()
            if now > MOST_OF_ALL:
                self._target.server.process.kill()

    def _behave(self) -> None:
        try:
            metrics = raw_http.split_url(self._target.server.metrics_url)
            gauges = http.client.HTTPConnection(*metrics, timeout=PATIENCE)
            with GoodClient(self._target) as good:
                while not self._stop.is_set():
                    gauges.request("GET", "/metrics")
                    self._note_gauge(gauges.getresponse().read().decode())
                    good.ask()
                    self._stop.wait(0.02)
            gauges.close()
        except BaseException as error:  # handed to the test's thread
            self._failure = error

    def _note_gauge(self, text: str) -> None:
        for line in text.splitlines():
            if line.startswith("nereid_in_flight_bytes "):
                self._most_gauge = max(self._most_gauge, float(line.split()[1]))

    def end(self) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join(2 * PATIENCE)

    # -- verdicts ------------------------------------------------------------------------------

    def check_alive(self) -> None:
        target = self._target
        if target.server.is_alive():
            return
        code = target.server.process.wait()
        if code == -9:
            most = mib(MOST_OF_ALL)
            broke(f"{target.case}: memory rose beyond {most}, and the test ended the server.")
        broke(f"{target.case}: the server ended with exit code {code}.")

    def check_peak(self) -> None:
        target = self._target
        peak = peak_resident(target.server)
        if peak > target.bound:
            broke(
                f"{target.case}: resident memory reached {mib(peak)}, {mib(peak - target.bound)} "
                f"beyond the bound of {mib(target.bound)} ({mib(target.at_rest)} at rest, "
                f"{mib(target.limit)} in flight, {mib(CONSTANT)} constant)."
            )

    def _compare(self, grown: int, gauge: float, slack: int, when: str) -> None:
        if grown > NOTICEABLE and grown > 1.2 * gauge + slack:
            broke(
                f"{self._target.case}: {when} memory had grown by {mib(grown)}, "
                f"{mib(grown - 1.2 * gauge - slack)} more than nereid_in_flight_bytes of "
                f"{mib(gauge)}, a fifth of it and {mib(slack)} explain."
            )

    def check_held(self, slack: int = SLACK, freed: int = 0) -> None:
        """For attacks that have come to rest and still hold what they hold: memory and gauge agree,
        and an inference is answered. `freed`: bytes that may be charged yet and held no more."""
        last, still = self.grown(), 0
        deadline = time.monotonic() + 5
        while still < 5 and time.monotonic() < deadline and not self.over():
            time.sleep(0.02)
            now = self.grown()
            still = still + 1 if abs(now - last) < MIB else 0
            last = now
        self.check_alive()
        self.check_peak()
        target = self._target
        gauge = target.gauge()
        # On a busy machine the looks between were few, and may have missed the most.
        self._most_gauge = max(self._most_gauge, gauge)
        self._compare(self.grown(), gauge, slack, "while it was held")
        grown = resident(target.server) - target.at_rest
        if grown > NOTICEABLE and gauge > 1.2 * grown + slack + freed:
            broke(
                f"{target.case}: nereid_in_flight_bytes said {mib(gauge)}, but memory had grown by "
                f"{mib(grown)} only."
            )
        with GoodClient(target) as good:
            good.ask()

    def check_size(self, size: int, most: int, answer: str) -> None:
        """For a body that has to be refused before it is taken."""
        self.check_alive()
        grown = peak_resident(self._target.server) - self.before
        if grown > most:
            broke(
                f"{self._target.case}: memory grew by {mib(grown)}, {mib(grown - most)} beyond "
                f"{mib(most)}, for a body of {mib(size)} that has to be refused before it is taken "
                f"(answer so far: {answer or 'none'})."
            )

    def check_after(self) -> None:
        self.check_alive()
        self.check_peak()
        if self._failure is not None:
            if isinstance(self._failure, pytest.fail.Exception):
                raise self._failure
            broke(f"{self._target.case}: the client that behaves failed: {self._failure!r}.")
        grown = peak_resident(self._target.server) - self.before
        self._compare(grown, self._most_gauge, self.slack, "at its peak")

    def check_given_back(self) -> None:
        target = self._target
        deadline = time.monotonic() + IDLE_SECONDS
        while (left := target.gauge()) > 0:
            if time.monotonic() > deadline:
                broke(
                    f"{target.case}: {IDLE_SECONDS:.0f} s after the attackers had gone, "
                    f"nereid_in_flight_bytes was {mib(left)} ({left:.0f} bytes) instead of 0."
                )
            self.check_alive()
            time.sleep(0.01)
        with GoodClient(target) as good:
            good.ask()


@contextmanager
def attack(target: Target) -> Iterator[tuple[Watch, ExitStack]]:
    """Around an attack. Connections of the attackers belong into the stack."""
    watch = Watch(target)
    try:
        with ExitStack() as lines:
            yield watch, lines
            watch.end()
            watch.check_after()
    finally:
        watch.end()
    watch.check_given_back()


TargetFactory = Callable[..., Target]
