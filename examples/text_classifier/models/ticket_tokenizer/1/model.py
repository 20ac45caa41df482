# SPDX-License-Identifier: Apache-2.0
"""Turns texts into the numbers of their words, by a vocabulary in the model's folder."""

import re
from pathlib import Path

import numpy as np
import triton_python_backend_utils as pb_utils

TOKENS = 32
PADDING, UNKNOWN = 0, 1
WORDS = re.compile(r"[a-z']+")


class TritonPythonModel:
    def initialize(self, args):
        path = Path(args["model_repository"]) / "vocabulary.txt"
        words = path.read_text(encoding="utf-8").splitlines()
        self.numbers = {word: number for number, word in enumerate(words)}

    def tokens_of(self, text):
        words = WORDS.findall(text.lower())[:TOKENS]
        numbers = [self.numbers.get(word, UNKNOWN) for word in words]
        return numbers + [PADDING] * (TOKENS - len(numbers))

    def execute(self, requests):
        responses = []
        for request in requests:
            texts = pb_utils.get_input_tensor_by_name(request, "TEXT").as_numpy().ravel()
            try:
                tokens = [self.tokens_of(text.decode("utf-8")) for text in texts]
            except UnicodeDecodeError as error:
                # This request fails, and the others of the batch do not.
                failed = pb_utils.TritonError(f"the text is not UTF-8: {error}")
                responses.append(pb_utils.InferenceResponse(error=failed))
                continue
            output = pb_utils.Tensor("TOKENS", np.array(tokens, np.int64))
            responses.append(pb_utils.InferenceResponse([output]))
        return responses
