"""A model never runs on more threads than there are processors, unless it is told to."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import tritonclient.http

from frameworks import pytorch_networks as networks
from frameworks.pytorch_networks import add_model, config_text
from support.nereid import start_nereid
from support.process_memory import resident_bytes
from support.repository import ModelRepository
from support.server_process import ServerProcess
from support.stage import backend_directory

pytestmark = pytest.mark.skipif(
    not (backend_directory() / "pytorch").exists() or not networks.PROGRAM.exists(),
    reason="the PyTorch backend is not staged: make frameworks-test",
)
