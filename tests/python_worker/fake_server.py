# SPDX-License-Identifier: Apache-2.0
"""A fake server for one process of a Python model: the server's side of the shared memory, in
Python.

It handles one call at a time, in the test's thread, and records everything that it receives. The
layout of the control file is that of backends/python/ipc/control.h.
"""

from __future__ import annotations

import ctypes
import fcntl
import mmap
import os
import platform
import select
import signal
import socket
import struct
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .values import PLACE, Decoder, WireTensor, encode

INITIALIZE, AUTO_COMPLETE, EXECUTE, FINALIZE, READY, EXECUTE_EACH, TRIM = range(1, 8)
SEND, CLOSED, LOG, STREAM_CLOSE, METRIC_FAMILY_DELETE, METRIC_DELETE, STREAM_CANCEL = range(1, 8)
IS_CANCELLED, INFER, STREAM_NEXT, LOAD_MODEL, UNLOAD_MODEL, IS_MODEL_READY = range(16, 22)
METRIC_FAMILY_NEW, METRIC_NEW, METRIC_INCREMENT, METRIC_SET, METRIC_OBSERVE, METRIC_VALUE = range(
    22, 28
)
CALL, POST, FREE, REPLIED = range(1, 5)

MAGIC = 0x4E505933
IN_SIZE = 64 << 20
ENTRIES, SLOTS = 1024, 256
COMMAND, TURN, WANTS_REPLIED, MESSAGE, REPLY, TIMES, LOG_LEVELS = 4, 8, 12, 16, 32, 48, 64
SOLE_REPLY, KEEP_REPLY, HELD = 68, 72, 76
MAPS_INPUTS, INPUTS_TAKEN = 108, 112
WRITTEN, SLEEPING, READ, WRITER_SLEEPS, ENTRY = 128, 132, 192, 196, 256
ENTRY_SIZE = 24
SLOT = ENTRY + ENTRIES * ENTRY_SIZE
SLOT_SIZE, INLINE = 248, 216
PART_COUNT = SLOT + SLOTS * SLOT_SIZE
PARTS_REPLIED, PART = PART_COUNT + 4, PART_COUNT + 8
PART_SIZE, MOST_PARTS = 32, 16
CREDIT_RETURNS = (PART + MOST_PARTS * PART_SIZE + 63) // 64 * 64
CREDIT_USED, WITHOUT_CREDIT, MOST_WITHOUT_CREDIT = CREDIT_RETURNS + 4, CREDIT_RETURNS + 8, 1024
CONTROL_SIZE = (WITHOUT_CREDIT + MOST_WITHOUT_CREDIT * 8 + 4095) // 4096 * 4096

PATIENCE = 30.0
LATER = object()  # returned by a handler that does not answer yet

_libc = ctypes.CDLL(None, use_errno=True)
_FUTEX = {"x86_64": 202, "aarch64": 98}[platform.machine()]


