import json
import os
import time

import numpy as np
import triton_python_backend_utils as pb_utils

SOURCE = b"""
import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def execute(self, requests):
        one = pb_utils.Tensor("Y", np.array([17], np.int32))
        return [pb_utils.InferenceResponse([one]) for _ in requests]
"""
TENSORS = {
    "input": [{"name": "X", "data_type": "TYPE_INT32", "dims": [1]}],
    "output": [{"name": "Y", "data_type": "TYPE_INT32", "dims": [1]}],
}


def attempt(action):
    try:
        return action()
    except TypeError:
        return "TypeError"
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def ask(model):
    call = pb_utils.InferenceRequest(
        model_name=model,
        requested_output_names=["Y"],
        inputs=[pb_utils.Tensor("X", np.array([4], np.int32))],
    )
    answer = call.exec()
    if answer.has_error():
        return answer.error().message()
    return answer.output_tensors()[0].as_numpy().tolist()


def until_not(ready):
    """Waits until a model is unloaded, because unload_model only starts that."""
    for _ in range(500):
        if (answer := attempt(ready)) is not True:
            break
        time.sleep(0.01)
    return answer


class TritonPythonModel:
    """Loads and unloads other models."""

    def initialize(self, args):
        self.early = attempt(lambda: pb_utils.is_model_ready("add_sub"))

    def execute(self, requests):
        responses = []
        for request in requests:
            how = pb_utils.get_input_tensor_by_name(request, "HOW").as_numpy()[0].decode()
            text = json.dumps(getattr(self, how)())
            responses.append(
                pb_utils.InferenceResponse(
                    [pb_utils.Tensor("REPORT", np.array([text], dtype=np.object_))]
                )
            )
        return responses

    def life(self):
        ready = lambda: pb_utils.is_model_ready("controlled")
        report = [self.early, attempt(ready)]
        report.append(attempt(lambda: pb_utils.load_model(model_name="controlled")))
        report += [attempt(ready), ask("controlled")]
        report.append(attempt(lambda: pb_utils.unload_model(model_name="controlled")))
        report += [until_not(ready), ask("controlled")]
        return report

    def with_a_configuration(self):
        config = {"backend": "python", "parameters": {"add": {"string_value": "100"}}, **TENSORS}
        report = [attempt(lambda: pb_utils.load_model("controlled", config=json.dumps(config)))]
        report.append(ask("controlled"))
        report.append(attempt(lambda: pb_utils.unload_model("controlled", unload_dependents=True)))
        return report

    def with_files(self):
        config = json.dumps({"backend": "python", **TENSORS})
        files = {"file:1/model.py": SOURCE}
        report = [attempt(lambda: pb_utils.load_model("from_files", config=config, files=files))]
        report.append(ask("from_files"))
        report.append(attempt(lambda: pb_utils.unload_model("from_files")))
        return report

    def mistakes(self):
        return {
            "load unknown": attempt(lambda: pb_utils.load_model("nobody")),
            "unload unknown": attempt(lambda: pb_utils.unload_model("nobody")),
            "ready unknown": attempt(lambda: pb_utils.is_model_ready("nobody")),
            "ready version": attempt(lambda: pb_utils.is_model_ready("add_sub", "1")),
            "ready no such version": attempt(lambda: pb_utils.is_model_ready("add_sub", "9")),
            "ready text": attempt(lambda: pb_utils.is_model_ready("add_sub", "one")),
            "ready negative": attempt(lambda: pb_utils.is_model_ready("add_sub", "-2")),
            "ready number": attempt(lambda: pb_utils.is_model_ready("add_sub", 1)),
            "files a list": attempt(lambda: pb_utils.load_model("x", files=["a"])),
            "files of text": attempt(lambda: pb_utils.load_model("x", files={"file:1/a": "b"})),
            "files without configuration": attempt(
                lambda: pb_utils.load_model("x", files={"file:1/a": b"b"})
            ),
            "configuration no JSON": attempt(lambda: pb_utils.load_model("x", config="{")),
            "load broken": attempt(lambda: pb_utils.load_model("raises_in_initialize")),
        }

    def model_dir(self):
        here = pb_utils.get_model_dir()
        return [here, os.path.samefile(here, os.path.dirname(__file__))]
