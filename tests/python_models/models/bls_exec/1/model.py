import json

import numpy as np
import triton_python_backend_utils as pb_utils

NAMES = {"add_sub": ("INPUT0", "INPUT1", "SUM"), "pipeline": ("A", "B", "TWICE_A")}


class TritonPythonModel:
    """Calls another model, and waits for the answer."""

    def execute(self, requests):
        responses = []
        for request in requests:
            model = pb_utils.get_input_tensor_by_name(request, "MODEL").as_numpy()[0].decode()
            first, second, output = NAMES[model]
            call = pb_utils.InferenceRequest(
                model_name=model,
                requested_output_names=[output],
                inputs=[
                    pb_utils.Tensor(name, pb_utils.get_input_tensor_by_name(request, own).as_numpy())
                    for name, own in ((first, "A"), (second, "B"))
                ],
                request_id="called",
            )
            answer = call.exec()
            again = call.exec()
            if answer.has_error():
                raise pb_utils.TritonModelException(answer.error().message())
            tensor = pb_utils.get_output_tensor_by_name(answer, output)
            report = {
                "values": tensor.as_numpy().tolist(),
                "again": again.output_tensors()[0].as_numpy().tolist(),
                "outputs": [one.name() for one in answer.output_tensors()],
                "on the CPU": tensor.is_cpu(),
                "error": answer.error(),
            }
            text = np.array([json.dumps(report)], dtype=np.object_)
            responses.append(pb_utils.InferenceResponse([pb_utils.Tensor("REPORT", text)]))
        return responses
