import json

import numpy as np
import triton_python_backend_utils as pb_utils

ONES = np.ones(4, np.float32)


def call(model, inputs, outputs, **more):
    return pb_utils.InferenceRequest(
        model_name=model,
        requested_output_names=outputs,
        inputs=[pb_utils.Tensor(name, array) for name, array in inputs.items()],
        **more,
    )


def told(answer):
    error = answer.error()
    return [answer.has_error(), error and error.message(), len(answer.output_tensors())]


def attempt(action):
    try:
        return action()
    except Exception as error:
        return f"{type(error).__name__}: {error}"


class TritonPythonModel:
    """Calls that fail. They raise an exception only if BLS is not allowed at that point."""

    def initialize(self, args):
        both = {"INPUT0": ONES, "INPUT1": ONES}
        self.early = attempt(lambda: told(call("add_sub", both, ["SUM"]).exec()))

    def execute(self, requests):
        responses = []
        for request in requests:
            how = pb_utils.get_input_tensor_by_name(request, "HOW").as_numpy()[0].decode()
            report = attempt(getattr(self, how))
            text = np.array([json.dumps(report)], dtype=np.object_)
            responses.append(pb_utils.InferenceResponse([pb_utils.Tensor("REPORT", text)]))
        return responses

    def in_initialize(self):
        return self.early

    def unknown_model(self):
        return told(call("nobody", {"X": ONES}, ["Y"]).exec())

    def unknown_version(self):
        both = {"INPUT0": ONES, "INPUT1": ONES}
        return told(call("add_sub", both, ["SUM"], model_version=7).exec())

    def not_loaded(self):
        return told(call("raises_in_initialize", {"X": ONES}, ["Y"]).exec())

    def too_few_inputs(self):
        return told(call("add_sub", {"INPUT0": ONES}, ["SUM"]).exec())

    def unknown_input(self):
        return told(call("add_sub", {"INPUT0": ONES, "OTHER": ONES}, ["SUM"]).exec())

    def wrong_type(self):
        both = {"INPUT0": ONES, "INPUT1": np.ones(4, np.int64)}
        return told(call("add_sub", both, ["SUM"]).exec())

    def wrong_shape(self):
        both = {"INPUT0": ONES, "INPUT1": np.ones(5, np.float32)}
        return told(call("add_sub", both, ["SUM"]).exec())

    def unknown_output(self):
        return told(call("add_sub", {"INPUT0": ONES, "INPUT1": ONES}, ["MORE"]).exec())

    def no_outputs_named(self):
        answer = call("add_sub", {"INPUT0": ONES, "INPUT1": ONES}, []).exec()
        return sorted(tensor.name() for tensor in answer.output_tensors())

    def raising_model(self):
        how = {"HOW": np.array(["raise"], dtype=np.object_)}
        return told(call("execute_fails", how, ["VALUE"]).exec())

    def error_of_a_request(self):
        how = {"CODE": np.array([["NOT_FOUND"]], dtype=np.object_)}
        return told(call("error_codes", how, ["CODE_OUT"]).exec())

    def no_sequence(self):
        value = {"VALUE": np.array([[1]], np.int32)}
        return told(call("sequence_sum", value, ["TOTAL"]).exec())

    def async_without_a_loop(self):
        both = {"INPUT0": ONES, "INPUT1": ONES}
        return str(call("add_sub", both, ["SUM"]).async_exec())

    def bad_timeout(self):
        both = {"INPUT0": ONES, "INPUT1": ONES}
        return attempt(lambda: told(call("add_sub", both, ["SUM"], timeout=1).exec()))
