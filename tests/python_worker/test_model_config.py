# SPDX-License-Identifier: Apache-2.0
"""ModelConfig and auto_complete_config: what is added, and the text of each contradiction."""

from __future__ import annotations

import json
from typing import Any

import pytest

from .conftest import StartWorker

CONFIG = {
    "name": "m",
    "max_batch_size": 4,
    "input": [{"name": "A", "data_type": "TYPE_FP32", "dims": [2], "optional": False}],
    "output": [{"name": "B", "data_type": "TYPE_INVALID", "dims": []}],
}


def completed(start: StartWorker, body: str, config: dict = CONFIG, returned: str = "c") -> Any:
    worker = start(
        f"""
        class TritonPythonModel:
            @staticmethod
            def auto_complete_config(c):
                {body}
                return {returned}
        """,
        initialize=False,
    )
    return worker.auto_complete(json.dumps(config))


def test_what_is_added(start: StartWorker) -> None:
    status, text = completed(
        start,
        "c.set_max_batch_size(8); c.set_dynamic_batching(); "
        "c.add_input({'name': 'A', 'data_type': 'TYPE_FP32', 'dims': [2]}); "
        "c.add_input({'name': 'C', 'data_type': 'TYPE_BOOL', 'dims': [-1], 'optional': True}); "
        "c.add_output({'name': 'B', 'data_type': 'TYPE_INT8', 'dims': [3]}); "
        "c.set_model_transaction_policy({'decoupled': True}); "
        "c.as_dict()['parameters'] = {}",
    )
    assert status == "ok"
    assert json.loads(text) == {
        "name": "m",
        "max_batch_size": 8,
        "dynamic_batching": {},
        "input": [
            {"name": "A", "data_type": "TYPE_FP32", "dims": [2], "optional": False},
            {"name": "C", "data_type": "TYPE_BOOL", "dims": [-1], "optional": True},
        ],
        "output": [{"name": "B", "data_type": "TYPE_INT8", "dims": [3]}],
        "model_transaction_policy": {"decoupled": True},
        "parameters": {},
    }


CONTRADICTIONS = [
    (
        "c.set_max_batch_size(2)",
        "configuration specified max_batch_size 4, but in auto-complete-config function for model "
        "'m' specified max_batch_size 2",
    ),
    (
        "c.add_input({'name': 'X', 'shape': []})",
        "input 'X' in auto-complete-config function for model 'm' contains property other than "
        "'name', 'data_type', 'dims' and 'optional'.",
    ),
    (
        "c.add_output({'name': 'X', 'optional': True})",
        "output 'X' in auto-complete-config function for model 'm' contains property other than "
        "'name', 'data_type' and 'dims'.",
    ),
    (
        "c.add_input({'dims': []})",
        "input in auto-complete-config function for model 'm' is missing 'name' property.",
    ),
    (
        "c.add_output({'name': 'X', 'dims': []})",
        "output 'X' in auto-complete-config function for model 'm' is missing 'data_type' property.",
    ),
    (
        "c.add_input({'name': 'X', 'data_type': 'TYPE_FP32'})",
        "input 'X' in auto-complete-config function for model 'm' is missing 'dims' property.",
    ),
    (
        "c.add_input({'name': 'A', 'data_type': 'TYPE_INT8', 'dims': [2]})",
        "unable to load model 'm', configuration expects datatype TYPE_FP32 for input 'A', model "
        "provides TYPE_INT8",
    ),
    (
        "c.add_input({'name': 'A', 'data_type': 'TYPE_FP32', 'dims': [2, -1]})",
        "model 'm', tensor 'A': the model expects dims [2, -1] but the model configuration "
        "specifies dims [2]",
    ),
    (
        "c.add_input({'name': 'A', 'data_type': 'TYPE_FP32', 'dims': [2], 'optional': True})",
        "model 'm', tensor 'A': the model expects optional True but the model configuration "
        "specifies optional False",
    ),
    (
        "c.set_model_transaction_policy({'other': 1})",
        "model transaction property in auto-complete-config function for model 'm' contains "
        "property other than 'decoupled'.",
    ),
    (
        "c.as_dict()['model_transaction_policy'] = {'decoupled': False}; "
        "c.set_model_transaction_policy({'decoupled': True})",
        "trying to change decoupled property in auto-complete-config for model 'm', which is "
        "already set to 'False'.",
    ),
    (
        "c.as_dict()['sequence_batching'] = {}; c.set_dynamic_batching()",
        "Configuration specified scheduling_choice as 'sequence_batching', but auto-complete-config "
        "function for model 'm' tries to set scheduling_choice as 'dynamic_batching'",
    ),
]


@pytest.mark.parametrize(("body", "text"), CONTRADICTIONS)
@pytest.mark.one_interpreter
def test_contradictions(start: StartWorker, body: str, text: str) -> None:
    status, said = completed(start, body)
    assert status == "error"
    said, places = said.split("\n\nAt:\n")
    assert said == f"ValueError: {text}"
    assert places.endswith("(5): auto_complete_config\n") and places.count("\n") == 1


@pytest.mark.one_interpreter
def test_something_else_is_returned(start: StartWorker) -> None:
    assert completed(start, "pass", returned="None") == (
        "error",
        "auto_complete_config function in model 'model' must return a valid pb.ModelConfig object.",
    )


@pytest.mark.one_interpreter
def test_no_such_method(start: StartWorker) -> None:
    worker = start("class TritonPythonModel: pass", initialize=False)
    assert worker.auto_complete("{}") == ("none",)


@pytest.mark.one_interpreter
def test_then_the_same_process_serves(start: StartWorker) -> None:
    worker = start(
        """
        print("imported")


        class TritonPythonModel:
            @staticmethod
            def auto_complete_config(c):
                return c

            def execute(self, requests):
                return []
        """,
        initialize=False,
    )
    assert worker.auto_complete('{"a": 1}') == ("ok", '{"a": 1}')
    assert worker.initialize() is False
    assert worker.execute() == ("ok", (), ())
    assert worker.log.read_text() == "imported\n"
