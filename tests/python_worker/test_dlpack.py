# SPDX-License-Identifier: Apache-2.0
"""Conversion of tensors from and to DLPack."""

from __future__ import annotations

import numpy as np
import pytest

from .conftest import Session, StartWorker, request
from .values import BF16, WireTensor

# A capsule that says whatever a test wants.
CAPSULES = """
    import ctypes

    class Tensor(ctypes.Structure):
        _fields_ = [
            ("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
            ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
            ("lanes", ctypes.c_uint16), ("shape", ctypes.c_void_p), ("strides", ctypes.c_void_p),
            ("byte_offset", ctypes.c_uint64),
        ]

    Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)

    class Managed(ctypes.Structure):
        _fields_ = [("tensor", Tensor), ("manager", ctypes.c_void_p), ("deleter", Deleter)]

    new_capsule = ctypes.pythonapi.PyCapsule_New
    new_capsule.restype = ctypes.py_object
    new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    kept = []
    deleted = []

    def capsule(device=1, code=2, bits=32, lanes=1, shape=(2, 2), strides=None, offset=0):
        data = np.arange(16, dtype=np.float32)
        dims = (ctypes.c_int64 * len(shape))(*shape)
        steps = (ctypes.c_int64 * len(strides))(*strides) if strides else None
        managed = Managed(
            Tensor(data.ctypes.data, device, 0, len(shape), code, bits, lanes,
                   ctypes.addressof(dims), ctypes.addressof(steps) if steps else None, offset),
            None, Deleter(deleted.append))
        kept.append((data, dims, steps, managed, b"dltensor"))
        return new_capsule(ctypes.addressof(managed), b"dltensor", None)
"""


@pytest.fixture
def capsules(session: Session) -> Session:
    assert session.run(CAPSULES) == "None"
    return session


@pytest.mark.parametrize(
    ("made", "text"),
    [
        ("'', capsule()", "Tensor name cannot be an empty string."),
        (
            "'x', 5",
            "Provided tensor is not supported. Tensor must be a DLPack capsule         or have "
            "`__dlpack__` and `__dlpack_device__` attributes",
        ),
        ("'x', capsule(device=7)", "DLDevice type 7 is not support by Python backend."),
        ("'x', capsule(device=2)", "DLDevice type 2 is not support by Python backend."),
        ("'x', capsule(code=4, bits=32)", "Expected BF16 tensor to have 16 bits, but had: 32"),
        ("'x', capsule(code=5, bits=64)", "Dtype is invalid."),
        ("'x', capsule(lanes=4)", "Dtype is invalid."),
        (
            "'x', capsule(strides=(1, 2))",
            "DLPack tensor is not contiguous. Only contiguous DLPack tensors that are stored in "
            "C-Order are supported.",
        ),
        ("'x', capsule(shape=(2, -1))", "The shape of the DLPack tensor is no shape."),
    ],
)
@pytest.mark.one_interpreter
def test_what_is_refused(capsules: Session, made: str, text: str) -> None:
    said = capsules.evaluate(f"pb_utils.Tensor.from_dlpack({made})")
    assert said == f"TritonModelException: {text}"
    # What is refused stays the caller's.
    assert capsules.evaluate("deleted") == "[]"


@pytest.mark.one_interpreter
def test_a_capsule_is_taken_and_deleted(capsules: Session) -> None:
    capsules.run("c = capsule(strides=(2, 1), offset=8); t = pb_utils.Tensor.from_dlpack('x', c)")
    assert capsules.evaluate("t.shape(), t.triton_dtype(), t.as_numpy().tolist()") == repr(
        ([2, 2], 11, [[2.0, 3.0], [4.0, 5.0]])
    )
    assert capsules.evaluate("pb_utils.Tensor.from_dlpack('y', c)").startswith("ValueError: ")
    capsules.run("a = t.as_numpy(); del t, c")
    assert capsules.evaluate("len(deleted), a.tolist()") == "(0, [[2.0, 3.0], [4.0, 5.0]])"
    capsules.run("del a")
    assert capsules.evaluate("len(deleted)") == "1"


@pytest.mark.one_interpreter
def test_strides_of_single_elements_do_not_count(capsules: Session) -> None:
    capsules.run("t = pb_utils.Tensor.from_dlpack('x', capsule(shape=(2, 1, 3), strides=(3, 99, 1)))")
    assert capsules.evaluate("t.as_numpy().shape") == "(2, 1, 3)"


def test_numpy_both_ways(session: Session) -> None:
    session.run(
        """
        a = np.arange(6, dtype=np.int16).reshape(2, 3)
        t = pb_utils.Tensor.from_dlpack("x", a)
        t.as_numpy()[0, 0] = 7
        shared = int(a[0, 0])
        back = np.from_dlpack(t) if hasattr(np, "from_dlpack") else a
        result = shared, t.__dlpack_device__(), back.tolist()
        """
    )
    assert session.evaluate("result") == "None"  # each piece begins with none
    assert session.evaluate("shared, t.__dlpack_device__(), back.tolist()") == repr(
        (7, (1, 0), [[7, 1, 2], [3, 4, 5]])
    )


def test_a_capsule_keeps_its_tensor(session: Session) -> None:
    session.run("t = pb_utils.Tensor('x', np.zeros(2)); before = sys.getrefcount(t)")
    session.run("c = t.to_dlpack()")
    assert session.evaluate("sys.getrefcount(t) - before") == "1"
    session.run("del c")
    assert session.evaluate("sys.getrefcount(t) - before") == "0"
    session.run("other = pb_utils.Tensor.from_dlpack('y', t.__dlpack__(stream=None))")
    assert session.evaluate("sys.getrefcount(t) - before") == "1"
    session.run("del other")
    assert session.evaluate("sys.getrefcount(t) - before") == "0"


@pytest.mark.one_interpreter
def test_strings_have_no_dlpack(session: Session) -> None:
    assert session.evaluate("pb_utils.Tensor('x', np.array([b'a'])).to_dlpack()") == (
        "TritonModelException: DLPack does not have support for string tensors."
    )


def test_bf16_goes_through(start: StartWorker) -> None:
    worker = start(
        """
        import triton_python_backend_utils as pb_utils


        class TritonPythonModel:
            def execute(self, requests):
                (given,) = requests[0].inputs()
                taken = pb_utils.Tensor.from_dlpack("B", given.to_dlpack())
                assert taken.triton_dtype() == given.triton_dtype() == 14
                return [pb_utils.InferenceResponse([taken])]
        """
    )
    given = WireTensor("A", BF16, (1, 2), np.array([0x3F80, 0x4000], np.uint16).tobytes())
    _, ((error, (out,), _),), _ = worker.execute(request(1, given))
    assert error is None
    assert (out.name, out.type, out.dims, out.data) == ("B", BF16, (1, 2), given.data)
    assert (out.file, out.block) == (0, given.block)  # it was not copied


def test_every_type_of_dlpack(session: Session) -> None:
    assert session.run(
        """
        for kind in (bool, np.uint8, np.uint16, np.uint32, np.uint64, np.int8, np.int16, np.int32,
                     np.int64, np.float16, np.float32, np.float64):
            t = pb_utils.Tensor("x", np.array([[0, 1]], kind))
            u = pb_utils.Tensor.from_dlpack("y", t)
            assert u.triton_dtype() == t.triton_dtype() and u.shape() == [1, 2], kind
            assert u.as_numpy().dtype == kind and u.as_numpy().tolist() == [[0, 1]], kind
        result = "all"
        """
    ) == "'all'"
