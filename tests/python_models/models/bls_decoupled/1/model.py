import json

import numpy as np
import triton_python_backend_utils as pb_utils


def told(answer):
    """The content of an answer, as plain values."""
    if answer.has_error():
        return ["error", answer.error().message()]
    return [
        [tensor.name(), tensor.as_numpy().astype(np.int32).ravel().tolist()]
        for tensor in answer.output_tensors()
        if tensor.name() != "TEXT"
    ]


class TritonPythonModel:
    """Reads the responses of a decoupled model in all ways that an iterator allows."""

    def execute(self, requests):
        responses = []
        for request in requests:
            how = pb_utils.get_input_tensor_by_name(request, "HOW").as_numpy()[0].decode()
            report = getattr(self, how)(pb_utils.get_input_tensor_by_name(request, "COUNT"))
            text = np.array([json.dumps(report)], dtype=np.object_)
            responses.append(pb_utils.InferenceResponse([pb_utils.Tensor("REPORT", text)]))
        return responses

    def call(self, count, how="final_alone"):
        return pb_utils.InferenceRequest(
            model_name="repeat_numbers",
            requested_output_names=["INDEX"],
            inputs=[
                pb_utils.Tensor("COUNT", count.as_numpy()),
                pb_utils.Tensor("HOW", np.array([how], dtype=np.object_)),
            ],
        )

    def all(self, count):
        return [told(answer) for answer in self.call(count).exec(decoupled=True)]

    def last_with_final(self, count):
        answers = self.call(count, "final_with_last").exec(decoupled=True)
        return [told(answer) for answer in answers]

    def twice(self, count):
        answers = self.call(count).exec(decoupled=True)
        return [[told(answer) for answer in answers] for _ in range(2)]

    def broken_off(self, count):
        answers = self.call(count).exec(decoupled=True)
        first = []
        for answer in answers:
            first.append(told(answer))
            if len(first) == 2:
                break
        return [first, [told(answer) for answer in answers]]

    def by_hand(self, count):
        answers = iter(self.call(count).exec(decoupled=True))
        found = []
        while True:
            try:
                found.append(told(next(answers)))
            except StopIteration as end:
                return [found, str(end)]

    def dropped(self, count):
        answers = self.call(count).exec(decoupled=True)
        first = told(next(iter(answers)))
        del answers
        return first

    def with_errors(self, count):
        answers = self.call(count, "error_then_final").exec(decoupled=True)
        return [told(answer) for answer in answers]

    def without_the_flag(self, count):
        return told(self.call(count).exec())

    def of_a_plain_model(self, count):
        ones = np.ones(4, np.float32)
        call = pb_utils.InferenceRequest(
            model_name="add_sub",
            requested_output_names=["SUM"],
            inputs=[pb_utils.Tensor(name, ones) for name in ("INPUT0", "INPUT1")],
        )
        return [told(answer) for answer in call.exec(decoupled=True)]
