# SPDX-License-Identifier: Apache-2.0
"""Tensors in and out: types, no copies, and what is refused."""

from __future__ import annotations

import gc
from collections.abc import Callable

import ml_dtypes
import nereid_server
import numpy as np
import pytest

VALUES = {
    "bool": np.array([True, False, True]),
    "fp16": np.array([0.5, -2, 65504], np.float16),
    "fp32": np.array([0.5, -2, np.inf], np.float32),
    "fp64": np.array([0.5, -2, 1e300]),
    "bf16": np.array([0.5, -2, 1e30], ml_dtypes.bfloat16),
    **{
        f"{kind}{bits}": np.array([0, 1, 100], f"{kind}{bits}")
        for kind in ("int", "uint")
        for bits in (8, 16, 32, 64)
    },
}


class ByDlpack:
    """A tensor of another framework: it has only DLPack."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array
        self.asked = 0

    def __dlpack__(self, stream: None = None) -> object:
        self.asked += 1
        return self.array.__dlpack__()

    def __dlpack_device__(self) -> tuple:
        return self.array.__dlpack_device__()

    @staticmethod
    def capsule_of(array: np.ndarray) -> object:
        return array.__dlpack__()


@pytest.mark.parametrize("name", VALUES)
def test_each_type_comes_back(server: nereid_server.Server, name: str) -> None:
    value = VALUES[name]
    output = server.model(f"identity_{name}").infer({"INPUT0": value})["OUTPUT0"]
    assert output.dtype == value.dtype
    assert output.shape == value.shape
    assert output.tobytes() == value.tobytes()


def test_strings_come_back_as_bytes(server: nereid_server.Server) -> None:
    model = server.model("identity_bytes")
    expected = [b"one", "zw\u00f6lf".encode(), b"", b"\x00\xff"]
    for value in (
        np.array(["one", "zw\u00f6lf", b"", b"\x00\xff"], np.object_),
        ["one", "zw\u00f6lf", b"", b"\x00\xff"],
    ):
        assert model.infer({"INPUT0": value})["OUTPUT0"].tolist() == expected
    assert model.infer({"INPUT0": np.array(["a", "bcd"])})["OUTPUT0"].tolist() == [b"a", b"bcd"]
    assert model.infer({"INPUT0": np.array([b"a", b"bcd"])})["OUTPUT0"].tolist() == [b"a", b"bcd"]


def test_lists_take_the_type_of_the_model(server: nereid_server.Server) -> None:
    output = server.model("identity_fp16").infer({"INPUT0": [1, 2.5]})["OUTPUT0"]
    assert output.dtype == np.float16
    assert output.tolist() == [1, 2.5]
    output = server.model("identity_bf16").infer({"INPUT0": [1, 2.5]})["OUTPUT0"]
    assert output.dtype == ml_dtypes.bfloat16


def test_empty_tensors(server: nereid_server.Server) -> None:
    output = server.model("identity_fp32").infer({"INPUT0": np.empty(0, np.float32)})["OUTPUT0"]
    assert output.shape == (0,)


@pytest.mark.parametrize("wrapped", [np.asarray, ByDlpack, ByDlpack.capsule_of])
def test_inputs_are_read_in_place(
    server: nereid_server.Server, wrapped: Callable[[np.ndarray], object]
) -> None:
    value = np.array([1, 2], np.int32)
    stream = server.model("slow").stream({"INPUT0": wrapped(value)})
    value[:] = [3, 4]  # the model waits before it reads
    (response,) = stream
    assert response["OUTPUT0"].tolist() == [3, 4]


def test_outputs_are_views_of_the_memory_that_the_model_wrote(server: nereid_server.Server) -> None:
    response = server.model("identity_fp32").infer({"INPUT0": np.arange(4, dtype=np.float32)})
    tensor = response.tensors["OUTPUT0"]
    array = response["OUTPUT0"]
    assert array.ctypes.data == tensor.address
    assert array.ctypes.data % 64 == 0
    assert array.flags.writeable
    assert np.from_dlpack(tensor).ctypes.data == tensor.address
    view = memoryview(tensor)
    assert (view.format, view.shape, view.nbytes) == ("f", (4,), 16)
    assert np.asarray(tensor).ctypes.data == tensor.address
    assert response["OUTPUT0"] is array


def test_an_output_outlives_its_response(server: nereid_server.Server) -> None:
    response = server.model("identity_fp32").infer({"INPUT0": np.arange(1000, dtype=np.float32)})
    by_dlpack = np.from_dlpack(response.tensors["OUTPUT0"])
    capsule = response.tensors["OUTPUT0"].__dlpack__()
    array = response["OUTPUT0"]
    del response
    gc.collect()
    for _ in range(10):  # would reuse the memory if it were free
        server.model("identity_fp32").infer({"INPUT0": np.zeros(1000, np.float32)})
    assert array.sum() == by_dlpack.sum() == 499500
    del capsule  # nobody has taken it


def test_an_output_can_be_the_next_input(server: nereid_server.Server) -> None:
    model = server.model("identity_bytes")
    tensor = model.infer({"INPUT0": ["a", "b"]}).tensors["OUTPUT0"]
    assert (tensor.data_type, tensor.shape, tensor.nbytes) == ("BYTES", (2,), 10)
    assert model.infer({"INPUT0": tensor})["OUTPUT0"].tolist() == [b"a", b"b"]


def test_dlpack_inputs(server: nereid_server.Server) -> None:
    model = server.model("identity_fp32")
    value = ByDlpack(np.array([1, 2], np.float32))
    assert model.infer({"INPUT0": value})["OUTPUT0"].tolist() == [1, 2]
    assert model.infer({"INPUT0": value.__dlpack__()})["OUTPUT0"].tolist() == [1, 2]
    assert value.asked == 2
    # The bits of BF16 reach a framework that has the type.
    output = server.model("identity_bf16").infer({"INPUT0": [1.0]}).tensors["OUTPUT0"]
    assert server.model("identity_bf16").infer({"INPUT0": output.__dlpack__()})["OUTPUT0"] == [1]
    with pytest.raises(BufferError, match="DLPack has no strings"):
        server.model("identity_bytes").infer({"INPUT0": ["a"]}).tensors["OUTPUT0"].__dlpack__()


def test_inputs_are_let_go(server: nereid_server.Server) -> None:
    class Traced(np.ndarray):
        """numpy's own arrays have no weak references that tell when."""

    import weakref

    value = np.zeros(4, np.float32).view(Traced)
    gone = weakref.ref(value)
    server.model("identity_fp32").infer({"INPUT0": value})
    with pytest.raises(nereid_server.InvalidArgumentError):
        server.model("identity_fp64").infer({"INPUT0": value})
    list(server.model("identity_fp32").stream({"INPUT0": value}))
    del value
    assert gone() is None


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (np.zeros((4, 4), np.float32)[:, 1], "'INPUT0' is not contiguous in C order"),
        (np.broadcast_to(np.float32(0), (1 << 40,)), "'INPUT0' is not contiguous in C order"),
        (np.zeros(2, ">f4"), "'INPUT0' is not in the byte order of this machine"),
        (np.zeros(2, np.complex64), "'INPUT0' is an array of complex64, which no model takes"),
        (np.zeros(2, "M8[s]"), "'INPUT0' is an array of datetime64"),
        (np.zeros(2, np.int32), "'INPUT0' data-type is 'INT32', but .* expects 'FP32'"),
        (np.zeros((2, 2), np.float32), "unexpected shape for input 'INPUT0'"),
        (["no number"], "'INPUT0' is no tensor of FP32"),
        ([[1], [1, 2]], "'INPUT0' is no tensor of FP32"),
        (object(), "'INPUT0' is no tensor of FP32"),
        (ByDlpack(np.zeros((4, 4), np.float32)[:, 1]), "'INPUT0' is not contiguous in C order"),
        (ByDlpack(np.zeros(2, np.complex64)), "'INPUT0' has a data type that no model takes"),
    ],
)
def test_wrong_inputs_are_refused_in_one_sentence(
    server: nereid_server.Server, value: object, why: str
) -> None:
    with pytest.raises(nereid_server.InvalidArgumentError, match=why) as raised:
        server.model("identity_fp32").infer({"INPUT0": value})
    assert "\n" not in str(raised.value)


