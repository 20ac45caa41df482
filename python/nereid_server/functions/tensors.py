# SPDX-License-Identifier: Apache-2.0
"""Tensors of requests as the values that a served function takes, and its results as tensors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .errors import RequestError
from .function import FunctionModel
from .tensor_spec import ANY_SIZE, TensorSpec


class ResultError(Exception):
    """The function has returned something else than it declares."""


def argument(name: str, spec: TensorSpec, array: np.ndarray) -> Any:
    """The value that the function gets for an input."""
    if spec.is_text:
        array = _decoded(name, array)
    if not spec.scalar:
        return array
    value = array.reshape(-1)[0]
    return value.item() if isinstance(value, np.generic) else value


def _decoded(name: str, array: np.ndarray) -> np.ndarray:
    texts = np.empty(array.shape, dtype=object)
    try:
        texts.reshape(-1)[:] = [element.decode("utf-8") for element in array.reshape(-1)]
    except UnicodeDecodeError as error:
        raise RequestError(f"input '{name}' is not UTF-8: {error}") from None
    return texts


def results(model: FunctionModel, returned: Any, rows: int) -> dict[str, np.ndarray]:
    """The outputs in what the function returned or yielded. `rows`: the number of items in a batch, 0 without
    batching. ResultError says what does not fit."""
    if not isinstance(returned, Mapping):
        if len(model.outputs) > 1:
            raise ResultError(f"returned {kind_of(returned)} in place of a dict with the keys {_names(model.outputs)}")
        returned = {next(iter(model.outputs)): returned}
    if returned.keys() != model.outputs.keys():
        raise ResultError(f"returned a dict with the keys {_names(returned)} in place of {_names(model.outputs)}")
    return {name: _array(name, spec, returned[name], rows) for name, spec in model.outputs.items()}


def _array(name: str, spec: TensorSpec, value: Any, rows: int) -> np.ndarray:
    array = _strings(name, value) if spec.data_type == "BYTES" else _numbers(name, spec, value)
    if spec.scalar and array.ndim == 0:
        array = array.reshape(1)
    expected = (rows, *spec.shape) if rows else spec.shape
    fits = array.ndim == len(expected) and all(
        want in (ANY_SIZE, have) for want, have in zip(expected, array.shape)
    )
    if not fits:
        raise ResultError(f"returned '{name}' with the shape {list(array.shape)} in place of {list(expected)}")
    return array


def _numbers(name: str, spec: TensorSpec, value: Any) -> np.ndarray:
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise ResultError(f"returned '{name}', which is no array: {error}") from None
    if array.dtype == spec.dtype:
        return array
    # Python's own numbers become any type that can hold them; an array keeps its kind.
    if isinstance(value, (np.ndarray, np.generic)) and not np.can_cast(array.dtype, spec.dtype, "same_kind"):
        raise ResultError(f"returned '{name}' as {array.dtype} in place of {spec.dtype}")
    try:
        return array.astype(spec.dtype)
    except (TypeError, ValueError) as error:
        raise ResultError(f"returned '{name}', which cannot become {spec.dtype}: {error}") from None


def _strings(name: str, value: Any) -> np.ndarray:
    given = np.asarray(value, dtype=object) if not isinstance(value, np.ndarray) else value
    strings = np.empty(given.shape, dtype=object)
    strings.reshape(-1)[:] = [_bytes_of(name, element) for element in given.reshape(-1)]
    return strings


def _bytes_of(name: str, element: Any) -> bytes:
    if isinstance(element, str):
        return element.encode("utf-8")
    if isinstance(element, bytes):
        return bytes(element)
    raise ResultError(f"returned '{name}' with {kind_of(element)} in place of a str or bytes")


def kind_of(value: Any) -> str:
    return "None" if value is None else f"an object of type {type(value).__name__}"


def _names(mapping: Mapping[str, Any]) -> str:
    return ", ".join(sorted(map(repr, mapping)))
