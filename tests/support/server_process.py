# SPDX-License-Identifier: Apache-2.0
"""One running server (ours or Triton): start, find its ports, wait, read its log, stop.

The server writes to two files, one for stdout and one for stderr, so that nothing blocks on a pipe
and a failed test can show the server's output.
"""

from __future__ import annotations

import http.client
import os
import re
import signal
import subprocess
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from support.poll import poll_until

LOOPBACK = "127.0.0.1"
START_SECONDS = 60.0
STOP_SECONDS = 45.0

_STARTED = {
    "http": re.compile(r"Started HTTPService at \S*?:(\d+)"),
    "grpc": re.compile(r"Started GRPCInferenceService at \S*?:(\d+)"),
    "sagemaker": re.compile(r"Started Sagemaker HTTPService at \S*?:(\d+)"),
    "vertex_ai": re.compile(r"Started Vertex AI HTTPService at \S*?:(\d+)"),
    "tfs_http": re.compile(r"Started TensorFlow Serving HTTPService at \S*?:(\d+)"),
    "tfs_grpc": re.compile(r"Started TensorFlow Serving GRPCService at \S*?:(\d+)"),
    "metrics": re.compile(r"Started Metrics Service at \S*?:(\d+)"),
}


class ServerProcess:
    """A server process on loopback. Not thread-safe; the test that started it owns it."""

    def __init__(
        self,
        command: Sequence[str | Path],
        log_directory: Path,
        env: Mapping[str, str] | None = None,
    ) -> None:
        """Starts `command` at once. `env`: variables added to this process's environment."""
        log_directory.mkdir(parents=True, exist_ok=True)
        self.stdout_path = log_directory / "stdout.log"
        self.stderr_path = log_directory / "stderr.log"
        self.command = [str(word) for word in command]
        with self.stdout_path.open("wb") as out, self.stderr_path.open("wb") as err:
            self.process = subprocess.Popen(
                self.command,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                env={**os.environ, **(env or {})},
                start_new_session=True,
            )

    # -- the server's output -------------------------------------------------------------------

    def stdout_text(self) -> str:
        return self.stdout_path.read_text(encoding="utf-8", errors="replace")

    def stderr_text(self) -> str:
        return self.stderr_path.read_text(encoding="utf-8", errors="replace")

    def log_text(self) -> str:
        """Everything the server has written so far: stdout, then stderr."""
        return self.stdout_text() + self.stderr_text()

    def wait_for_log(self, text: str, seconds: float = 20.0) -> None:
        """Waits until the server has written `text`: a thread of its own writes the log, so a line may
        come after the answer that it is about."""
        what = f"{text!r} in the log"
        poll_until(what, lambda: text in self.log_text(), seconds, self._last_words)

    def _last_words(self) -> str:
        return f"command: {' '.join(self.command)}\nlog:\n{self.log_text()[-4000:]}"

    # -- ports ---------------------------------------------------------------------------------

    def port(self, service: str) -> int:
        """The port the server printed for `service` ('http', 'grpc', 'metrics', ...)."""

        def printed() -> int | None:
            match = _STARTED[service].search(self.log_text())
            if match:
                return int(match.group(1))
            self._require_alive(f"before it printed its {service} port")
            return None

        port = poll_until(f"the {service} port", printed, START_SECONDS, self._last_words)
        assert port is not None
        return port

    @property
    def http_url(self) -> str:
        """host:port, the form that the official clients take."""
        return f"{LOOPBACK}:{self.port('http')}"

    @property
    def grpc_url(self) -> str:
        return f"{LOOPBACK}:{self.port('grpc')}"

    @property
    def metrics_url(self) -> str:
        return f"{LOOPBACK}:{self.port('metrics')}"

    # -- life ----------------------------------------------------------------------------------

    def is_alive(self) -> bool:
        return self.process.poll() is None

    def _require_alive(self, when: str) -> None:
        if not self.is_alive():
            raise AssertionError(
                f"the server ended with exit code {self.process.returncode} {when}\n"
                f"{self._last_words()}"
            )

    def wait_for(self, path: str = "/v2/health/ready", seconds: float = START_SECONDS) -> None:
        """Waits until GET `path` on the HTTP port answers 200."""
        port = self.port("http")

        def answers() -> bool:
            self._require_alive(f"while waiting for {path}")
            connection = http.client.HTTPConnection(LOOPBACK, port, timeout=5)
            try:
                connection.request("GET", path)
                return connection.getresponse().status == 200
            except OSError:
                return False
            finally:
                connection.close()

        poll_until(f"200 from {path}", answers, seconds, self._last_words)

    def send_signal(self, number: int) -> None:
        self.process.send_signal(number)

    def wait_exit(self, seconds: float = STOP_SECONDS) -> int:
        """Waits for the process to end by itself; returns its exit code."""
        try:
            return self.process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            raise AssertionError(
                f"the server did not end within {seconds} s\n{self._last_words()}"
            ) from None

    def stop(self, expected_exit_code: int = 0) -> None:
        """SIGTERM, wait, and check the exit code. A hung server is killed and fails the test."""
        if not self.is_alive():
            return
        self.send_signal(signal.SIGTERM)
        try:
            code = self.wait_exit()
        except AssertionError:
            self.kill()
            raise
        assert code == expected_exit_code, (
            f"exit code {code} after SIGTERM, expected {expected_exit_code}\n{self._last_words()}"
        )

    def kill(self) -> None:
        """Kills the process; for tests that do not check how the server ends."""
        if self.is_alive():
            self.process.kill()
        self.process.wait(timeout=STOP_SECONDS)


@contextmanager
def ready(servers: Collection[ServerProcess]) -> Iterator[None]:
    """Waits for servers that were started together, and stops all of them at the end."""
    try:
        for server in servers:
            server.wait_for()
        yield
    finally:
        for server in servers:
            server.stop()
