# SPDX-License-Identifier: Apache-2.0
"""The numbers of the protocol: the process has those of backends/python/ipc/protocol.h, which this
server, written in Python, knows by itself."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

from support.stage import backend_directory

from . import fake_server

PROTOCOL = Path(__file__).resolve().parents[2] / "backends" / "python" / "ipc" / "protocol.h"
RUNTIME = backend_directory() / "python" / "runtime"

NUMBERS_OF_MODULE = """
import json, _nereid_native as native
print(json.dumps({name: value for name, value in vars(native).items()
                  if name.startswith(("COMMAND_", "CALL_", "FIELD_"))}))
"""

# The fields of a request that a model has made, by the names of their places.
FIELDS_OF_REQUEST = """
import json, sys
import _nereid_native as native
from _nereid.requests import InferenceRequest
fields = InferenceRequest(
    request_id="the id", correlation_id=21, flags=22, timeout=23, parameters={"key": 24},
    inputs=[], requested_output_names=["Y"], model_name="m",
)._fields
print(json.dumps({name: fields[place] for name, place in vars(native).items()
                  if name.startswith("FIELD_") and place < len(fields)}))
"""


def output_of(python: str, program: str) -> dict[str, Any]:
    done = subprocess.run(
        [python, "-c", program],
        env={**os.environ, "PYTHONPATH": str(RUNTIME)},
        stdout=subprocess.PIPE,
        check=True,
    )
    return json.loads(done.stdout)


def test_the_process_has_the_numbers_of_the_header(python: str) -> None:
    header = PROTOCOL.read_text()
    expected = {}
    for listing, prefix in {
        "COMMANDS": "COMMAND",
        "POSTS": "CALL",
        "QUESTIONS": "CALL",
        "REQUEST_FIELDS": "FIELD",
    }.items():
        start = header.index(f"#define NEREID_PYTHON_{listing}(X)")
        lines = header[start : header.index("\n\n", start)]
        for name, number in re.findall(r"X\(\w+, (\w+), (\d+)\)", lines):
            expected[f"{prefix}_{name}"] = int(number)
    assert len(expected) == 7 + 7 + 12 + 12
    assert output_of(python, NUMBERS_OF_MODULE) == expected


def test_this_server_and_the_process_mean_the_same(python: str) -> None:
    numbers = output_of(python, NUMBERS_OF_MODULE)
    known = {name: number for name, number in numbers.items() if not name.startswith("FIELD_")}
    assert known == {name: getattr(fake_server, name.split("_", 1)[1]) for name in known}


def test_a_request_of_the_model_has_each_field_at_its_place(python: str) -> None:
    assert output_of(python, FIELDS_OF_REQUEST) == {
        "FIELD_HANDLE": 0,
        "FIELD_REQUEST_ID": "the id",
        "FIELD_CORRELATION_ID": 21,
        "FIELD_FLAGS": 22,
        "FIELD_TIMEOUT": 23,
        "FIELD_PARAMETERS": '{"key": 24}',
        "FIELD_REQUESTED": ["Y"],
        "FIELD_INPUTS": [],
        "FIELD_TRACE": 0,
        "FIELD_TRACE_CONTEXT": None,
        "FIELD_PRIORITY": 0,
    }
