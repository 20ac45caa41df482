import json

import numpy as np
import triton_python_backend_utils as pb_utils

GIVEN = {
    "name": "lab",
    "max_batch_size": 4,
    "input": [
        {"name": "IN", "data_type": "TYPE_INT32", "dims": [3], "optional": False},
        {"name": "OPEN", "data_type": "TYPE_INVALID", "dims": []},
    ],
    "output": [{"name": "OUT", "data_type": "TYPE_INT32", "dims": [3]}],
    "model_transaction_policy": {"decoupled": False},
}


def config(**more):
    return pb_utils.ModelConfig(json.dumps({**GIVEN, **more}))


def attempt(*calls, **more):
    """The result of these calls, made one after the other on a configuration."""
    made = config(**more)
    try:
        for name, argument in calls:
            getattr(made, name)(*argument)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return {key: value for key, value in made.as_dict().items() if GIVEN.get(key) != value}


def tensor(name="IN", data_type="TYPE_INT32", dims=(3,), **more):
    return ({"name": name, "data_type": data_type, "dims": list(dims), **more},)


def without(key):
    return ({k: v for k, v in tensor()[0].items() if k != key},)


class TritonPythonModel:
    """The rules of ModelConfig."""

    def execute(self, requests):
        report = {}
        for kind in ("input", "output"):
            add = f"add_{kind}"
            name = "IN" if kind == "input" else "OUT"
            report |= {
                f"{kind} equal": attempt((add, tensor(name))),
                f"{kind} new": attempt((add, tensor("NEW", dims=(-1, 2)))),
                f"{kind} type": attempt((add, tensor(name, "TYPE_FP32"))),
                f"{kind} dims": attempt((add, tensor(name, dims=(4, -1)))),
                f"{kind} filled in": attempt((add, tensor("OPEN", "TYPE_FP64", (2,)))),
                f"{kind} no name": attempt((add, without("name"))),
                f"{kind} no data_type": attempt((add, without("data_type"))),
                f"{kind} no dims": attempt((add, without("dims"))),
                f"{kind} more": attempt((add, tensor(name, label="x"))),
                f"{kind} optional": attempt((add, tensor(name, optional=True))),
                f"{kind} new optional": attempt((add, tensor("NEW", optional=True))),
                f"{kind} none": attempt((add, (None,))),
            }
        batch = "set_max_batch_size"
        policy = "set_model_transaction_policy"
        report |= {
            "batch less": attempt((batch, (2,))),
            "batch more": attempt((batch, (9,))),
            "batch equal": attempt((batch, (4,))),
            "batching": attempt(("set_dynamic_batching", ())),
            "batching again": attempt(
                ("set_dynamic_batching", ()), dynamic_batching={"preferred_batch_size": [2]}
            ),
            "batching of sequences": attempt(
                ("set_dynamic_batching", ()), sequence_batching={"direct": {}}
            ),
            "batching of an ensemble": attempt(
                ("set_dynamic_batching", ()), ensemble_scheduling={"step": []}
            ),
            "decoupled": attempt((policy, ({"decoupled": True},))),
            "not decoupled": attempt((policy, ({"decoupled": False},))),
            "decoupled and more": attempt((policy, ({"decoupled": True, "x": 1},))),
            "already decoupled": attempt(
                (policy, ({"decoupled": False},)), model_transaction_policy={"decoupled": True}
            ),
            "no policy yet": attempt(
                (policy, ({"decoupled": True},)), model_transaction_policy=None
            ),
            "decoupled of a configuration": [
                pb_utils.using_decoupled_model_transaction_policy(found)
                for found in ({}, {"model_transaction_policy": {"decoupled": True}})
            ],
        }
        made = config()
        report["as_dict is live"] = made.as_dict() is made.as_dict()
        text = np.array([json.dumps(report)], dtype=np.object_)
        return [
            pb_utils.InferenceResponse([pb_utils.Tensor("REPORT", text)]) for _ in requests
        ]
