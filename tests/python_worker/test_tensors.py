# SPDX-License-Identifier: Apache-2.0
"""Tensor: conversion from and to numpy, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest

from .conftest import Session, StartWorker, request, tensor
from .values import BF16, BYTES, NUMPY_TYPES, WireTensor

ECHO = """
    import triton_python_backend_utils as pb_utils


    class TritonPythonModel:
        def execute(self, requests):
            responses = []
            for request in requests:
                outputs = [pb_utils.Tensor(t.name(), t.as_numpy().copy()) for t in request.inputs()]
                responses.append(pb_utils.InferenceResponse(outputs))
            return responses
"""

STRINGS = np.array([[b"", b"a"], [b"\x00\xff", "ä".encode()]], np.object_)


def test_every_type_and_shape_goes_both_ways(start: StartWorker) -> None:
    worker = start(ECHO)
    arrays = {}
    for number, numpy_type in NUMPY_TYPES.items():
        for shape in ((), (0,), (2, 3), (1, 0, 4)):
            size = int(np.prod(shape))
            values = np.arange(size).astype(numpy_type).reshape(shape)
            arrays[f"{number}{shape}"] = values
    for name, strings in (("s", STRINGS), ("s0", np.empty((2, 0), np.object_))):
        arrays[name] = strings
    arrays["s()"] = np.array(b"alone", np.object_)
    status, responses, _ = worker.execute(
        request(1, *(WireTensor.of(name, array) for name, array in arrays.items()))
    )
    assert status == "ok", responses
    outputs = {out.name: out for out in responses[0][1]}
    assert outputs.keys() == arrays.keys()
    for name, array in arrays.items():
        assert outputs[name].array().dtype == array.dtype, name
        np.testing.assert_array_equal(outputs[name].array(), array, name)


@pytest.mark.parametrize(
    ("made", "kind", "shape"),
    [
        ("np.zeros((2, 3), bool)", 1, [2, 3]),
        ("np.zeros((), np.float16)", 10, []),
        ("np.zeros((0, 2), np.uint64)", 5, [0, 2]),
        ("np.array(['a', 'b'], dtype=object)", 13, [2]),
        ("np.array([b'a', b'bc'])", 13, [2]),
        ("[[1.5, 2.5]]", 12, [1, 2]),
        ("np.float32(3)", 11, []),
    ],
)
@pytest.mark.one_interpreter
def test_what_a_tensor_says_of_itself(session: Session, made: str, kind: int, shape: list) -> None:
    session.run(f"t = pb_utils.Tensor('x', {made})")
    assert session.evaluate("t.name(), t.triton_dtype(), t.shape(), t.is_cpu()") == repr(
        ("x", kind, shape, True)
    )


@pytest.mark.parametrize(
    ("made", "text"),
    [
        ("'', np.zeros(1)", "TritonModelException: Tensor name cannot be an empty string."),
        ("'x', np.array(['text'])", "TritonModelException: NumPy dtype is not supported."),
        ("'x', np.zeros(1, complex)", "TritonModelException: NumPy dtype is not supported."),
        ("'x', np.zeros(1, 'M8[s]')", "TritonModelException: NumPy dtype is not supported."),
        ("'x', np.zeros(1, '>f4')", "TritonModelException: NumPy dtype is not supported."),
        ("'x', np.zeros(1, np.longdouble)", "TritonModelException: NumPy dtype is not supported."),
        *(
            (
                f"'{name}', None",
                "TypeError: Tensor(): incompatible function arguments. 'numpy_array' must be a numpy "
                "array, not None",
            )
            for name in ("x", "")
        ),
    ],
)
@pytest.mark.one_interpreter
def test_what_is_no_tensor(session: Session, made: str, text: str) -> None:
    assert session.evaluate(f"pb_utils.Tensor({made})") == text


@pytest.mark.one_interpreter
def test_arguments_of_other_types(session: Session) -> None:
    for arguments in ("", "1, np.zeros(1)", "'x'"):
        assert session.evaluate(f"pb_utils.Tensor({arguments})").startswith("TypeError: ")


@pytest.mark.one_interpreter
def test_an_array_comes_back_as_itself(session: Session) -> None:
    session.run("a = np.zeros(3); t = pb_utils.Tensor('x', a)")
    assert session.evaluate("t.as_numpy() is a") == "True"
    session.run("o = np.array(['a'], dtype=object); t = pb_utils.Tensor('x', o)")
    assert session.evaluate("t.as_numpy() is o") == "True"


def test_an_array_that_is_not_contiguous(start: StartWorker) -> None:
    worker = start(
        """
        import numpy as np
        import triton_python_backend_utils as pb_utils


        class TritonPythonModel:
            def execute(self, requests):
                numbers = np.arange(6, dtype=np.int32).reshape(2, 3)
                texts = np.array([["a", b"b"], [3, None]], dtype=object)
                outputs = [
                    pb_utils.Tensor("T", numbers.T),
                    pb_utils.Tensor("S", texts.T),
                    pb_utils.Tensor("FIXED", np.array([b"ab", b"c"])[::-1]),
                ]
                return [pb_utils.InferenceResponse(outputs)]
        """
    )
    _, ((_, (turned, texts, fixed), _),), _ = worker.execute(request(1))
    np.testing.assert_array_equal(turned.array(), np.arange(6).reshape(2, 3).T)
    np.testing.assert_array_equal(texts.array(), np.array([[b"a", b"3"], [b"b", b"None"]]))
    np.testing.assert_array_equal(fixed.array(), np.array([b"c", b"ab"], np.object_))


def test_an_input_is_a_view_that_can_be_written(session: Session) -> None:
    a = tensor("A", [1, 2, 3])
    written = session.run(
        """
        array = request.inputs()[0].as_numpy()
        again = request.inputs()[0].as_numpy()
        array += 1
        result = again is array, array.flags.writeable, array.tolist()
        """,
        a,
    )
    assert written == "(True, True, [2.0, 3.0, 4.0])"
    placed = session.worker._fetch(0, a.offset, 12)
    assert np.frombuffer(placed, np.float32).tolist() == [2, 3, 4]


HALVES = WireTensor("A", BF16, (2,), b"\x80\x3f\x00\x40")  # 1 and 2


@pytest.mark.one_interpreter
def test_bf16_is_an_array_of_ml_dtypes(session: Session) -> None:
    session.run("import ml_dtypes")
    seen = session.run(
        """
        a = request.inputs()[0].as_numpy()
        a *= 2
        kept = request.inputs()[0].as_numpy() is a
        result = a.dtype == ml_dtypes.bfloat16, a.shape, a.tolist(), kept
        """,
        HALVES,
    )
    assert seen == "(True, (2,), [2.0, 4.0], True)"
    session.run("t = pb_utils.Tensor('x', np.array([[1, 2], [3, 4]], ml_dtypes.bfloat16).T)")
    assert session.evaluate("t.triton_dtype(), t.shape(), t.as_numpy().tolist()") == repr(
        (BF16, [2, 2], [[1.0, 3.0], [2.0, 4.0]])
    )
    assert session.evaluate(
        "[pb_utils.triton_to_numpy_type(14), pb_utils.triton_string_to_numpy('TYPE_BF16')] "
        "== [ml_dtypes.bfloat16] * 2, pb_utils.numpy_to_triton_type(ml_dtypes.bfloat16)"
    ) == "(True, 14)"
    # Other types of two bytes that numpy does not know either are no BF16.
    assert session.evaluate("pb_utils.Tensor('x', np.zeros(2, 'V2'))") == (
        "TritonModelException: NumPy dtype is not supported."
    )


@pytest.mark.one_interpreter
def test_bf16_without_ml_dtypes(session: Session) -> None:
    session.run("sys.modules['ml_dtypes'] = None")
    assert session.evaluate("request.inputs()[0].as_numpy()", HALVES).startswith(
        "TritonModelException: Tensor dtype is BF16 and cannot be converted to NumPy. Use "
        "to_dlpack() and from_dlpack() instead. With the package ml_dtypes "
    )
    assert session.evaluate("pb_utils.triton_to_numpy_type(14)") == "None"
    assert session.evaluate("pb_utils.triton_string_to_numpy('TYPE_BF16')") == "KeyError: 'TYPE_BF16'"


@pytest.mark.parametrize(
    ("dims", "data"),
    [
        ((1,), b"\x05\0\0\0abc"),  # the element is longer than what is there
        ((2,), b"\x01\0\0\0a"),  # one element is missing
        ((1,), b"\x01\0"),  # a part of a length
        ((1,), b"\x01\0\0\0a\x01\0\0\0b"),  # one too many
    ],
)
@pytest.mark.one_interpreter
def test_strings_that_are_none(session: Session, dims: tuple, data: bytes) -> None:
    text = session.evaluate("request.inputs()[0].as_numpy()", WireTensor("A", BYTES, dims, data))
    assert text.startswith("TritonModelException: The "), text


@pytest.mark.one_interpreter
def test_strings_are_decoded_once(session: Session) -> None:
    seen = session.run(
        """
        first = request.inputs()[0].as_numpy()
        result = first is request.inputs()[0].as_numpy(), first.tolist()
        """,
        WireTensor.of("S", STRINGS),
    )
    assert seen == repr((True, STRINGS.tolist()))


@pytest.mark.one_interpreter
def test_a_class_of_the_models_own(session: Session) -> None:
    session.run(
        """
        class Named(pb_utils.Tensor):
            def label(self):
                return self.name() + "!"
        """
    )
    assert session.evaluate("Named('x', np.zeros(2)).label()") == "'x!'"
    session.run("del Named; result = gc.collect()")
