# SPDX-License-Identifier: Apache-2.0
"""Connections of attackers: they send what the test says, read whatever comes so that nobody
blocks, and note what was answered. HTTP/1.1 and HTTP/2, plain and over TLS."""

from __future__ import annotations

import contextlib
import select
import socket
import ssl
import struct
import time
from collections.abc import Callable
from dataclasses import dataclass

from support.raw_http2 import (
    ACK,
    DATA,
    END_HEADERS,
    END_STREAM,
    GOAWAY,
    HEADERS,
    INITIAL_WINDOW_SIZE,
    PREFACE,
    RST_STREAM,
    SETTINGS,
    WINDOW_UPDATE,
    HeaderDecoder,
    frame,
    header_block,
    settings,
    window_update,
)

MAX_CONCURRENT_STREAMS = 3
FIRST_WINDOW = 65_535
PIECE = 256 << 10
ZEROS = memoryview(bytes(1 << 20))
STALL_SECONDS = 3.0

Body = bytes | int  # content, or so many zeros
Stop = Callable[[], bool]


def never() -> bool:
    return False


def size_of(body: Body) -> int:
    return body if isinstance(body, int) else len(body)


def piece_of(body: Body, at: int, most: int) -> memoryview:
    if isinstance(body, int):
        return ZEROS[: min(most, body - at, len(ZEROS))]
    return memoryview(body)[at : at + most]


@dataclass(frozen=True)
class Head:
    """Of a request. `size` is what is announced; None announces nothing."""

    method: str
    path: str
    size: int | None = None
    more: tuple[tuple[str, str], ...] = ()
    grpc: bool = False

    def http1(self, end: bool) -> bytes:
        lines = [f"{self.method} {self.path} HTTP/1.1", "Host: test"]
        if self.size is not None:
            lines.append(f"Content-Length: {self.size}")
        elif not end:
            lines.append("Transfer-Encoding: chunked")
        lines += [f"{name}: {value}" for name, value in self.more]
        return "\r\n".join([*lines, "", ""]).encode()

    def http2(self) -> bytes:
        fields = [(":method", self.method), (":scheme", "http"), (":path", self.path)]
        fields.append((":authority", "test"))
        if self.size is not None:
            fields.append(("content-length", str(self.size)))
        if self.grpc:
            fields += [("content-type", "application/grpc"), ("te", "trailers")]
        return header_block([*fields, *((name.lower(), value) for name, value in self.more)])


