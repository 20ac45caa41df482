# SPDX-License-Identifier: Apache-2.0
"""The server that this package belongs to."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import MutableMapping
from pathlib import Path
from typing import Optional

_HOME = "NEREID_HOME"
_ONNX_RUNTIME = "NEREID_ONNXRUNTIME_LIBRARY"  # read by the backend onnxruntime


def home() -> Path:
    """The folder of bin/, lib/, backends/, caches/ and repoagents/: the one that the environment variable NEREID_HOME
    names; otherwise `_server` in a wheel, and in another installation the folder of `python/nereid_server`.
    FileNotFoundError if there is none."""
    named = os.environ.get(_HOME)
    package = Path(__file__).resolve().parent
    for folder in [Path(named)] if named else [package / "_server", package.parents[1]]:
        if (folder / "bin" / "nereid").is_file():
            return folder
    source = f"{_HOME}='{named}'" if named else f"'{package}'"
    raise FileNotFoundError(
        f"{source} holds no server (bin/nereid): install the wheel nereid-server, or set {_HOME} to an installation"
    )


def program() -> Path:
    """The program `nereid`."""
    return home() / "bin" / "nereid"


def onnx_runtime() -> Optional[Path]:
    """The library of the package onnxruntime, if that is installed. Does not import it."""
    spec = importlib.util.find_spec("onnxruntime")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        if found := sorted(Path(folder, "capi").glob("libonnxruntime.so.1*")):
            return found[0]
    return None


def name_onnx_runtime(variables: MutableMapping[str, str] = os.environ) -> None:
    """Tells the backend onnxruntime in `variables` where this environment has its library, unless they name one."""
    library = onnx_runtime()
    if library is not None:
        variables.setdefault(_ONNX_RUNTIME, str(library))


def environment() -> dict[str, str]:
    """The variables for the program: it finds this environment's ONNX Runtime, and models in Python run in
    this interpreter, as if the environment was activated, unless something else is asked for."""
    result = dict(os.environ)
    name_onnx_runtime(result)
    folder = os.path.dirname(sys.executable)
    if os.access(os.path.join(folder, "python3"), os.X_OK):
        result["PATH"] = os.pathsep.join(filter(None, [folder, result.get("PATH", os.defpath)]))
    return result
