# SPDX-License-Identifier: Apache-2.0
"""Memory on simulated GPUs that a test shares with a server, as a client with a CUDA runtime would."""

from __future__ import annotations

import base64
import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager

from support.stage import backend_directory

HANDLE_BYTES = 64


def _check(result: int) -> None:
    assert result == 0, f"the driver gave {result}"


class _Handle(ctypes.Structure):
    _fields_ = [("bytes", ctypes.c_char * HANDLE_BYTES)]


class Machine:
    """The simulated driver in this process, with as many GPUs as the server has."""

    def __init__(self, driver: ctypes.CDLL, gpus: int) -> None:
        self._driver = driver
        _check(driver.cuInit(0))
        self._contexts: list[ctypes.c_void_p] = []
        for gpu in range(gpus):
            context = ctypes.c_void_p()
            _check(driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), gpu))
            self._contexts.append(context)

    @contextmanager
    def current(self, gpu: int) -> Iterator[ctypes.CDLL]:
        _check(self._driver.cuCtxPushCurrent_v2(self._contexts[gpu]))
        try:
            yield self._driver
        finally:
            _check(self._driver.cuCtxPopCurrent_v2(ctypes.byref(ctypes.c_void_p())))

    def end(self) -> None:
        for gpu in range(len(self._contexts)):
            _check(self._driver.cuDevicePrimaryCtxRelease_v2(gpu))


class CudaMemory:
    """An allocation on a GPU."""

    def __init__(self, machine: Machine, byte_size: int, gpu: int = 0) -> None:
        self._machine = machine
        self.gpu = gpu
        self.byte_size = byte_size
        self._address = ctypes.c_uint64()
        raw = _Handle()
        with machine.current(gpu) as driver:
            _check(driver.cuMemAlloc_v2(ctypes.byref(self._address), ctypes.c_size_t(byte_size)))
            _check(driver.cuIpcGetMemHandle(ctypes.byref(raw), self._address))
        self.raw_handle = ctypes.string_at(ctypes.byref(raw), HANDLE_BYTES)

    @property
    def handle(self) -> bytes:
        """The handle as the official clients want it."""
        return base64.b64encode(self.raw_handle)

    def _copy(self, to: ctypes.c_uint64, source: ctypes.c_uint64, byte_size: int) -> None:
        with self._machine.current(self.gpu) as driver:
            stream = ctypes.c_void_p()
            _check(driver.cuStreamCreateWithPriority(ctypes.byref(stream), 1, 0))
            try:
                _check(driver.cuMemcpyAsync(to, source, ctypes.c_size_t(byte_size), stream))
                _check(driver.cuStreamSynchronize(stream))
            finally:
                _check(driver.cuStreamDestroy_v2(stream))

    def write(self, data: bytes) -> None:
        buffer = ctypes.create_string_buffer(data, len(data))
        self._copy(self._address, ctypes.c_uint64(ctypes.addressof(buffer)), len(data))

    def read(self) -> bytes:
        buffer = ctypes.create_string_buffer(self.byte_size)
        self._copy(ctypes.c_uint64(ctypes.addressof(buffer)), self._address, self.byte_size)
        return buffer.raw

    def free(self) -> None:
        with self._machine.current(self.gpu) as driver:
            _check(driver.cuMemFree_v2(self._address))


@contextmanager
def simulated_machine(gpus: int) -> Iterator[Machine]:
    """One at a time in a process: the simulator reads its variables when nothing is alive."""
    library = backend_directory() / "testing" / "simulated_cuda" / "libcuda.so.1"
    variable = "SIMULATED_CUDA_GPUS"
    before = os.environ.get(variable)
    os.environ[variable] = str(gpus)
    machine = Machine(ctypes.CDLL(str(library)), gpus)
    try:
        yield machine
    finally:
        machine.end()
        if before is None:
            del os.environ[variable]
        else:
            os.environ[variable] = before
