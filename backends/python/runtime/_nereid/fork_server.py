# SPDX-License-Identifier: Apache-2.0
"""The fork server: a process that has imported what every model needs, and nothing of a model. The
processes of instances are forked from it."""

from __future__ import annotations

import gc
import os
import sys
from typing import Callable, Optional

import _nereid_native as native

from . import model_loading

# Libraries that keep the number of threads from their start, or threads of their own.
_UNSUITABLE = ("libgomp", "libiomp", "libomp.", "libmkl")
# The functions that change the number of threads of the loaded OpenBLAS libraries.
_thread_setters: list[Callable[[int], object]] = []


def serve(server_pid: int) -> str:
    """Returns in every forked process, with its title."""
    why = _prepare()
    if why:
        print(f"processes are started one by one: {why}")
        sys.exit(0)
    gc.collect()
    gc.freeze()  # what is here now stays, so its memory stays shared
    if not native.prepared(server_pid):
        sys.exit(0)
    birth = native.await_birth()
    if birth is None:
        os._exit(0)
    title, variables = birth
    _become_process(variables)
    return title


def _prepare() -> str:
    """Returns why no process can be forked from this one, or ""."""
    why = model_loading.numpy_problem()
    if why:
        return why
    import triton_python_backend_utils  # noqa: F401

    from . import commands, execute  # noqa: F401

    for path in _loaded_libraries():
        name = os.path.basename(path)
        if name.startswith(_UNSUITABLE):
            return f"numpy has loaded '{path}', which does not bear a fork"
        if "openblas" in name:
            setter = _thread_setter(path)
            if setter is None:
                return f"the number of threads of '{path}' cannot be changed"
            _thread_setters.append(setter)
    threads = len(os.listdir("/proc/self/task"))
    return "" if threads == 1 else f"{threads} threads run after numpy is imported"


def _loaded_libraries() -> list[str]:
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as maps:
        words = (line.rstrip("\n").split(maxsplit=5) for line in maps)
        return sorted({fields[5] for fields in words if len(fields) == 6 and ".so" in fields[5]})


def _thread_setter(path: str) -> Optional[Callable[[int], object]]:
    import ctypes

    library = ctypes.CDLL(path)
    for prefix in ("", "scipy_"):
        for suffix in ("", "64_", "_64"):
            function = getattr(library, f"{prefix}openblas_set_num_threads{suffix}", None)
            if function is not None:
                function.argtypes, function.restype = [ctypes.c_int], None
                return function
    return None


def _become_process(variables: list[str]) -> None:
    for variable in variables:
        name, given, value = variable.partition("=")
        if given:
            os.environ[name] = value
        else:
            os.environ.pop(name, None)
    threads = _threads()
    if threads != 1:
        for set_threads in _thread_setters:
            set_threads(threads)
    random = sys.modules.get("numpy.random")
    if random is not None:
        random.seed()  # or all processes would draw the same numbers


def _threads() -> int:
    """How many threads OpenBLAS would choose if it started now."""
    for name in ("OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS", "OMP_NUM_THREADS"):
        value = os.environ.get(name, "")
        if value.isdigit() and int(value) > 0:
            return int(value)
    return len(os.sched_getaffinity(0))
