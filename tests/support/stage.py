# SPDX-License-Identifier: Apache-2.0
"""The location of the server under test: build/stage, or the folder named by NEREID_STAGE."""

from __future__ import annotations

import os
from pathlib import Path

PROJECT_ROOT = Path(__file__).resolve().parents[2]
EXAMPLE_MODELS = PROJECT_ROOT / "examples" / "models"


def stage_root() -> Path:
    """The staged installation (bin/, lib/, backends/, ...)."""
    chosen = os.environ.get("NEREID_STAGE")
    return Path(chosen).resolve() if chosen else PROJECT_ROOT / "build" / "stage"


def server_binary(name: str = "nereid") -> Path:
    """The staged executable `name` (nereid, or tritonserver, which is a link to it)."""
    binary = stage_root() / "bin" / name
    if not binary.exists():
        raise AssertionError(
            f"There is no server at {binary}: run 'make stage' first, "
            "or set NEREID_STAGE to a staged installation."
        )
    return binary


def python_package() -> Path:
    """For sys.path: the folder of the staged Python package `nereid_server`."""
    folder = stage_root() / "python"
    if not folder.is_dir():
        raise AssertionError(f"There is no Python package in {folder}: run 'make stage' first.")
    return folder


def backend_directory() -> Path:
    """The staged backends: NAME/libtriton_NAME.so."""
    return stage_root() / "backends"
