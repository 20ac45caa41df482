# SPDX-License-Identifier: Apache-2.0
"""Raw HTTP/2: the tests control every frame. Headers are sent as literals without Huffman codes;
those of answers are decoded by libnghttp2."""

from __future__ import annotations

import ctypes
import select
import socket
import struct
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from support import raw_http

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS = 0, 1, 2, 3, 4
PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = 6, 7, 8, 9

ACK = END_STREAM = 1
END_HEADERS = 4
PADDED = 8

INITIAL_WINDOW_SIZE = 4  # an identifier of SETTINGS

NO_ERROR, PROTOCOL_ERROR, REFUSED_STREAM, CANCEL, ENHANCE_YOUR_CALM = 0, 1, 7, 8, 11

UNARY = "/inference.GRPCInferenceService/ModelInfer"
STREAM = "/inference.GRPCInferenceService/ModelStreamInfer"
GATHERED_BYTES = 16_384


@dataclass(frozen=True)
class Frame:
    kind: int
    flags: int
    stream: int
    payload: bytes

    def error_code(self) -> int:
        """Of RST_STREAM and GOAWAY."""
        begin = 4 if self.kind == GOAWAY else 0
        return int(struct.unpack_from(">I", self.payload, begin)[0])


def frame(kind: int, flags: int = 0, stream: int = 0, payload: bytes = b"") -> bytes:
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def settings(values: Mapping[int, int] | None = None) -> bytes:
    pairs = (values or {}).items()
    return frame(SETTINGS, payload=b"".join(struct.pack(">HI", *pair) for pair in pairs))


def window_update(stream: int, size: int) -> bytes:
    return frame(WINDOW_UPDATE, 0, stream, struct.pack(">I", size))


def reset(stream: int, code: int = CANCEL) -> bytes:
    return frame(RST_STREAM, 0, stream, struct.pack(">I", code))


def _string(text: bytes) -> bytes:
    if len(text) < 127:
        return bytes([len(text)]) + text
    rest, size = len(text) - 127, bytearray([127])
    while rest >= 128:
        size.append(rest % 128 + 128)
        rest //= 128
    return bytes(size) + bytes([rest]) + text


def header_block(headers: Iterable[tuple[str, str]]) -> bytes:
    return b"".join(b"\0" + _string(k.encode()) + _string(v.encode()) for k, v in headers)


def call_headers(path: str, more: Iterable[tuple[str, str]] = ()) -> bytes:
    head = [(":method", "POST"), (":scheme", "http"), (":path", path), (":authority", "test")]
    return header_block([*head, ("content-type", "application/grpc"), ("te", "trailers"), *more])


def message(body: bytes) -> bytes:
    """A gRPC message with its prefix."""
    return struct.pack(">BI", 0, len(body)) + body


class _Pair(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_void_p),
        ("value", ctypes.c_void_p),
        ("name_size", ctypes.c_size_t),
        ("value_size", ctypes.c_size_t),
        ("flags", ctypes.c_uint8),
    ]


class HeaderDecoder:
    """HPACK of one connection."""

    _FINAL, _EMIT = 1, 2

    def __init__(self) -> None:
        self._library = ctypes.CDLL("libnghttp2.so.14")
        self._library.nghttp2_hd_inflate_hd2.restype = ctypes.c_ssize_t
        self._inflater = ctypes.c_void_p()
        self._library.nghttp2_hd_inflate_new(ctypes.byref(self._inflater))

    def close(self) -> None:
        self._library.nghttp2_hd_inflate_del(self._inflater)

    def decode(self, block: bytes) -> dict[str, str]:
        headers = {}
        pair, flags = _Pair(), ctypes.c_int()
        while True:
            used = self._library.nghttp2_hd_inflate_hd2(
                self._inflater,
                ctypes.byref(pair),
                ctypes.byref(flags),
                block,
                ctypes.c_size_t(len(block)),
                1,
            )
            assert used >= 0, f"bad header block: {used}"
            block = block[used:]
            if flags.value & self._EMIT:
                name = ctypes.string_at(pair.name, pair.name_size).decode()
                headers[name] = ctypes.string_at(pair.value, pair.value_size).decode()
            if flags.value & self._FINAL:
                break
        self._library.nghttp2_hd_inflate_end_headers(self._inflater)
        return headers


