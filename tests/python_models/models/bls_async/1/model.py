import asyncio

import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    """Sends eight BLS requests at once."""

    async def execute(self, requests):
        responses = []
        for request in requests:
            values = pb_utils.get_input_tensor_by_name(request, "VALUES").as_numpy()
            calls = [self.call(values, np.full(4, number, np.float32)) for number in range(8)]
            answers = await asyncio.gather(*(call.async_exec() for call in calls))
            for answer in answers:
                if answer.has_error():
                    raise pb_utils.TritonModelException(answer.error().message())
            sums = [answer.output_tensors()[0].as_numpy() for answer in answers]
            responses.append(
                pb_utils.InferenceResponse([pb_utils.Tensor("SUMS", np.stack(sums))])
            )
        return responses

    def call(self, a, b):
        return pb_utils.InferenceRequest(
            model_name="add_sub",
            requested_output_names=["SUM"],
            inputs=[pb_utils.Tensor("INPUT0", a), pb_utils.Tensor("INPUT1", b)],
        )
