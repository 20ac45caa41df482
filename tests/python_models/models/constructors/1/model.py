import json

import numpy as np
import triton_python_backend_utils as pb_utils


def attempt(action):
    try:
        result = action()
    except TypeError:
        return "TypeError"  # the rest names C++ types
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return result if isinstance(result, (str, int, list, dict, type(None))) else "made"


def tensor(name="X", array=None):
    return pb_utils.Tensor(name, np.zeros(2, np.float32) if array is None else array)


def request(**more):
    arguments = {"model_name": "m", "inputs": [tensor()], "requested_output_names": ["Y"]}
    made = pb_utils.InferenceRequest(**{**arguments, **more})
    return [
        made.request_id(),
        made.correlation_id(),
        made.flags(),
        made.timeout(),
        json.loads(made.parameters()),
        sorted(made.requested_output_names()),
        [one.name() for one in made.inputs()],
    ]


def response(*arguments, **more):
    made = pb_utils.InferenceResponse(*arguments, **more)
    error = made.error()
    return [
        [one.name() for one in made.output_tensors()],
        made.has_error(),
        error and [error.message(), str(error.code()).split(".")[-1]],
    ]


def error(*arguments):
    made = pb_utils.TritonError(*arguments)
    return [made.message(), str(made.code()).split(".")[-1]]


class TritonPythonModel:
    """Creates every kind of object, with right and wrong arguments."""

    def execute(self, requests):
        asked = requests[0].inputs()[0].as_numpy()[0].decode()
        report = {what: attempt(action) for what, action in getattr(self, asked)().items()}
        text = np.array([json.dumps(report)], dtype=np.object_)
        return [
            pb_utils.InferenceResponse([pb_utils.Tensor("REPORT", text)]) for _ in requests
        ]

    def tensors(self):
        values = np.arange(6, dtype=np.int16).reshape(2, 3)
        return {
            "plain": lambda: tensor().name(),
            "no name": lambda: tensor(""),
            "name a number": lambda: tensor(3),
            "none": lambda: pb_utils.Tensor("X", None),
            "a list": lambda: pb_utils.Tensor("X", [1, 2]).shape(),
            "nothing": lambda: pb_utils.Tensor(),
            "unicode": lambda: tensor(array=np.array(["a"])),
            "time": lambda: tensor(array=np.array(["2020-01-01"], "datetime64[D]")),
            "complex": lambda: tensor(array=np.zeros(1, np.complex128)),
            "long double": lambda: tensor(array=np.zeros(1, np.longdouble)),
            "records": lambda: tensor(array=np.zeros(1, [("a", "i4")])),
            "big endian": lambda: tensor(array=np.array([1], ">i4")).as_numpy().tolist(),
            "transposed": lambda: tensor(array=values.T).as_numpy().tolist(),
            "reversed": lambda: tensor(array=values[::-1]).as_numpy().tolist(),
            "shape": lambda: tensor(array=values).shape(),
            "bool": lambda: tensor(array=np.array([True])).as_numpy().tolist(),
            "on the CPU": lambda: str(tensor().is_cpu()),
        }

    def requests(self):
        memory = pb_utils.PreferredMemory
        return {
            "plain": lambda: request(),
            "all": lambda: request(
                request_id="r",
                correlation_id=7,
                model_version=2,
                flags=3,
                timeout=9,
                preferred_memory=memory(pb_utils.TRITONSERVER_MEMORY_CPU, 0),
                parameters={"a": "b", "c": 1, "d": False},
            ),
            "text as correlation id": lambda: request(correlation_id="seven"),
            "correlation id of another type": lambda: request(correlation_id=1.5),
            "large correlation id": lambda: request(correlation_id=2**63 + 1),
            "negative correlation id": lambda: request(correlation_id=-1),
            "duplicate outputs": lambda: request(requested_output_names=["A", "A", "B"]),
            "no lists": lambda: request(inputs=[], requested_output_names=[]),
            "empty output name": lambda: request(requested_output_names=["A", ""]),
            "output none": lambda: request(requested_output_names=[None]),
            "outputs none": lambda: request(requested_output_names=None),
            "outputs a text": lambda: request(requested_output_names="AB"),
            "input none": lambda: request(request_id="r", inputs=[None]),
            "inputs none": lambda: request(inputs=None),
            "input a number": lambda: request(inputs=[3]),
            "no model": lambda: request(model_name=None),
            "empty model": lambda: request(model_name=""),
            "request id none": lambda: request(request_id=None),
            "flags none": lambda: request(flags=None),
            "timeout negative": lambda: request(timeout=-1),
            "parameters of a float": lambda: request(parameters={"a": 1.5}),
            "parameters of none": lambda: request(parameters={"a": None}),
            "parameters of a number": lambda: request(parameters={1: "a"}),
            "nothing": lambda: pb_utils.InferenceRequest(),
            "memory": lambda: memory(pb_utils.TRITONSERVER_MEMORY_GPU, 1),
            "memory of nothing": lambda: memory(),
            "memory a number": lambda: memory(0),
            "no getter of the model": lambda: pb_utils.InferenceRequest(
                model_name="m", inputs=[], requested_output_names=[]
            ).model_name(),
        }

    def responses(self):
        failed = pb_utils.TritonError("wrong")
        return {
            "empty": lambda: response(),
            "plain": lambda: response([tensor()]),
            "named": lambda: response(output_tensors=[tensor("A"), tensor("B")]),
            "error alone": lambda: response(error=failed),
            "both": lambda: response([tensor()], failed),
            "outputs none": lambda: response(None),
            "output none": lambda: response([None]),
            "output a number": lambda: response([1]),
            "output a dict": lambda: response({"X": tensor()}),
            "tuple": lambda: response((tensor(),)),
            "error a text": lambda: response([], "wrong"),
            "duplicates": lambda: response([tensor(), tensor()]),
        }

    def errors(self):
        code = pb_utils.TritonError
        names = ("UNKNOWN", "INTERNAL", "NOT_FOUND", "INVALID_ARG", "UNAVAILABLE")
        names += ("UNSUPPORTED", "ALREADY_EXISTS", "CANCELLED")
        return {
            **{name: (lambda name=name: error("m", getattr(code, name))) for name in names},
            "numbers": lambda: {name: int(getattr(code, name)) for name in names},
            "default": lambda: error("m"),
            "empty": lambda: error(""),
            "nothing": lambda: error(),
            "none": lambda: error(None),
            "code a number": lambda: error("m", 3),
            "code none": lambda: error("m", None),
            "read only": lambda: setattr(code, "INTERNAL", 3),
            "exception": lambda: str(pb_utils.TritonModelException("e")),
            "its base": lambda: pb_utils.TritonModelException.__mro__[1].__name__,
            "its name": lambda: pb_utils.TritonModelException.__name__,
        }
