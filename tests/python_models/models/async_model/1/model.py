import asyncio
import threading

import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    """execute is a coroutine."""

    async def execute(self, requests):
        return await asyncio.gather(*(self.one(request) for request in requests))

    async def one(self, request):
        how = pb_utils.get_input_tensor_by_name(request, "HOW").as_numpy()[0][0].decode()
        await asyncio.sleep(0.001)
        if how == "raise":
            raise RuntimeError("in a coroutine")
        if how == "thread":
            main = threading.current_thread() is threading.main_thread()
            text = f"main thread: {main}, {asyncio.get_running_loop().is_running()}"
        else:
            text = how.upper()
        return pb_utils.InferenceResponse(
            [pb_utils.Tensor("REPORT", np.array([[text]], dtype=np.object_))]
        )
