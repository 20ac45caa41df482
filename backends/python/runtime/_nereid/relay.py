# SPDX-License-Identifier: Apache-2.0
"""Calls of the children that a model forks. Only the process of the model can call the server, so a
child sends its calls there over a socket, and a thread there makes them.

A thread of a child that calls for the first time makes a pair of sockets, and sends one of them through
the door: a socket that exists since before the first fork.
"""

from __future__ import annotations

import collections
import os
import pickle
import struct
import threading
from typing import Any, Optional

import _nereid_native as native

from . import calls, life

# What a child may ask. Metrics end with the object that made them, which the parent would not have.
_RELAYED = frozenset(
    (
        native.CALL_IS_CANCELLED,
        native.CALL_INFER,
        native.CALL_STREAM_NEXT,
        native.CALL_LOAD_MODEL,
        native.CALL_UNLOAD_MODEL,
        native.CALL_IS_MODEL_READY,
        native.CALL_METRIC_INCREMENT,
        native.CALL_METRIC_SET,
        native.CALL_METRIC_OBSERVE,
        native.CALL_METRIC_VALUE,
    )
)
_INTERNAL = 1
_UNSUPPORTED = 5

_SIZE = struct.Struct("<Q")

_door: Any = None  # the children's end
_inside: Any = None  # the other end, until a thread listens there
_connections = threading.local()
_forsaken: collections.deque = collections.deque()  # streams that this child reads no more


def before_fork() -> None:
    global _door, _inside
    if _door is None and not native.in_forked_child():
        import socket

        _door, _inside = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)


def after_fork() -> None:
    """In the parent. The thread is not started before the fork, which is safest without threads."""
    global _inside
    if _inside is not None and not native.in_forked_child():
        inside, _inside = _inside, None
        threading.Thread(target=_listen, args=(inside,), name="children", daemon=True).start()


# --- In the child.


def ask(message: tuple) -> tuple:
    """As native.ask: (status, value). A post is answered, too."""
    connection = _connection()
    try:
        while True:
            _exchange(connection, (native.CALL_STREAM_CLOSE, _forsaken.popleft()))
    except IndexError:  # none is left; another thread may have taken the last
        pass
    return _exchange(connection, message)


def close_later(stream: int) -> None:
    """For a `__del__`, which may run in the middle of a call: the next call closes the stream, or the
    end of the process."""
    _forsaken.append(stream)


def _exchange(connection: Any, message: tuple) -> tuple:
    _send(connection, message)
    answer = _receive(connection)
    if answer is None:
        raise native.TritonModelException("the process of the model does not answer any more")
    return answer


def _connection() -> Any:
    if getattr(_connections, "owner", None) != os.getpid():  # or it is that of the parent
        import socket

        if _door is None:  # no descriptor was left before the fork
            raise native.TritonModelException("the process of the model does not listen to its forks")
        mine, parents = socket.socketpair()
        with parents:
            socket.send_fds(_door, [b"+"], [parents.fileno()])
        _connections.socket, _connections.owner = mine, os.getpid()
    return _connections.socket


# --- In the process of the model.


def _listen(inside: Any) -> None:
    import socket

    while True:
        _, descriptors, _, _ = socket.recv_fds(inside, 1, 1)
        for descriptor in descriptors:
            connection = socket.socket(fileno=descriptor)
            threading.Thread(target=_serve, args=(connection,), name="child", daemon=True).start()


def _serve(connection: Any) -> None:
    streams: set = set()
    try:
        with connection:
            while (message := _receive(connection)) is not None:
                _send(connection, _answer(message, streams))
    except OSError:
        pass  # the child has ended
    finally:
        for stream in streams:
            native.post((native.CALL_STREAM_CLOSE, stream))


def _answer(message: tuple, streams: set) -> tuple:
    call = message[0]
    try:
        if call in (native.CALL_STREAM_CANCEL, native.CALL_STREAM_CLOSE):
            native.post(message)
            if call == native.CALL_STREAM_CLOSE:
                streams.discard(message[1])
            return 0, None
        if call not in _RELAYED:
            return _UNSUPPORTED + 1, "a process that the model has forked cannot create metrics"
        if call != native.CALL_INFER:
            return native.ask(message)
        if not life.may_ask:
            return _INTERNAL + 1, life.BLS_NOT_NOW
        # What blocks `execute` is seen from here; and this process has other things to say meanwhile.
        answer = native.ask((*message[:-2], life.executing, False))
        decoupled = message[-3]
        if decoupled and answer[0] == 0:
            streams.add(answer[1])
        return answer
    except Exception as error:  # lack of memory, for instance
        return _INTERNAL + 1, str(error)


def _send(connection: Any, value: Any) -> None:
    data = pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)
    connection.sendall(_SIZE.pack(len(data)))
    connection.sendall(data)


def _receive(connection: Any) -> Optional[tuple]:
    """None at the end."""
    size = _read(connection, _SIZE.size)
    if size is None:
        return None
    data = _read(connection, *_SIZE.unpack(size))
    return None if data is None else pickle.loads(data)


def _read(connection: Any, size: int) -> Optional[bytearray]:
    data = bytearray(size)
    view = memoryview(data)
    while view:
        count = connection.recv_into(view)
        if count == 0:
            return None
        view = view[count:]
    return data
