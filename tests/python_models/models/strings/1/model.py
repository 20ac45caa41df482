import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    """Takes object arrays of bytes, and returns object arrays of bytes and of str."""

    def execute(self, requests):
        responses = []
        for request in requests:
            text = pb_utils.get_input_tensor_by_name(request, "TEXT").as_numpy()
            kinds = [f"{type(one).__name__} {len(one)}" for one in text.ravel()]
            backwards = np.array([one[::-1] for one in text.ravel()], dtype=np.object_)
            responses.append(
                pb_utils.InferenceResponse(
                    [
                        pb_utils.Tensor("REVERSED", backwards.reshape(text.shape)),
                        pb_utils.Tensor(
                            "KINDS", np.array(kinds, dtype=np.object_).reshape(text.shape)
                        ),
                    ]
                )
            )
        return responses
