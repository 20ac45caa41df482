# SPDX-License-Identifier: Apache-2.0
"""Loading and unloading of other models."""

from __future__ import annotations

from typing import Any

import _nereid_native as native

from . import calls, conversions
from .errors import TritonModelException


def load_model(model_name: str, config: str = "", files: Any = None) -> None:
    """Returns when the model is loaded. `files`: contents (bytes) by `file:<path>`."""
    model_name = conversions.text("load_model", "model_name", model_name)
    config = conversions.text("load_model", "config", config)
    if files is None:
        files = {}
    if not isinstance(files, dict):
        raise TritonModelException(
            f"failed to load model '{model_name}', files should be a dictionary of file paths and "
            "file contents"
        )
    for path, content in files.items():
        if not isinstance(path, str) or not isinstance(content, bytes):
            raise TypeError(
                f"failed to load model '{model_name}', files should be a dictionary of file paths "
                f"and file contents: {path!r} is not an instance of 'str', or what it stands for "
                "is not an instance of 'bytes'"
            )
    calls.ask_or_raise("Failed to load model", native.CALL_LOAD_MODEL, model_name, config, files)


def unload_model(model_name: str, unload_dependents: bool = False) -> None:
    """Returns at once; the model is unloaded once it is no longer in use."""
    calls.ask_or_raise(
        "Failed to unload model",
        native.CALL_UNLOAD_MODEL,
        conversions.text("unload_model", "model_name", model_name),
        conversions.truth("unload_model", "unload_dependents", unload_dependents),
    )


def is_model_ready(model_name: str, model_version: str = "") -> bool:
    return calls.ask_or_raise(
        "Failed to check model readiness",
        native.CALL_IS_MODEL_READY,
        conversions.text("is_model_ready", "model_name", model_name),
        conversions.text("is_model_ready", "model_version", model_version),
    )
