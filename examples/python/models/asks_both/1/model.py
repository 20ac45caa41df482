# SPDX-License-Identifier: Apache-2.0
"""Asks another model twice at the same time."""

import asyncio

import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    async def execute(self, requests):
        return await asyncio.gather(*(self.answer(request) for request in requests))

    async def answer(self, request):
        a = pb_utils.get_input_tensor_by_name(request, "A").as_numpy()
        answers = await asyncio.gather(self.ask("SUM", a), self.ask("DIFFERENCE", a))
        tensors = []
        for name, theirs, answer in zip(["TWICE", "NOTHING"], ["SUM", "DIFFERENCE"], answers):
            if answer.has_error():
                return pb_utils.InferenceResponse(error=answer.error())
            values = pb_utils.get_output_tensor_by_name(answer, theirs).as_numpy()
            tensors.append(pb_utils.Tensor(name, values))
        return pb_utils.InferenceResponse(tensors)

    def ask(self, output, a):
        call = pb_utils.InferenceRequest(
            model_name="add_sub",
            inputs=[pb_utils.Tensor("A", a), pb_utils.Tensor("B", a)],
            requested_output_names=[output],
        )
        return call.async_exec()  # to be awaited