class Line:
    """A socket that never blocks."""

    def __init__(self, connected: socket.socket) -> None:
        self.socket = connected
        self.socket.setblocking(False)
        self.closed = False
        self._out = bytearray()
        self._in = bytearray()

    def __enter__(self) -> Line:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self.closed = True
        self.socket.close()

    def write(self, data: bytes | memoryview) -> None:
        self._out += data

    @property
    def unwritten(self) -> int:
        return len(self._out)

    def pump(self, seconds: float = 0.0) -> bool:
        """Reads and writes what is possible, after waiting for that; whether anything moved."""
        if self.closed:
            return False
        wanted = select.POLLIN | (select.POLLOUT if self._out else 0)
        poll = select.poll()  # takes more descriptors than select
        poll.register(self.socket, wanted)
        wait = 0.0 if getattr(self.socket, "pending", lambda: 0)() else seconds
        events = poll.poll(wait * 1000)
        written = bool(events and events[0][1] & select.POLLOUT) and self._write()
        return self._read() or written

    def _read(self) -> bool:
        got = False
        try:
            while piece := self.socket.recv(1 << 18):
                got = True
                self._in += piece
            self.closed = True
        except (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError):
            pass
        except (OSError, ssl.SSLError):
            self.closed = True
        if got:
            self.on_received()
        return got

    def _write(self) -> bool:
        try:
            sent = self.socket.send(self._out[:PIECE])
        except (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError):
            return False
        except (OSError, ssl.SSLError):
            # What it still says may explain why it has stopped listening.
            self._out.clear()
            self._read()
            self.closed = True
            return False
        del self._out[:sent]
        return sent > 0

    def pump_until(self, done: Stop, seconds: float) -> bool:
        deadline = time.monotonic() + seconds
        while not done():
            if self.closed or time.monotonic() >= deadline:
                return done()
            self.pump(0.05)
        return True

    def flush(self, stop: Stop = never, seconds: float = 30.0) -> bool:
        return self.pump_until(lambda: not self._out or stop(), seconds)

    def on_received(self) -> None:
        raise NotImplementedError

    # -- requests, whichever version -----------------------------------------------------------

    def begin(self, head: Head, end: bool = False) -> int:
        """Sends a head; returns the number by which `feed` and `answer` know the request."""
        raise NotImplementedError

    def feed(self, request: int, body: Body, stop: Stop = never, end: bool = False) -> int:
        """Sends a body until it is all sent, the request is answered, `stop` says so, or the server
        has taken nothing for some seconds; returns how many bytes were sent."""
        size, sent, moved = size_of(body), 0, time.monotonic()
        while sent < size and not (self.answer_of(request) or self.closed or stop()):
            count = 0 if self.unwritten >= PIECE else self._feed_piece(request, body, sent, end)
            sent += count
            if self.pump(0.0 if count else 0.02) or count:
                moved = time.monotonic()
            elif time.monotonic() - moved > STALL_SECONDS:
                break
        self.flush(lambda: bool(self.answer_of(request)) or stop(), STALL_SECONDS)
        return sent - self.unwritten

    def _feed_piece(self, request: int, body: Body, at: int, end: bool) -> int:
        raise NotImplementedError

    def answer_of(self, request: int) -> str:
        """The status, "grpc-N", "message" (of gRPC, before its status), "reset-N" or "closed";
        empty until there is one."""
        raise NotImplementedError

    def wait_answer(self, request: int, seconds: float = 30.0, stop: Stop = never) -> str:
        self.pump_until(lambda: bool(self.answer_of(request)) or stop(), seconds)
        return self.answer_of(request)


class Http1(Line):
    """One request after the other. Only the first answer is understood."""

    def __init__(self, connected: socket.socket) -> None:
        super().__init__(connected)
        self._chunked = False

    def on_received(self) -> None:
        pass

    @property
    def received(self) -> bytes:
        return bytes(self._in)

    def forget(self) -> None:
        self._in.clear()

    def begin(self, head: Head, end: bool = False) -> int:
        self._chunked = head.size is None and not end
        self.write(head.http1(end))
        return 0

    def _feed_piece(self, request: int, body: Body, at: int, end: bool) -> int:
        piece = piece_of(body, at, len(ZEROS) if self._chunked else PIECE)
        if self._chunked:
            self.write(f"{len(piece):x}\r\n".encode())
        self.write(piece)
        if self._chunked:
            self.write(b"\r\n")
            if end and at + len(piece) == size_of(body):
                self.write(b"0\r\n\r\n")
        return len(piece)

    def write_without_reading(self) -> None:
        while self._out and not self.closed and self._write():
            pass

    def answer_of(self, request: int) -> str:
        if len(self._in) >= 12:
            return self._in[9:12].decode()
        return "closed" if self.closed else ""


@dataclass
class _Stream:
    window: int
    answer: str = ""


