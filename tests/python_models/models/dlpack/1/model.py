import json
import sys

import numpy as np
import triton_python_backend_utils as pb_utils


class Capsule:
    """Wraps an existing capsule in an object, as numpy.from_dlpack needs it."""

    def __init__(self, tensor):
        self.capsule = tensor.to_dlpack()
        self.device = tensor.__dlpack_device__()

    def __dlpack__(self, **_):
        return self.capsule

    def __dlpack_device__(self):
        return self.device


class Half:
    """Has only one of the two methods of DLPack."""

    def __dlpack__(self, stream=None):
        return None


TYPES = ("uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64")
TYPES += ("float16", "float32", "float64", "bool")


def outcome(action):
    try:
        return action()
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def describe(tensor):
    array = tensor.as_numpy()
    return [tensor.name(), str(array.dtype), tensor.shape(), array.tolist()]


def round_trip(array):
    return describe(pb_utils.Tensor.from_dlpack("BACK", pb_utils.Tensor("X", array)))


class TritonPythonModel:
    """DLPack in both directions, and what is refused."""

    def execute(self, requests):
        return [self.one(request) for request in requests]

    def one(self, request):
        tensor = pb_utils.get_input_tensor_by_name(request, "INPUT")
        how = pb_utils.get_input_tensor_by_name(request, "HOW").as_numpy()[0].decode()
        report = getattr(self, how)(tensor)
        return pb_utils.InferenceResponse(
            [
                pb_utils.Tensor.from_dlpack("OUTPUT", tensor),
                pb_utils.Tensor("REPORT", np.array([json.dumps(report)], dtype=np.object_)),
            ]
        )

    def tensors(self, tensor):
        """Conversions between the backend's own tensors."""
        before = sys.getrefcount(tensor)
        capsule = tensor.to_dlpack()
        during = sys.getrefcount(tensor)
        del capsule
        after = sys.getrefcount(tensor)
        array = tensor.as_numpy()
        shared = np.from_dlpack(Capsule(tensor))
        from_dlpack = pb_utils.Tensor.from_dlpack
        text = pb_utils.Tensor("TEXT", np.array([b"a"], dtype=np.object_))
        return {
            "device": list(tensor.__dlpack_device__()),
            "numpy sees": shared.tolist(),
            "numpy shares": bool(np.shares_memory(shared, array)),
            "references": [during - before, after - before],
            "capsule": repr(tensor.to_dlpack()).split(" at ")[0],
            "of a capsule": outcome(lambda: describe(from_dlpack("C", tensor.to_dlpack()))),
            "no name": outcome(lambda: from_dlpack("", tensor)),
            "a list": outcome(lambda: from_dlpack("X", [1, 2])),
            "none": outcome(lambda: from_dlpack("X", None)),
            "half": outcome(lambda: from_dlpack("X", Half())),
            "text": outcome(lambda: text.to_dlpack()),
            "types": {
                name: outcome(lambda name=name: round_trip(np.array([0, 1, 2], name)))
                for name in TYPES
            },
            "empty": outcome(lambda: round_trip(np.zeros((2, 0), np.float32))),
            "scalar": outcome(lambda: round_trip(np.float32(3.5).reshape(()))),
        }

    def numpy(self, tensor):
        """Conversions from numpy arrays."""
        wide = np.arange(12, dtype=np.float32).reshape(3, 4)
        from_dlpack = pb_utils.Tensor.from_dlpack
        return {
            "rows": outcome(lambda: describe(from_dlpack("ROWS", wide[1:]))),
            "one row": outcome(lambda: describe(from_dlpack("ROW", wide[1:2]))),
            "columns": outcome(lambda: describe(from_dlpack("COLUMNS", wide[:, 1:3]))),
            "transposed": outcome(lambda: describe(from_dlpack("T", wide.T))),
            "complex": outcome(lambda: from_dlpack("X", np.zeros(2, np.complex64))),
        }