def test_wrong_arguments_are_refused(server: nereid_server.Server) -> None:
    model = server.model("identity_fp32")
    value = np.zeros(2, np.float32)
    with pytest.raises(nereid_server.InvalidArgumentError, match="unexpected inference input 'OTHER'"):
        model.infer({"OTHER": value})
    with pytest.raises(nereid_server.InvalidArgumentError, match="expected 1 inputs but got 0"):
        model.infer({})
    with pytest.raises(nereid_server.InvalidArgumentError, match="unexpected inference output 'OTHER'"):
        model.infer({"INPUT0": value}, ["OTHER"])
    with pytest.raises(TypeError, match="inputs must be a dict of tensors by name, not list"):
        model.infer([value])
    with pytest.raises(TypeError, match="outputs must be a list of names"):
        model.infer({"INPUT0": value}, "OUTPUT0")
    with pytest.raises(nereid_server.InvalidArgumentError, match="the name of an input is a int"):
        model.infer({1: value})
    with pytest.raises(nereid_server.InvalidArgumentError, match="parameter 'p' is a list"):
        model.infer({"INPUT0": value}, parameters={"p": []})
    with pytest.raises(nereid_server.InvalidArgumentError, match="'p' does not fit into 64 bits"):
        model.infer({"INPUT0": value}, parameters={"p": 1 << 64})
    with pytest.raises(nereid_server.InvalidArgumentError, match="priority must be between 0 and"):
        model.infer({"INPUT0": value}, priority=-1)
    with pytest.raises(TypeError, match="request_id must be a str, not int"):
        model.infer({"INPUT0": value}, request_id=1)
    with pytest.raises(TypeError, match="unexpected keyword argument 'prioritty'"):
        model.infer({"INPUT0": value}, prioritty=1)
    with pytest.raises(nereid_server.NotFoundError, match="unknown model: 'nobody' is not found"):
        server.model("nobody").infer({"INPUT0": value})


def test_tensors_of_raw_memory_are_checked() -> None:
    with pytest.raises(nereid_server.InvalidArgumentError, match="has 7 bytes, but its shape takes 8"):
        nereid_server.Tensor("FP32", [2], 64, 7, None)
    with pytest.raises(nereid_server.InvalidArgumentError, match="more elements than memory can hold"):
        nereid_server.Tensor("FP32", [1 << 40, 1 << 40], 64, 0, None)
    with pytest.raises(nereid_server.InvalidArgumentError, match="there is no data type 'FP31'"):
        nereid_server.Tensor("FP31", [2], 64, 8, None)