class Http2Connection:
    """A client that sends what the test says and reads frame by frame. It answers nothing by
    itself, not even SETTINGS."""

    def __init__(
        self,
        url: str,
        values: Mapping[int, int] | None = None,
        preface: bool = True,
        connection: socket.socket | None = None,
    ) -> None:
        self.socket = connection or socket.create_connection(
            raw_http.split_url(url), timeout=raw_http.TIMEOUT_SECONDS
        )
        self._received = b""
        self._decoder = HeaderDecoder()
        self._next_stream = 1
        if preface:
            self.send(PREFACE + settings(values))

    def __enter__(self) -> Http2Connection:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self.socket.close()
        self._decoder.close()

    # -- sending -------------------------------------------------------------------------------

    def send(self, data: bytes) -> None:
        self.socket.sendall(data)

    def send_until_closed(self, pieces: Iterable[bytes]) -> None:
        """Sends all of it, or as much as the server takes before it closes the connection. Sends
        many small pieces at once: what is sent slowly is no flood."""
        try:
            gathered = bytearray()
            for piece in pieces:
                gathered += piece
                if len(gathered) >= GATHERED_BYTES:
                    self.send(bytes(gathered))
                    gathered.clear()
            self.send(bytes(gathered))
        except (BrokenPipeError, ConnectionResetError):
            pass

    def agree(self) -> None:
        """Takes the server's SETTINGS, which allow large frames and bodies."""
        self.read_of(SETTINGS)
        self.send(frame(SETTINGS, ACK))

    def take_stream(self) -> int:
        self._next_stream += 2
        return self._next_stream - 2

    def call(
        self,
        path: str = UNARY,
        data: bytes = b"",
        end: bool = False,
        headers: Iterable[tuple[str, str]] = (),
    ) -> int:
        """Begins a call and sends `data` as its first bytes; returns its stream."""
        stream = self.take_stream()
        frames = frame(HEADERS, END_HEADERS, stream, call_headers(path, headers))
        if data or end:
            frames += frame(DATA, END_STREAM if end else 0, stream, data)
        self.send(frames)
        return stream

    # -- receiving -----------------------------------------------------------------------------

    def readable(self, seconds: float) -> bool:
        """Whether there is something to read within `seconds`."""
        return bool(self._received) or bool(select.select([self.socket], [], [], seconds)[0])

    def read_frame(self) -> Frame | None:
        """The next frame; None when the server has closed the connection."""
        head = self._read(9)
        if len(head) < 9:
            return None
        kind, flags, stream = struct.unpack(">BBI", head[3:])
        return Frame(kind, flags, stream, self._read(int.from_bytes(head[:3], "big")))

    def _read(self, size: int) -> bytes:
        """`size` bytes, fewer at the end."""
        while len(self._received) < size:
            try:
                piece = self.socket.recv(1 << 20)
            except ConnectionResetError:
                piece = b""
            if not piece:
                break
            self._received += piece
        result, self._received = self._received[:size], self._received[size:]
        return result

    def read_until(self, wanted: Callable[[Frame], bool]) -> Frame:
        """Skips frames up to the first wanted one; heads of answers on the way are decoded."""
        while (got := self.read_frame()) is not None:
            if wanted(got):
                return got
            if got.kind == HEADERS:
                self.decode(got)
        raise AssertionError("the server has closed the connection")

    def read_of(self, kind: int, stream: int = 0) -> Frame:
        return self.read_until(lambda got: got.kind == kind and got.stream == stream)

    def decode(self, head: Frame) -> dict[str, str]:
        """The headers of a frame. Each has to be decoded, in order."""
        return self._decoder.decode(head.payload)

    def read_head(self, stream: int) -> dict[str, str]:
        """The next headers or trailers of the stream."""
        return self.decode(self.read_of(HEADERS, stream))

    def read_to_end(self) -> list[Frame]:
        """Everything until the server closes the connection."""
        frames = []
        while (got := self.read_frame()) is not None:
            frames.append(got)
        return frames
