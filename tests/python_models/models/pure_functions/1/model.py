import json

import numpy as np
import triton_python_backend_utils as pb_utils


def attempt(action):
    try:
        return repr(action())
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def kind(dtype):
    return dtype and np.dtype(dtype).str


CONFIG = {
    "input": [{"name": "IN", "dims": [1]}],
    "output": [{"name": "OUT", "dims": [2]}],
}
PAIR = [b"a\x00", "grüße"]


class TritonPythonModel:
    """Tests the functions of the module that are plain Python."""

    def execute(self, requests):
        types = [f"TYPE_{name}" for name in ("BOOL", "UINT8", "INT64", "FP16", "STRING", "BF16")]
        text = np.array(PAIR, dtype=np.object_)
        serialized = pb_utils.serialize_byte_tensor(text)
        report = {
            "strings to numpy": [
                attempt(lambda name=name: kind(pb_utils.triton_string_to_numpy(name)))
                for name in types
            ],
            "table": sorted(pb_utils.TRITON_STRING_TO_NUMPY),
            "numbers to numpy": [
                attempt(lambda n=n: kind(pb_utils.triton_to_numpy_type(n))) for n in range(16)
            ],
            "numpy to numbers": [
                attempt(lambda t=t: pb_utils.numpy_to_triton_type(t))
                for t in (bool, np.bool_, np.int8, np.float16, np.object_, np.bytes_, np.str_, str)
            ],
            "input": pb_utils.get_input_config_by_name(CONFIG, "IN"),
            "input unknown": pb_utils.get_input_config_by_name(CONFIG, "OUT"),
            "output": pb_utils.get_output_config_by_name(CONFIG, "OUT"),
            "no inputs": attempt(lambda: pb_utils.get_input_config_by_name({}, "IN")),
            "input tensor unknown": pb_utils.get_input_tensor_by_name(requests[0], "NONE"),
            "output tensor unknown": pb_utils.get_output_tensor_by_name(
                pb_utils.InferenceResponse([]), "NONE"
            ),
            "serialized": attempt(lambda: bytes(serialized)),
            "serialized empty": attempt(
                lambda: pb_utils.serialize_byte_tensor(np.array([], dtype=np.object_))
            ),
            "serialized numbers": attempt(
                lambda: pb_utils.serialize_byte_tensor(np.zeros(2, np.int32))
            ),
            "serialized bytes": attempt(
                lambda: bytes(pb_utils.serialize_byte_tensor(np.array([b"ab", b"c"])))
            ),
            "deserialized": attempt(
                lambda: pb_utils.deserialize_bytes_tensor(bytes(serialized)).tolist()
            ),
            "deserialized nothing": attempt(
                lambda: pb_utils.deserialize_bytes_tensor(b"").tolist()
            ),
            "deserialized half": attempt(
                lambda: pb_utils.deserialize_bytes_tensor(b"\x05\x00\x00\x00ab").tolist()
            ),
            "decoupled without the member": attempt(
                lambda: pb_utils.using_decoupled_model_transaction_policy(
                    {"model_transaction_policy": {}}
                )
            ),
            "flags": [
                pb_utils.TRITONSERVER_REQUEST_FLAG_SEQUENCE_START,
                pb_utils.TRITONSERVER_REQUEST_FLAG_SEQUENCE_END,
                pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL,
                pb_utils.TRITONSERVER_REQUEST_RELEASE_ALL,
                pb_utils.TRITONSERVER_REQUEST_RELEASE_RESCHEDULE,
            ],
            "there": [
                hasattr(pb_utils, name)
                for name in ("TritonError", "TritonModelException", "Tensor", "InferenceRequest")
                + ("InferenceResponse", "Logger", "PreferredMemory", "MetricFamily")
                + ("load_model", "unload_model", "is_model_ready", "get_model_dir", "ModelConfig")
                + ("TRITONSERVER_MEMORY_GPU", "TRITONSERVER_MEMORY_CPU")
            ],
        }
        answer = np.array([json.dumps(report)], dtype=np.object_)
        return [
            pb_utils.InferenceResponse([pb_utils.Tensor("REPORT", answer)]) for _ in requests
        ]
