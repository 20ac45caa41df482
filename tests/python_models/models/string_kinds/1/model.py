import json

import numpy as np
import triton_python_backend_utils as pb_utils


def attempt(array):
    try:
        tensor = pb_utils.Tensor("X", array)
        back = tensor.as_numpy()
        return [tensor.shape(), str(back.dtype), repr(back.tolist())]
    except Exception as error:
        return f"{type(error).__name__}: {error}"


class TritonPythonModel:
    """The kinds of text that numpy has: bytes of a fixed width, unicode, and anything in objects."""

    def execute(self, requests):
        responses = []
        for request in requests:
            text = pb_utils.get_input_tensor_by_name(request, "TEXT").as_numpy()
            unicode = np.array(["grüße", "ß"])
            mixed = np.array([b"raw\x00\xff", "grüße", 17, None, 2.5, ""], dtype=np.object_)
            table = np.array([[b"a", b"b", b"c"], [b"d", b"e", b"f"]], dtype=np.object_)
            report = {
                "unicode": attempt(unicode),
                "unicode as object": attempt(unicode.astype(np.object_)),
                "bytes": attempt(np.array([b"abc", b"d\x00"])),
                "no bytes": attempt(np.array([], dtype=np.object_)),
                "zero of two dims": attempt(np.empty((0, 2), dtype=np.object_)),
                "input": [text.shape, str(text.dtype), text.flags.writeable],
            }
            responses.append(
                pb_utils.InferenceResponse(
                    [
                        pb_utils.Tensor("FIXED", text.astype(np.bytes_)),
                        pb_utils.Tensor("MIXED", mixed),
                        pb_utils.Tensor("STRIDED", table.T),
                        pb_utils.Tensor(
                            "REPORT", np.array([json.dumps(report)], dtype=np.object_)
                        ),
                    ]
                )
            )
        return responses
