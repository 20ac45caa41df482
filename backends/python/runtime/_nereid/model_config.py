# SPDX-License-Identifier: Apache-2.0
"""ModelConfig: the configuration that auto_complete_config completes.

The author's configuration has priority: the model may add to it, but a contradiction raises a
ValueError.
"""

from __future__ import annotations

import json
from typing import Any


class ModelConfig:
    def __init__(self, model_config: str) -> None:
        self._model_config = json.loads(model_config)

    def as_dict(self) -> dict:
        """Returns the configuration itself, not a copy."""
        return self._model_config

    def set_max_batch_size(self, max_batch_size: int) -> None:
        configured = self._model_config["max_batch_size"]
        if configured > max_batch_size:
            raise ValueError(
                f"configuration specified max_batch_size {configured}, but in auto-complete-config "
                f"function for model '{self._name}' specified max_batch_size {max_batch_size}"
            )
        self._model_config["max_batch_size"] = max_batch_size

    def set_dynamic_batching(self) -> None:
        for other in ("sequence_batching", "ensemble_scheduling"):
            if other in self._model_config:
                raise ValueError(
                    f"Configuration specified scheduling_choice as '{other}', but "
                    f"auto-complete-config function for model '{self._name}' tries to set "
                    "scheduling_choice as 'dynamic_batching'"
                )
        self._model_config.setdefault("dynamic_batching", {})

    def add_input(self, input: dict) -> None:  # noqa: A002
        self._check_properties(input, "input", ("name", "data_type", "dims", "optional"))
        self._add(input, "input")

    def add_output(self, output: dict) -> None:
        self._check_properties(output, "output", ("name", "data_type", "dims"))
        self._add(output, "output")

    def set_model_transaction_policy(self, transaction_policy_dict: dict) -> None:
        if any(name != "decoupled" for name in transaction_policy_dict):
            raise ValueError(
                "model transaction property in auto-complete-config function for model "
                f"'{self._name}' contains property other than 'decoupled'."
            )
        policy = self._model_config.setdefault("model_transaction_policy", {})
        if "decoupled" not in transaction_policy_dict:
            return
        decoupled = transaction_policy_dict["decoupled"]
        if "decoupled" in policy and policy["decoupled"] != decoupled:
            raise ValueError(
                f"trying to change decoupled property in auto-complete-config for model "
                f"'{self._name}', which is already set to '{policy['decoupled']}'."
            )
        policy["decoupled"] = decoupled

    @property
    def _name(self) -> str:
        return self._model_config["name"]

    def _check_properties(self, tensor: dict, kind: str, known: tuple) -> None:
        if any(name not in known for name in tensor):
            listed = ", ".join(f"'{name}'" for name in known[:-1])
            raise ValueError(
                f"{kind} '{tensor['name']}' in auto-complete-config function for model "
                f"'{self._name}' contains property other than {listed} and '{known[-1]}'."
            )
        if "name" not in tensor:
            raise ValueError(
                f"{kind} in auto-complete-config function for model '{self._name}' is missing "
                "'name' property."
            )
        for name in ("data_type", "dims"):
            if name not in tensor:
                raise ValueError(
                    f"{kind} '{tensor['name']}' in auto-complete-config function for model "
                    f"'{self._name}' is missing '{name}' property."
                )

    def _add(self, given: dict, kind: str) -> None:
        tensors = self._model_config.setdefault(kind, [])
        for configured in tensors:
            if configured["name"] == given["name"]:
                self._check_same(given, configured, kind)
                configured.update(given)
                return
        tensors.append(given)

    def _check_same(self, given: dict, configured: dict, kind: str) -> None:
        name = given["name"]
        data_type = configured.get("data_type", "TYPE_INVALID")
        if data_type not in ("TYPE_INVALID", given["data_type"]):
            raise ValueError(
                f"unable to load model '{self._name}', configuration expects datatype {data_type} "
                f"for {kind} '{name}', model provides {given['data_type']}"
            )
        dims = configured.get("dims")
        if dims and dims != given["dims"]:
            raise ValueError(
                f"model '{self._name}', tensor '{name}': the model expects dims {given['dims']} but "
                f"the model configuration specifies dims {dims}"
            )
        self._check_same_optional(given, configured)

    def _check_same_optional(self, given: dict, configured: dict) -> None:
        optional: Any = given.get("optional")
        if optional is None or "optional" not in configured or configured["optional"] == optional:
            return
        raise ValueError(
            f"model '{self._name}', tensor '{given['name']}': the model expects optional {optional} "
            f"but the model configuration specifies optional {configured['optional']}"
        )
