# SPDX-License-Identifier: Apache-2.0
"""Looking up tensors of requests and responses, and inputs and outputs of a configuration."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from _nereid_native import FIELD_INPUTS

from .requests import InferenceRequest
from .responses import InferenceResponse


def get_input_tensor_by_name(inference_request: InferenceRequest, name: str) -> Any:
    """A Tensor, or None."""
    return _named(inference_request._fields[FIELD_INPUTS], name)


def get_output_tensor_by_name(inference_response: InferenceResponse, name: str) -> Any:
    """A Tensor, or None."""
    return _named(inference_response._outputs, name)


def get_input_config_by_name(model_config: dict, name: str) -> Any:
    """The dict of an input in the configuration, or None."""
    return _named_in_config(model_config, "input", name)


def get_output_config_by_name(model_config: dict, name: str) -> Any:
    """The dict of an output in the configuration, or None."""
    return _named_in_config(model_config, "output", name)


def using_decoupled_model_transaction_policy(model_config: dict) -> bool:
    if "model_transaction_policy" not in model_config:
        return False
    return model_config["model_transaction_policy"]["decoupled"]


def _named(tensors: Sequence, name: str) -> Any:
    for tensor in tensors:
        if tensor.name() == name:
            return tensor
    return None


def _named_in_config(model_config: dict, kind: str, name: str) -> Any:
    for properties in model_config.get(kind, ()):
        if properties["name"] == name:
            return properties
    return None
