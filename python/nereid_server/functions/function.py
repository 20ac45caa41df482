# SPDX-License-Identifier: Apache-2.0
"""nereid_server.function: says how a function is served; and FunctionModel, what follows from that."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Optional, TypeVar, Union

from .annotations import ONLY_OUTPUT, SignatureError, input_of, outputs_of, stream_of
from .tensor_spec import TensorSpec

_SETTINGS = "__nereid_function__"
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.\-]*")
DEFAULT_MAX_BATCH_SIZE = 64

Target = TypeVar("Target", bound=Callable[..., Any])


@dataclass(frozen=True)
class _Settings:
    """The arguments of nereid_server.function."""

    name: Optional[str] = None
    inputs: Optional[Mapping[str, TensorSpec]] = None
    outputs: Union[None, TensorSpec, Mapping[str, TensorSpec]] = None
    batched: Optional[bool] = None
    max_batch_size: int = DEFAULT_MAX_BATCH_SIZE
    max_delay_us: int = 0
    instances: int = 1


@dataclass(frozen=True)
class FunctionModel:
    """A function as the model that it becomes."""

    target: Any
    name: str
    inputs: Mapping[str, TensorSpec]
    optional: frozenset[str]  # inputs that a request may leave out
    outputs: Mapping[str, TensorSpec]
    max_batch_size: int  # 0: the function is called for each request
    max_delay_us: int
    instances: int
    streams: bool  # each value that it yields is a response
    asynchronous: bool

    @property
    def makes_instance(self) -> bool:
        """Each process makes an object of the class."""
        return inspect.isclass(self.target)


def function(
    target: Optional[Target] = None,
    *,
    name: Optional[str] = None,
    inputs: Optional[Mapping[str, TensorSpec]] = None,
    outputs: Union[None, TensorSpec, Mapping[str, TensorSpec]] = None,
    batched: Optional[bool] = None,
    max_batch_size: int = DEFAULT_MAX_BATCH_SIZE,
    max_delay_us: int = 0,
    instances: int = 1,
) -> Any:
    """Says how a function, or a class with `__call__`, is served by `nereid_server.serve`.

    It is a decorator, with or without arguments, and returns its target unchanged, which can still be
    called and tested. Everything has a default that follows from the function.

    name: of the model; otherwise that of the function.
    inputs: the tensor of each parameter, {"x": TensorSpec(np.float32, [4])}; otherwise the annotations
        say it. A parameter with a default may be left out of a request.
    outputs: the tensor of each key of the dict that the function returns; a TensorSpec alone if it
        returns one array, which clients see as "output"; otherwise the annotation of the result.
    batched: whether the function takes several requests at a time. Its arrays then have a dimension more,
        the first one, which is the number of items. Without batching it is called for each request.
        True, unless it yields its results or has plain values (int, float, bool, str, bytes).
    max_batch_size: the most items of a batch.
    max_delay_us: how many microseconds a request may wait for others, so that a batch becomes larger.
    instances: processes that run the function.

    A function that yields, or whose result is annotated as an iterator, answers with a stream of responses.
    An `async` function serves its requests concurrently. A class is made once in each process, which then
    calls its `setup()`, if there is one.
    """
    settings = _Settings(name, inputs, outputs, batched, max_batch_size, max_delay_us, instances)

    def note(found: Target) -> Target:
        if not callable(found):
            raise TypeError(f"nereid_server.function takes a function or a class with __call__, not {found!r}")
        setattr(found, _SETTINGS, settings)
        return found

    return note if target is None else note(target)


def model_of(target: Any) -> FunctionModel:
    """What `target` becomes: a function or a class, with or without nereid_server.function, or an object of such
    a class. SignatureError, TypeError or ValueError say what is wrong with it."""
    if not callable(target):
        raise TypeError(f"nereid_server.serve takes functions and classes with __call__, not {target!r}")
    settings = getattr(target, _SETTINGS, _Settings())
    call = _called(target)
    name = _name_of(target, settings)
    try:
        signature = inspect.signature(call)
    except ValueError:
        raise SignatureError(f"'{name}' shows no parameters; wrap it into a function that has them") from None
    parameters = _parameters(name, signature, inspect.isclass(target))
    inputs = _inputs(name, settings, parameters, call)
    outputs = _outputs(name, settings, signature, call)
    plain = [key for key, spec in [*inputs.items(), *outputs.items()] if spec.scalar]
    # What is annotated as an iterator may be returned by a function that does not yield itself.
    annotated, annotated_async = stream_of(signature.return_annotation, call)
    streams = inspect.isgeneratorfunction(call) or inspect.isasyncgenfunction(call) or annotated
    awaits = inspect.iscoroutinefunction(call) or inspect.isasyncgenfunction(call) or annotated_async
    return FunctionModel(
        target=target,
        name=name,
        inputs=inputs,
        optional=frozenset(
            key for key in inputs if key in parameters and parameters[key].default is not inspect.Parameter.empty
        ),
        outputs=outputs,
        max_batch_size=_max_batch_size(name, settings, streams, plain),
        max_delay_us=_number(name, "max_delay_us", settings.max_delay_us, least=0),
        instances=_number(name, "instances", settings.instances, least=1),
        streams=streams,
        asynchronous=awaits,
    )


def _called(target: Any) -> Callable[..., Any]:
    """The function behind the target."""
    if inspect.isclass(target):
        if "__call__" not in dir(target) or not inspect.isfunction(target.__call__):
            raise TypeError(f"the class '{target.__name__}' needs a method __call__(self, ...) to be served")
        return target.__call__
    if inspect.isroutine(target) or isinstance(target, functools.partial):
        return target
    return type(target).__call__.__get__(target)


def _name_of(target: Any, settings: _Settings) -> str:
    name = settings.name or str(getattr(target, "__name__", type(target).__name__))
    if not _NAME.fullmatch(name):
        raise ValueError(
            f"a model cannot be called '{name}'; give nereid_server.function(name=...) "
            "a name of letters, digits, '_', '.' and '-'"
        )
    return name


def _parameters(name: str, signature: inspect.Signature, skip_self: bool) -> dict[str, inspect.Parameter]:
    """The parameters by name, of which inputs are made; they are passed by keyword."""
    found = list(signature.parameters.values())[1 if skip_self else 0 :]
    for parameter in found:
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.VAR_POSITIONAL):
            raise SignatureError(f"the parameter '{parameter.name}' of '{name}' cannot be passed by its name")
    return {parameter.name: parameter for parameter in found}


def _inputs(
    name: str, settings: _Settings, parameters: Mapping[str, inspect.Parameter], call: Callable[..., Any]
) -> dict[str, TensorSpec]:
    rest = [key for key, found in parameters.items() if found.kind is found.VAR_KEYWORD]
    named = {key: found for key, found in parameters.items() if key not in rest}
    if settings.inputs is None:
        if rest:
            raise SignatureError(f"'{name}' takes any names (**{rest[0]}): give nereid_server.function(inputs=...)")
        return _nonempty(name, {key: input_of(name, found, call) for key, found in named.items()})
    inputs = _checked(name, "inputs", settings.inputs)
    if missing := [key for key, found in named.items() if found.default is found.empty and key not in inputs]:
        raise SignatureError(f"the parameter '{missing[0]}' of '{name}' is not among its inputs {sorted(inputs)}")
    if not rest and (unknown := sorted(set(inputs) - set(named))):
        raise SignatureError(f"'{name}' has no parameter '{unknown[0]}', which is among its inputs")
    return _nonempty(name, inputs)


def _nonempty(name: str, inputs: dict[str, TensorSpec]) -> dict[str, TensorSpec]:
    if not inputs:
        raise SignatureError(f"'{name}' has no parameters; a model needs an input")
    return inputs


def _outputs(
    name: str, settings: _Settings, signature: inspect.Signature, call: Callable[..., Any]
) -> dict[str, TensorSpec]:
    if settings.outputs is None:
        return outputs_of(name, signature.return_annotation, call)
    if isinstance(settings.outputs, TensorSpec):
        return {ONLY_OUTPUT: settings.outputs}
    outputs = _checked(name, "outputs", settings.outputs)
    if not outputs:
        raise SignatureError(f"'{name}' has no outputs; a model needs one")
    return outputs


def _checked(name: str, what: str, specs: Mapping[str, TensorSpec]) -> dict[str, TensorSpec]:
    for key, spec in specs.items():
        if not isinstance(key, str) or not key.isprintable() or not key:
            raise SignatureError(f"{what} of '{name}': {key!r} is no name of a tensor")
        if not isinstance(spec, TensorSpec):
            raise SignatureError(f"{what} of '{name}': '{key}' has to be a nereid_server.TensorSpec, not {spec!r}")
    return dict(specs)


def _max_batch_size(name: str, settings: _Settings, streams: bool, plain: list[str]) -> int:
    if settings.batched and streams:
        raise SignatureError(f"'{name}' yields its results, so it cannot be batched")
    if settings.batched and plain:
        raise SignatureError(
            f"'{name}' cannot be batched: its tensor '{plain[0]}' is a plain value; make it an array"
        )
    batched = not streams and not plain if settings.batched is None else settings.batched
    return _number(name, "max_batch_size", settings.max_batch_size, least=1) if batched else 0


def _number(name: str, what: str, value: Any, least: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value < 1 << 31:
        raise ValueError(f"{what} of '{name}' has to be an integer from {least} to 2147483647, not {value!r}")
    return value