class Http2(Line):
    """One connection with many requests. It opens no window by itself."""

    def __init__(self, connected: socket.socket, window: int | None = None) -> None:
        super().__init__(connected)
        self.streams: dict[int, _Stream] = {}
        self.most_streams = 100
        self.goaway = ""
        self._decoder = HeaderDecoder()
        self._next = 1
        self._window = FIRST_WINDOW
        self._stream_window = FIRST_WINDOW
        self._agreed = False
        self.write(PREFACE + settings({} if window is None else {INITIAL_WINDOW_SIZE: window}))
        self.pump_until(lambda: self._agreed, 10)

    def close(self) -> None:
        if self._decoder is not None:
            self._decoder.close()
            self._decoder = None
        super().close()

    # -- receiving -----------------------------------------------------------------------------

    def on_received(self) -> None:
        at = 0
        while len(self._in) - at >= 9:
            size = int.from_bytes(self._in[at : at + 3], "big")
            if len(self._in) - at - 9 < size:
                break
            kind, flags, stream = struct.unpack_from(">BBI", self._in, at + 3)
            self._on_frame(kind, flags, stream, bytes(self._in[at + 9 : at + 9 + size]))
            at += 9 + size
        del self._in[:at]

    def _on_frame(self, kind: int, flags: int, stream: int, payload: bytes) -> None:
        one = self.streams.get(stream)
        if kind == SETTINGS and not flags & ACK:
            self._on_settings(payload)
        elif kind == WINDOW_UPDATE:
            size = int(struct.unpack(">I", payload)[0])
            if stream == 0:
                self._window += size
            elif one is not None:
                one.window += size
        elif kind == HEADERS:
            self._on_head(one, self._decoder.decode(payload))
        elif kind == DATA and one is not None and payload:
            one.answer = one.answer or "message"
        elif kind == RST_STREAM and one is not None:
            one.answer = one.answer or f"reset-{struct.unpack('>I', payload)[0]}"
        elif kind == GOAWAY:
            self.goaway = payload[8:].decode(errors="replace") or payload.hex()

    def _on_settings(self, payload: bytes) -> None:
        for name, value in struct.iter_unpack(">HI", payload):
            if name == INITIAL_WINDOW_SIZE:
                self._stream_window = value
            elif name == MAX_CONCURRENT_STREAMS:
                self.most_streams = value
        self._agreed = True
        self.write(frame(SETTINGS, ACK))

    def _on_head(self, one: _Stream | None, head: dict[str, str]) -> None:
        if one is None or one.answer:
            return
        if "grpc-status" in head:
            one.answer = f"grpc-{head['grpc-status']}"
        elif not head.get("content-type", "").startswith("application/grpc"):
            one.answer = head.get(":status", "")

    # -- sending -------------------------------------------------------------------------------

    def begin_block(self, block: bytes, end: bool = False) -> int:
        """A request whose head is this block of HPACK."""
        stream, self._next = self._next, self._next + 2
        self.streams[stream] = _Stream(self._stream_window)
        self.write(frame(HEADERS, END_HEADERS | (END_STREAM if end else 0), stream, block))
        return stream

    def begin(self, head: Head, end: bool = False) -> int:
        return self.begin_block(head.http2(), end)

    def _feed_piece(self, request: int, body: Body, at: int, end: bool) -> int:
        one = self.streams[request]
        piece = piece_of(body, at, max(0, min(PIECE, self._window, one.window)))
        if len(piece) == 0:
            return 0
        last = end and at + len(piece) == size_of(body)
        header = struct.pack(">I", len(piece))[1:]
        self.write(header + struct.pack(">BBI", DATA, END_STREAM if last else 0, request))
        self.write(piece)
        one.window -= len(piece)
        self._window -= len(piece)
        return len(piece)

    def end(self, request: int) -> None:
        self.write(frame(DATA, END_STREAM, request))

    def open_window(self, size: int) -> None:
        self.write(window_update(0, size))

    def answer_of(self, request: int) -> str:
        answer = self.streams[request].answer
        return answer or ("closed" if self.closed else "")

    @property
    def unanswered(self) -> int:
        return sum(not one.answer for one in self.streams.values())


def connect(
    address: tuple[str, int], tls: ssl.SSLContext | None, receive_buffer: int | None = None
) -> socket.socket:
    raw = socket.socket()
    if receive_buffer is not None:
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
    raw.settimeout(30)
    try:
        raw.connect(address)
        raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return raw if tls is None else tls.wrap_socket(raw, server_hostname="localhost")
    except BaseException:
        with contextlib.suppress(OSError):
            raw.close()
        raise
