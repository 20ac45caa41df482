import asyncio

import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    """A decoupled model that reads three decoupled answers at once and streams their sums."""

    async def execute(self, requests):
        for request in requests:
            sender = request.get_response_sender()
            count = pb_utils.get_input_tensor_by_name(request, "COUNT").as_numpy()
            readers = await asyncio.gather(
                *(self.call(count).async_exec(decoupled=True) for _ in range(3))
            )
            for answers in zip(*readers):
                total = sum(
                    int(tensor.as_numpy()[0])
                    for answer in answers
                    for tensor in answer.output_tensors()
                )
                if any(not answer.output_tensors() for answer in answers):
                    continue
                sender.send(
                    pb_utils.InferenceResponse(
                        [pb_utils.Tensor("TOTAL", np.array([total], np.int32))]
                    )
                )
            sender.send(flags=pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL)

    def call(self, count):
        return pb_utils.InferenceRequest(
            model_name="repeat_numbers",
            requested_output_names=["INDEX"],
            inputs=[
                pb_utils.Tensor("COUNT", count),
                pb_utils.Tensor("HOW", np.array(["final_alone"], dtype=np.object_)),
            ],
        )
