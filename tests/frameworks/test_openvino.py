"""Models through OpenVINO: the same answers as from the runtime alone."""

from __future__ import annotations

import itertools
import os
import re
import shutil
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest
import tritonclient.grpc
import tritonclient.http
from tritonclient.utils import InferenceServerException, np_to_triton_dtype

from conftest import ServerFactory
from frameworks import openvino_networks as networks
from support import raw_http
from support.nereid import start_nereid
from support.process_memory import resident_bytes
from support.repository import ModelRepository, parameters_text, tensor_text
from support.server_process import ServerProcess
from support.stage import backend_directory

pytestmark = [
    pytest.mark.skipif(
        not (backend_directory() / "openvino").is_dir(),
        reason="the backend openvino is not staged: make stage BACKENDS=openvino",
    ),
    pytest.mark.skipif(not networks.WHEEL.is_dir(), reason="the wheel is not in build/deps"),
]

# So that server and runtime compute the same: the default depends on the processor.
F32 = {"INFERENCE_PRECISION_HINT": "f32"}
TYPES = {
    "boolean": "BOOL", "u8": "UINT8", "u16": "UINT16", "u32": "UINT32", "u64": "UINT64",
    "i8": "INT8", "i16": "INT16", "i32": "INT32", "i64": "INT64",
    "f16": "FP16", "bf16": "BF16", "f32": "FP32", "f64": "FP64", "string": "BYTES",
}  # fmt: skip
