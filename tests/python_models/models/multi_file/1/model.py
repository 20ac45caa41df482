import json

import numpy as np
import triton_python_backend_utils as pb_utils

import helper_plain
from .helper_relative import shout
from .parts.deep import DEPTH


class TritonPythonModel:
    """Consists of several files."""

    def execute(self, requests):
        with open(f"{pb_utils.get_model_dir()}/words.txt", encoding="utf-8") as words:
            report = [helper_plain.whisper("Hello"), shout("hello"), DEPTH, words.read()]
        report += [helper_plain.__name__, shout.__module__]
        text = np.array([json.dumps(report)], dtype=np.object_)
        return [
            pb_utils.InferenceResponse([pb_utils.Tensor("REPORT", text)]) for _ in requests
        ]