class ServerError(Exception):
    """Raised by a handler to answer the call with an error."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.answer = (code + 1, text)


class WorkerDied(Exception):
    pass


class FakeServer:
    def __init__(self, python: str, runtime: Path, log: Path, title: str = "model_0_0") -> None:
        self.control_fd = os.memfd_create("control")
        self.in_fd = os.memfd_create("in")
        self.out_fd = os.memfd_create("out")
        self.doorbell = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        self.files, self.files_process = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.files_sent = 0
        os.ftruncate(self.control_fd, CONTROL_SIZE)
        os.posix_fallocate(self.in_fd, 0, IN_SIZE)
        self.control = mmap.mmap(self.control_fd, CONTROL_SIZE)
        self.in_file = mmap.mmap(self.in_fd, IN_SIZE)
        self.address = ctypes.addressof(ctypes.c_char.from_buffer(self.control))
        self.in_end = 64  # not 0, which could not be told from an offset that was never set
        self.posts: list[tuple] = []
        self.freed: list[int] = []
        self.calls: list[tuple[int, tuple]] = []  # slot, arguments
        self.handlers: dict[int, Callable[..., Any]] = {}
        self.replied = False
        self.log = log
        self.status: int | None = None
        self._put("I", 0, MAGIC)
        self._put("I", LOG_LEVELS, 7)
        self._put("I", SLEEPING, 1)
        self.pid = self._spawn([python, str(runtime / "worker_main.py"), str(os.getpid()), title])

    def _spawn(self, command: list[str]) -> int:
        files = self.files_process.fileno()
        shared = (self.control_fd, self.in_fd, self.out_fd, self.doorbell, files)
        high = [fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 100) for fd in shared]
        with self.log.open("wb") as log, open(os.devnull, "rb") as nothing:
            actions: list[tuple] = [(os.POSIX_SPAWN_DUP2, fd, 3 + i) for i, fd in enumerate(high)]
            actions.append((os.POSIX_SPAWN_DUP2, nothing.fileno(), 0))
            actions += [(os.POSIX_SPAWN_DUP2, log.fileno(), fd) for fd in (1, 2)]
            environment = {**os.environ, "PYTHONUNBUFFERED": "1", "PYTHONDONTWRITEBYTECODE": "1"}
            pid = os.posix_spawn(command[0], command, environment, file_actions=actions)
        for fd in high:
            os.close(fd)
        return pid

    # --- Commands.

    def command(self, number: int, value: Any, patience: float = PATIENCE) -> Any:
        """Sends a command and returns the reply; handles calls meanwhile."""
        self.start_command(number, value)
        return self.finish_command(patience)

    def start_command(self, number: int, value: Any) -> None:
        self.start_raw_command(number, encode(value, self._place))

    def start_raw_command(self, number: int, message: bytes) -> None:
        offset = self.place(message)
        self.replied = False
        self._put("I", COMMAND, number)
        self._put("QQ", MESSAGE, offset, len(message))
        self._put("I", WANTS_REPLIED, 1)
        self._put("I", TURN, self._get("I", TURN)[0] & ~3 | 1)
        self._wake(TURN)

    def finish_command(self, patience: float = PATIENCE) -> Any:
        self.serve_until(lambda: self.replied, patience)
        assert self._get("I", TURN)[0] & 3 == 0
        return self._value(*self._get("QQ", REPLY))

    def trim(self) -> int:
        """Lets the process give memory back; returns how many bytes the out file has then."""
        self.start_command(TRIM, None)
        self.serve_until(lambda: self.replied)
        return os.fstat(self.out_fd).st_blocks * 512

    def start_each(self, batches: tuple) -> None:
        """Sends several batches."""
        self._put("II", PART_COUNT, len(batches), 0)
        self.start_command(EXECUTE_EACH, batches)

    def execute_each(self, batches: tuple) -> None:
        """Sends several batches, and waits until all have a reply."""
        self.start_each(batches)
        self.serve_until(lambda: self._get("I", TURN)[0] & 3 == 0)

    def parts_replied(self) -> int:
        return self._get("I", PARTS_REPLIED)[0]

    def part(self, number: int) -> tuple[Any, int, int]:
        """The reply to a batch, and the compute times."""
        offset, size, start, end = self._get("QQQQ", PART + number * PART_SIZE)
        return self._value(offset, size), start, end

    def compute_times(self) -> tuple:
        return self._get("QQ", TIMES)

    # --- Calls and posts.

    def serve_until(self, done: Callable[[], bool], patience: float = PATIENCE) -> None:
        deadline = time.monotonic() + patience
        while not done():
            self._drain()
            if done():
                return
            self._put("I", SLEEPING, 1)
            if self._get("I", WRITTEN) == self._get("I", READ):
                select.select([self.doorbell], [], [], 0.02)
            try:
                os.eventfd_read(self.doorbell)
            except BlockingIOError:
                pass
            if self._ended():
                raise WorkerDied(f"status {self.status}: {self.log.read_text()}")
            if time.monotonic() > deadline:
                raise AssertionError(f"waited for {patience} s; {self.log.read_text()}")

    def wait_until(self, done: Callable[[], bool], patience: float = PATIENCE) -> None:
        """As serve_until(), but nothing is read from the ring."""
        deadline = time.monotonic() + patience
        while not done():
            assert not self._ended(), f"status {self.status}: {self.log.read_text()}"
            assert time.monotonic() < deadline, self.log.read_text()
            time.sleep(0.001)

    def look(self) -> None:
        """Handles the entries that are in the ring, without waiting."""
        self._drain()

    def answer(self, slot: int, value: Any, inline: bool = True) -> None:
        message = encode(value, self._place)
        if inline and len(message) <= INLINE:
            self._put("I", SLOT + slot * SLOT_SIZE + 4, len(message))
            at = SLOT + slot * SLOT_SIZE + 32
            self.control[at : at + len(message)] = message
        else:
            offset = self.place(message)
            self._put("IQQQ", SLOT + slot * SLOT_SIZE + 4, 0, offset, offset, len(message))
            # The structure has no gap: state, inline_size, block, offset, size.
        self._put("I", SLOT + slot * SLOT_SIZE, 2)
        self._wake(SLOT + slot * SLOT_SIZE)

    def posted(self, kind: int) -> list[tuple]:
        return [post[1:] for post in self.posts if post[0] == kind]

    def _drain(self) -> None:
        while (read := self._get("I", READ)[0]) != self._get("I", WRITTEN)[0]:
            self._read_entry(read)

    def _read_entry(self, read: int) -> None:
        at = ENTRY + read % ENTRIES * ENTRY_SIZE
        kind, slot, offset, size = self._get("IIQQ", at)
        value = self._value(offset, size) if kind in (CALL, POST) else None
        self._put("I", READ, (read + 1) & 0xFFFFFFFF)
        if self._get("I", WRITER_SLEEPS) == (1,):
            self._put("I", WRITER_SLEEPS, 0)
            self._wake(READ)
        if kind == FREE:
            self.freed.append(offset)
        elif kind == REPLIED:
            self.replied = True
        elif kind == POST:
            self.posts.append(value)
        else:
            self._serve(slot, value)

    def _serve(self, slot: int, arguments: tuple) -> None:
        self.calls.append((slot, arguments))
        handler = self.handlers.get(arguments[0], lambda *_: LATER)
        try:
            value = handler(*arguments[1:])
        except ServerError as error:
            self.answer(slot, error.answer)
            return
        if value is not LATER:
            self.answer(slot, (0, value))

    # --- Credit of requests.

    def withdraw_credit(self, request: int) -> None:
        used = self._get("I", CREDIT_USED)[0]
        self._put("Q", WITHOUT_CREDIT + used * 8, request)
        self._put("I", CREDIT_USED, used + 1)

    def return_credit(self, request: int) -> None:
        for place in range(self._get("I", CREDIT_USED)[0]):
            if self._get("Q", WITHOUT_CREDIT + place * 8) == (request,):
                self._put("Q", WITHOUT_CREDIT + place * 8, 0)
        self._put("I", CREDIT_RETURNS, self._get("I", CREDIT_RETURNS)[0] + 1)
        self._wake(CREDIT_RETURNS)

    # --- The process.

    def _ended(self) -> bool:
        if self.status is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.status = os.waitstatus_to_exitcode(status)
        return self.status is not None

    def wait_for_end(self, patience: float = PATIENCE) -> int:
        deadline = time.monotonic() + patience
        while not self._ended():
            self._drain()
            select.select([self.doorbell], [], [], 0.005)
            assert time.monotonic() < deadline, self.log.read_text()
        assert self.status is not None
        return self.status

    def close(self) -> None:
        if not self._ended():
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        for fd in (self.control_fd, self.in_fd, self.out_fd, self.doorbell):
            os.close(fd)
        self.files.close()
        self.files_process.close()

    # --- Memory.

    def send_file(self, fd: int) -> int:
        """Sends the file of a client; returns its number."""
        self.files_sent += 1
        socket.send_fds(self.files, [struct.pack("<Q", self.files_sent)], [fd])
        return self.files_sent

    def place(self, data: bytes) -> int:
        """Writes `data` to a block of the in file; blocks are not reused."""
        offset = self.in_end
        assert offset + len(data) <= IN_SIZE
        self.in_file[offset : offset + len(data)] = data
        self.in_end = (offset + len(data) + 63) // 64 * 64
        return offset

    def _place(self, tensor: WireTensor) -> tuple[int, int]:
        if tensor.block is None:
            tensor.block = tensor.offset = self.place(tensor.data)
        return tensor.block, tensor.offset

    def _fetch(self, file: int, offset: int, size: int) -> bytes:
        if file == PLACE:
            return b""  # the bytes are in the file of a client
        fd = self.in_fd if file == 0 else self.out_fd
        data = os.pread(fd, size, offset)
        assert len(data) == size
        return data

    def _value(self, offset: int, size: int) -> Any:
        decoder = Decoder(self._fetch(1, offset, size), self._fetch)
        value = decoder.value()
        assert decoder.at == size
        return value

    def _put(self, form: str, at: int, *values: int) -> None:
        struct.pack_into("<" + form, self.control, at, *values)

    def _get(self, form: str, at: int) -> tuple:
        return struct.unpack_from("<" + form, self.control, at)

    def _wake(self, at: int) -> None:
        _libc.syscall(_FUTEX, ctypes.c_void_p(self.address + at), 1, 1 << 30, None, None, 0)
