# SPDX-License-Identifier: Apache-2.0
"""Says again what it was told, word by word. A real model would turn the messages into a prompt here,
by the chat template of its tokenizer: tokenizer.apply_chat_template(messages, ...)."""

import json
import threading

import numpy as np
import triton_python_backend_utils as pb_utils


def value(request, name, default):
    tensor = pb_utils.get_input_tensor_by_name(request, name)
    return default if tensor is None else tensor.as_numpy()[0]


class TritonPythonModel:
    def execute(self, requests):
        for request in requests:
            text = value(request, "text_input", b"").decode()
            messages = json.loads(value(request, "messages", b"null"))
            if messages is not None:
                content = messages[-1].get("content") or ""
                parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
                text = " ".join(part["text"] for part in parts if part["type"] == "text")
            sampling = json.loads(value(request, "sampling_parameters", b"{}"))
            sender = request.get_response_sender()
            # A thread of its own, so that the next request need not wait.
            arguments = (sender, text.split(), sampling.get("max_tokens", 100))
            threading.Thread(target=self.answer, args=arguments, daemon=True).start()
        return None

    def answer(self, sender, words, limit):
        said = words[:limit]
        for i, word in enumerate(said):
            if sender.is_cancelled():  # the client has left
                break
            last = i + 1 == len(said)
            reason = ("length" if len(words) > limit else "stop") if last else ""
            sender.send(
                pb_utils.InferenceResponse(
                    [
                        pb_utils.Tensor("text_output", np.array([word + " " * (not last)], object)),
                        pb_utils.Tensor("finish_reason", np.array([reason], object)),
                        pb_utils.Tensor("num_input_tokens", np.array([len(words)], np.uint32)),
                        pb_utils.Tensor("num_output_tokens", np.array([1], np.uint32)),
                    ]
                )
            )
        sender.send(flags=pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL)
