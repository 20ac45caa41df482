import json

import numpy as np
import triton_python_backend_utils as pb_utils

START = pb_utils.TRITONSERVER_REQUEST_FLAG_SEQUENCE_START
END = pb_utils.TRITONSERVER_REQUEST_FLAG_SEQUENCE_END


class TritonPythonModel:
    """Sends a sequence of BLS requests, one after the other."""

    def execute(self, requests):
        responses = []
        for request in requests:
            values = pb_utils.get_input_tensor_by_name(request, "VALUES").as_numpy().tolist()
            report = [
                self.step(value, (START if i == 0 else 0) | (END if i == len(values) - 1 else 0))
                for i, value in enumerate(values)
            ]
            report.append(self.step(1, 0))
            text = np.array([json.dumps(report)], dtype=np.object_)
            responses.append(pb_utils.InferenceResponse([pb_utils.Tensor("REPORT", text)]))
        return responses

    def step(self, value, flags):
        call = pb_utils.InferenceRequest(
            model_name="sequence_sum",
            correlation_id=4711,
            requested_output_names=["TOTAL", "CONTROLS"],
            inputs=[pb_utils.Tensor("VALUE", np.array([[value]], np.int32))],
        )
        call.set_flags(flags)
        answer = call.exec()
        if answer.has_error():
            return answer.error().message()
        controls = pb_utils.get_output_tensor_by_name(answer, "CONTROLS").as_numpy()
        return [
            int(pb_utils.get_output_tensor_by_name(answer, "TOTAL").as_numpy()[0][0]),
            json.loads(controls[0][0]),
        ]
