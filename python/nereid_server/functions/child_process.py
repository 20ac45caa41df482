# SPDX-License-Identifier: Apache-2.0
"""The server as a process of this program, with which it ends."""

from __future__ import annotations

import atexit
import collections
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence

from .errors import ServingError

_STARTED = {
    "http": re.compile(r"Started HTTPService at \S*?:(\d+)"),
    "grpc": re.compile(r"Started GRPCInferenceService at \S*?:(\d+)"),
    "metrics": re.compile(r"Started Metrics Service at \S*?:(\d+)"),
}
_LINES_KEPT = 20

# Asks the kernel to end the server with this program, however that ends, and becomes the server. The signal
# comes when the thread that has started the process ends, so only the main thread asks for it. Another
# process stays behind and removes the repository when the server and all that it has started have ended,
# which is when nobody has the other end of the pipe any more.
_BECOME = """
import ctypes, os, shutil, sys
if ctypes.CDLL(None, use_errno=True).prctl(1, 15, 0, 0, 0) or os.getppid() != int(sys.argv[1]):
    sys.exit(1)
end, other = os.pipe()
if os.fork() == 0:
    os.setsid()
    nothing = os.open(os.devnull, os.O_RDWR)
    for standard in range(3):
        os.dup2(nothing, standard)
    os.close(other)
    os.read(end, 1)
    shutil.rmtree(sys.argv[2], ignore_errors=True)
    os._exit(0)
os.close(end)
os.set_inheritable(other, True)
os.execv(sys.argv[3], sys.argv[3:])
"""


class ChildProcess:
    """A running server, whose output goes to sys.stderr. Thread-safe."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], folder: str) -> None:
        """`folder` is removed if the program ends without having done so."""
        if threading.current_thread() is threading.main_thread():
            command = [sys.executable, "-I", "-S", "-c", _BECOME, str(os.getpid()), folder, *command]
        self._owner = os.getpid()
        # A session of its own: Ctrl-C reaches this program only, which hands it on.
        self._process = subprocess.Popen(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        self._changed = threading.Condition()
        self._ports: dict[str, int] = {}  # guarded by _changed, as is the rest
        self._last: collections.deque[str] = collections.deque(maxlen=_LINES_KEPT)
        self._silent = False  # the output has ended
        self._reader = threading.Thread(target=self._read, name="nereid-output", daemon=True)
        self._reader.start()
        atexit.register(self.stop)

    def wait_for_ports(self, services: Sequence[str]) -> dict[str, int]:
        """Waits until the server has opened the ports of these services, which it does when its models serve.
        ServingError if it ends before."""
        with self._changed:
            self._changed.wait_for(lambda: self._silent or all(name in self._ports for name in services))
            if not self._silent:
                return dict(self._ports)
        self._process.wait()
        raise ServingError(f"the server did not start: {self.last_words()}")

    def last_words(self) -> str:
        """The exit status, and the last errors of the output, or its last lines."""
        status = self._process.poll()
        with self._changed:
            errors = [line for line in self._last if line.startswith("E")] or list(self._last)
        return "\n".join([f"its exit status is {status}", *errors])

    def wait(self) -> int:
        """Returns the exit status, negative for a signal."""
        status = self._process.wait()
        self._reader.join()
        return status

    def send_signal(self, number: int) -> None:
        self._process.send_signal(number)

    def stop(self, seconds: float = 5.0) -> None:
        """SIGTERM, and SIGKILL if the server has not ended after `seconds`."""
        atexit.unregister(self.stop)
        if os.getpid() != self._owner:  # a fork of this program ends
            return
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._reader.join()

    def _read(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as output:
            for raw in output:
                line = raw.decode("utf-8", "replace")
                self._note(line.rstrip("\n"))
                _show(line)
        with self._changed:
            self._silent = True
            self._changed.notify_all()

    def _note(self, line: str) -> None:
        with self._changed:
            self._last.append(line)
            for service, pattern in _STARTED.items():
                if match := pattern.search(line):
                    self._ports[service] = int(match.group(1))
                    self._changed.notify_all()


def _show(line: str) -> None:
    try:
        sys.stderr.write(line)
        sys.stderr.flush()
    except (OSError, ValueError):  # nobody reads any more
        pass
