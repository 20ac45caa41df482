import numpy as np
import triton_python_backend_utils as pb_utils

ARRAYS = {
    "as configured": np.zeros(2, np.float32),
    "too long": np.zeros(3, np.float32),
    "other rank": np.zeros((2, 1), np.float32),
    "other type": np.zeros(2, np.int64),
    "scalar": np.array(1.5, np.float32),
    "text": np.array([b"a", b"b"], dtype=np.object_),
}


class TritonPythonModel:
    """Returns outputs that differ from the configuration."""

    def execute(self, requests):
        responses = []
        for request in requests:
            how = pb_utils.get_input_tensor_by_name(request, "HOW").as_numpy()[0].decode()
            if how == "twice":
                tensors = [pb_utils.Tensor("OUTPUT", ARRAYS["as configured"]) for _ in range(2)]
            elif how == "nothing":
                tensors = []
            else:
                tensors = [pb_utils.Tensor("OUTPUT", ARRAYS[how])]
            responses.append(pb_utils.InferenceResponse(tensors))
        return responses
