import asyncio

import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    """Coroutines of several requests take turns."""

    def initialize(self, args):
        self.running = 0
        self.met = None

    async def execute(self, requests):
        await asyncio.gather(*(self.one(request) for request in requests))

    async def one(self, request):
        sender = request.get_response_sender()
        count = int(pb_utils.get_input_tensor_by_name(request, "COUNT").as_numpy()[0])
        if count < 0:
            await self.meet()
            count = -count
        for index in range(count):
            await asyncio.sleep(0)
            sender.send(
                pb_utils.InferenceResponse(
                    [pb_utils.Tensor("INDEX", np.array([index], np.int32))]
                )
            )
        sender.send(flags=pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL)

    async def meet(self):
        """Returns when another request has arrived too."""
        if self.met is None:
            self.met = asyncio.Event()
        self.running += 1
        if self.running == 2:
            self.met.set()
        await self.met.wait()
