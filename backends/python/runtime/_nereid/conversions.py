# SPDX-License-Identifier: Apache-2.0
"""The arguments of models as the classes of this package keep them. What is accepted is what
Triton's binding accepts, wherever a model may have got it from: an element of a tensor of strings is
bytes, one of a tensor of numbers a scalar of numpy.

Each function raises TypeError with the name of the called function and of its argument.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

# The lowest and the highest number of a type.
UINT32 = (0, (1 << 32) - 1)
UINT64 = (0, (1 << 64) - 1)
INT64 = (-(1 << 63), (1 << 63) - 1)


def text(function: str, argument: str, value: Any) -> str:
    """A str, or bytes in UTF-8."""
    if type(value) is str:
        return value
    if isinstance(value, str):
        return str.__str__(value)  # without what a derived class makes of it
    if isinstance(value, bytes):
        try:
            return value.decode("utf-8")
        except UnicodeDecodeError as error:
            raise _wrong(function, f"'{argument}' is not UTF-8: {error}") from None
    raise wrong_type(function, argument, value, "a str or bytes")


def message(function: str, argument: str, value: Any) -> str:
    """As text(), for a message to people, which is worth more than its bytes: those that are not
    UTF-8 are replaced."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return text(function, argument, value)


def number(function: str, argument: str, value: Any, limits: tuple) -> int:
    """Anything with `__index__`, if it lies within the limits."""
    try:
        converted = int(operator.index(value))
    except TypeError:
        raise wrong_type(function, argument, value, "an integer") from None
    lowest, highest = limits
    if not lowest <= converted <= highest:
        raise _wrong(function, f"'{argument}' must be from {lowest} to {highest}, not {converted}")
    return converted


def real(function: str, argument: str, value: Any) -> float:
    """Anything with `__float__` or `__index__`."""
    if not isinstance(value, (str, bytes)):
        try:
            return float(value)
        except (TypeError, ValueError, OverflowError):
            pass
    raise wrong_type(function, argument, value, "a number")


def truth(function: str, argument: str, value: Any) -> bool:
    """Anything with `__bool__`, and None."""
    if value is True or value is False:
        return value
    if value is None or hasattr(type(value), "__bool__"):
        try:
            return bool(value)
        except Exception:  # an array of several elements, for instance
            pass
    raise wrong_type(function, argument, value, "a bool")


def items(function: str, argument: str, value: Any) -> Sequence:
    """Everything that can be iterated over, except text and dictionaries."""
    if isinstance(value, (list, tuple)):
        return value
    if not isinstance(value, (str, bytes, dict)):
        try:
            iterator = iter(value)
        except TypeError:
            pass
        else:
            return list(iterator)
    raise wrong_type(function, argument, value, "a list")


def instance(function: str, argument: str, value: Any, of: type, expected: str) -> Any:
    """An object of a class; `expected` describes it to the reader of the error."""
    if not isinstance(value, of):
        raise wrong_type(function, argument, value, expected)
    return value


def wrong_type(function: str, argument: str, value: Any, expected: str) -> TypeError:
    return _wrong(function, f"'{argument}' must be {expected}, not {type(value)}")


def _wrong(function: str, why: str) -> TypeError:
    return TypeError(f"{function}(): incompatible function arguments. {why}")
