# SPDX-License-Identifier: Apache-2.0
"""What the annotations of a function say about its tensors."""

from __future__ import annotations

import collections.abc
import inspect
import sys
import types
import typing
from collections.abc import Callable
from typing import Any, Optional

import numpy as np

from .tensor_spec import TensorSpec

ONLY_OUTPUT = "output"  # the name of the output of a function that returns one array

_PLAIN = (bool, int, float, str, bytes)
_ASYNC_STREAMS = (
    collections.abc.AsyncGenerator,
    collections.abc.AsyncIterable,
    collections.abc.AsyncIterator,
)
_STREAMS = (
    *_ASYNC_STREAMS,
    collections.abc.Generator,
    collections.abc.Iterable,
    collections.abc.Iterator,
)
_REMEDY = (
    "annotate it with numpy.typing.NDArray[numpy.float32] or the like, with int, float, bool, str or bytes, "
    "with typing.Annotated[numpy.ndarray, nereid_server.TensorSpec(numpy.float32, [4])], "
    "or give nereid_server.function(inputs=..., outputs=...)"
)


class SignatureError(TypeError):
    """The tensors of a function do not follow from its annotations, or contradict them."""


def input_of(name: str, parameter: inspect.Parameter, call: Callable[..., Any]) -> TensorSpec:
    """The tensor of a parameter of `call`, the function `name`."""
    what = f"the parameter '{parameter.name}' of '{name}'"
    if parameter.annotation is inspect.Parameter.empty:
        raise SignatureError(f"{what} has no annotation: {_REMEDY}")
    return _spec(_evaluated(parameter.annotation, call, what), what)


def outputs_of(name: str, annotation: Any, call: Callable[..., Any]) -> dict[str, TensorSpec]:
    """The tensors of what `call` returns or yields: of a TypedDict one for each key, otherwise one."""
    what = f"the result of '{name}'"
    if annotation is inspect.Signature.empty:
        raise SignatureError(f"{what} has no annotation: {_REMEDY}")
    found = _evaluated(annotation, call, what)
    if typing.get_origin(found) in _STREAMS:
        found = next(iter(typing.get_args(found)), Any)
    if isinstance(found, type) and issubclass(found, dict) and hasattr(found, "__total__"):  # a TypedDict
        fields = typing.get_type_hints(found, include_extras=True)
        return {key: _spec(value, f"'{key}' of {what}") for key, value in fields.items()}
    return {ONLY_OUTPUT: _spec(found, what)}


def stream_of(annotation: Any, call: Callable[..., Any]) -> tuple[bool, bool]:
    """Whether what `call` returns is annotated as a stream, and whether as one for `async for`."""
    try:
        found = _evaluated(annotation, call, "the result")
    except SignatureError:  # matters only where the outputs follow from it
        return False, False
    origin = typing.get_origin(found) or found
    return origin in _STREAMS, origin in _ASYNC_STREAMS


def _evaluated(annotation: Any, call: Callable[..., Any], what: str) -> Any:
    if not isinstance(annotation, str):
        return annotation
    function = inspect.unwrap(getattr(call, "__func__", call))
    try:
        return eval(annotation, getattr(function, "__globals__", {}))
    except Exception as error:
        raise SignatureError(
            f"{what} is annotated with '{annotation}', which means nothing in its module: {error}"
        ) from None


def _spec(annotation: Any, what: str) -> TensorSpec:
    spec = _array_spec(annotation) or _scalar_spec(annotation)
    if spec is None:
        shown = annotation.__name__ if isinstance(annotation, type) else str(annotation)
        raise SignatureError(f"{what} is annotated with {shown}, from which no tensor follows: {_REMEDY}")
    return spec


def _array_spec(annotation: Any) -> Optional[TensorSpec]:
    if isinstance(annotation, TensorSpec):
        return annotation
    origin = typing.get_origin(annotation)
    if origin is typing.Annotated:
        for extra in annotation.__metadata__:
            if isinstance(extra, TensorSpec):
                return extra
        return _array_spec(annotation.__origin__)
    if _is_union(origin):  # Optional[...]
        others = [part for part in typing.get_args(annotation) if part is not type(None)]
        return _array_spec(others[0]) or _scalar_spec(others[0]) if len(others) == 1 else None
    if origin is np.ndarray:  # numpy.typing.NDArray[...]
        element = typing.get_args(typing.get_args(annotation)[1])
        if element and isinstance(element[0], type) and issubclass(element[0], np.generic):
            return TensorSpec(element[0])
    return None


def _is_union(origin: Any) -> bool:
    return origin is typing.Union or (sys.version_info >= (3, 10) and origin is types.UnionType)


def _scalar_spec(annotation: Any) -> Optional[TensorSpec]:
    if annotation in _PLAIN or (isinstance(annotation, type) and issubclass(annotation, np.generic)):
        return TensorSpec(annotation, [1], scalar=True)
    return None
