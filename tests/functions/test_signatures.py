# SPDX-License-Identifier: Apache-2.0
"""What a function says about its model, without a server."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Iterator
from typing import Optional

import ml_dtypes
import nereid_server
import numpy as np
import pytest
from nereid_server.functions.function import model_of
from nereid_server.functions.repository import config_text, write_repository
from nereid_server.functions.tensors import ResultError, results
from numpy.typing import NDArray


def scores(image: NDArray[np.uint8], scale: Optional[NDArray[np.float32]] = None) -> NDArray[np.float32]:
    return image * scale


def test_the_configuration() -> None:
    model = model_of(nereid_server.function(scores, max_batch_size=8, max_delay_us=500, instances=2))
    assert config_text(model).splitlines() == [
        'name: "scores"',
        'backend: "python"',
        "max_batch_size: 8",
        'input { name: "image" data_type: TYPE_UINT8 dims: [-1] }',
        'input { name: "scale" data_type: TYPE_FP32 dims: [-1] optional: true }',
        'output { name: "output" data_type: TYPE_FP32 dims: [-1] }',
        "instance_group { kind: KIND_CPU count: 2 }",
        "dynamic_batching { max_queue_delay_microseconds: 500 }",
    ]


def test_a_stream_is_decoupled() -> None:
    def words(prompt: str) -> Iterator[str]:
        yield prompt

    text = config_text(model_of(words))
    assert "max_batch_size: 0\n" in text and "decoupled: true" in text and "dynamic_batching" not in text


def unannotated(x):
    return x


def of_a_list(x: list) -> str:
    return ""


def unknown_name(x: Missing) -> str:  # noqa: F821
    return ""


def positional(x: int, /) -> int:
    return x


def nothing() -> int:
    return 1


def no_result(x: int):
    return x


def any_names(**tensors: int) -> int:
    return 1


class NotCallable:
    pass


VECTOR = nereid_server.TensorSpec(np.float32, [4])


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        (unannotated, "the parameter 'x' of 'unannotated' has no annotation: annotate it with"),
        (of_a_list, "the parameter 'x' of 'of_a_list' is annotated with list, from which no tensor follows"),
        (unknown_name, "annotated with 'Missing', which means nothing in its module: name 'Missing' is not defined"),
        (positional, "the parameter 'x' of 'positional' cannot be passed by its name"),
        (nothing, "'nothing' has no parameters; a model needs an input"),
        (no_result, "the result of 'no_result' has no annotation"),
        (any_names, r"'any_names' takes any names \(\*\*tensors\): give nereid_server.function\(inputs=...\)"),
        (NotCallable, r"the class 'NotCallable' needs a method __call__\(self, ...\) to be served"),
        (lambda x: x, "a model cannot be called '<lambda>'"),
        (3, "nereid_server.serve takes functions and classes with __call__, not 3"),
    ],
)
def test_what_cannot_be_served(target, expected) -> None:
    with pytest.raises((TypeError, ValueError), match=expected):
        model_of(target)


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"inputs": {"y": VECTOR}}, r"the parameter 'x' of 'f' is not among its inputs \['y'\]"),
        ({"inputs": {"x": VECTOR, "y": VECTOR}}, "'f' has no parameter 'y', which is among its inputs"),
        ({"inputs": {"x": np.float32}}, "'x' has to be a nereid_server.TensorSpec, not <class 'numpy.float32'>"),
        ({"outputs": {}}, "'f' has no outputs; a model needs one"),
        ({"name": "a/b"}, "a model cannot be called 'a/b'"),
        ({"max_batch_size": 0}, "max_batch_size of 'f' has to be an integer from 1 to 2147483647, not 0"),
        ({"max_delay_us": -1}, "max_delay_us of 'f' has to be an integer from 0"),
        ({"instances": 1.5}, "instances of 'f' has to be an integer from 1 to 2147483647, not 1.5"),
    ],
)
def test_wrong_settings(settings, expected) -> None:
    def f(x):
        return x

    with pytest.raises((TypeError, ValueError), match=expected):
        model_of(nereid_server.function(f, **{"inputs": {"x": VECTOR}, "outputs": VECTOR, **settings}))


def test_what_cannot_be_batched() -> None:
    def stream(x: NDArray[np.float32]) -> Iterator[int]:
        yield 1

    def plain(x: int) -> int:
        return x

    with pytest.raises(TypeError, match="'stream' yields its results, so it cannot be batched"):
        model_of(nereid_server.function(stream, batched=True))
    with pytest.raises(TypeError, match="'plain' cannot be batched: its tensor 'x' is a plain value"):
        model_of(nereid_server.function(plain, batched=True))


def test_what_is_not_batched_by_itself() -> None:
    def largest(x: NDArray[np.float32]) -> float:
        return x.max()

    def first(x: int) -> NDArray[np.float32]:
        return np.zeros(x)

    assert model_of(largest).max_batch_size == model_of(first).max_batch_size == 0
    assert model_of(scores).max_batch_size > 0


def test_a_decorated_function_stays_one() -> None:
    decorated = nereid_server.function(instances=3)(scores)
    assert decorated is scores
    np.testing.assert_array_equal(decorated(np.array([2]), np.array([3])), [6])


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ((np.complex64,), "tensors cannot have the data type complex64"),
        ((np.float32, []), "a shape is a sequence of at least one integer"),
        ((np.float32, [0]), r"a dimension has a positive size, or -1 for any size; not \[0\]"),
        ((np.float32, [1.5]), "a shape is a sequence of at least one integer"),
    ],
)
def test_wrong_specs(arguments, expected) -> None:
    with pytest.raises((TypeError, ValueError), match=expected):
        nereid_server.TensorSpec(*arguments)


def test_a_spec_of_bfloat16() -> None:
    spec = nereid_server.TensorSpec(ml_dtypes.bfloat16, [2])
    assert (spec.data_type, repr(spec)) == ("BF16", "TensorSpec(bfloat16, [2])")
    assert pickle.loads(pickle.dumps(spec)) == spec


def test_what_is_a_stream() -> None:
    def bare(x: int) -> Iterator:
        return iter([x])

    def misspelt(x: int) -> "Itterator[int]":  # noqa: F821
        return x

    with pytest.raises(TypeError, match="the result of 'bare' is annotated with Iterator, from"):
        model_of(bare)
    assert model_of(nereid_server.function(bare, outputs=VECTOR)).streams
    # What means nothing matters only where the outputs follow from it.
    assert not model_of(nereid_server.function(misspelt, outputs=VECTOR)).streams


def test_results_are_converted() -> None:
    def f(x: NDArray[np.float32]) -> NDArray[np.float32]:
        return x

    model = model_of(f)
    for value in ([[1, 2]], np.array([[1.0, 2.0]]), np.array([[1, 2]])):
        assert results(model, value, 1)["output"].dtype == np.float32
    with pytest.raises(ResultError, match=r"returned 'output' with the shape \[1, 2\] in place of \[2, -1\]"):
        results(model, [[1, 2]], 2)
    with pytest.raises(ResultError, match="returned 'output', which cannot become float32"):
        results(model, [["a"]], 1)


def test_two_functions_of_one_name(tmp_path) -> None:
    with pytest.raises(ValueError, match="two functions are called 'scores'"):
        write_repository(tmp_path, [model_of(scores), model_of(scores)])


def test_what_cannot_be_pickled(tmp_path) -> None:
    lock = threading.Lock()

    def locked(x: int) -> int:
        with lock:
            return x

    with pytest.raises(TypeError, match=r"'locked' cannot be sent .* in the setup\(\) of a class"):
        write_repository(tmp_path, [model_of(locked)])
