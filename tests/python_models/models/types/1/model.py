import json

import numpy as np
import triton_python_backend_utils as pb_utils


def dtype(tensor):
    try:
        return int(tensor.triton_dtype())
    except TypeError:
        return "TypeError"


class TritonPythonModel:
    """Returns its input, of any type that numpy has, and a description of it."""

    def execute(self, requests):
        responses = []
        for request in requests:
            outputs, report = [], {}
            for tensor in request.inputs():
                array = tensor.as_numpy()
                report[tensor.name()] = {
                    "triton_dtype": dtype(tensor),
                    "of numpy": pb_utils.numpy_to_triton_type(array.dtype.type),
                    "numpy": str(array.dtype),
                    "shape": tensor.shape(),
                    "on the CPU": tensor.is_cpu(),
                    "writeable": array.flags.writeable,
                    "contiguous": array.flags.c_contiguous,
                    "same object again": tensor.as_numpy() is array,
                }
                name = tensor.name().replace("IN_", "OUT_")
                outputs.append(pb_utils.Tensor(name, array[::-1]))
            outputs.append(
                pb_utils.Tensor("REPORT", np.array([json.dumps(report)], dtype=np.object_))
            )
            responses.append(pb_utils.InferenceResponse(outputs))
        return responses
