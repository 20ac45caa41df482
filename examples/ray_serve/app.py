# SPDX-License-Identifier: Apache-2.0
"""Nereid inside a deployment of Ray Serve: Ray routes and scales, Nereid batches and executes.

    NEREID_MODELS=FOLDER serve run app:app

POST /MODEL takes a JSON object of inputs, each a nested list whose first dimension is the batch, and
answers with such an object of outputs. With the header `serve_multiplexed_model_id: MODEL`, too, Ray
prefers replicas that have the model; without it, all replicas share the requests. GET / says what the
replica that answers has done.
"""

from __future__ import annotations

import asyncio
import os
from typing import Any

import nereid_server
import ray
from ray import serve
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

# Requests that a replica takes at a time. They wait in Nereid's queues, where batches are made of
# them, and none in Ray's.
REQUESTS_PER_REPLICA = 1000
# With more than so many queued and executed requests per replica, Ray adds a replica; with fewer, it
# takes one away.
QUEUE_LENGTH = 8
MODELS_PER_REPLICA = 2


class LoadedModel:
    """A model in the server of this replica. Ray calls __del__ when it evicts the model."""

    def __init__(self, server: nereid_server.Server, name: str) -> None:
        self._server: nereid_server.Server | None = server
        self._model = server.load(name)
        self.infer = self._model.async_infer

    def __del__(self) -> None:
        """Requests that the model still has are finished. Python calls this again when the object
        goes."""
        server, self._server = self._server, None
        if server is not None:
            server.unload(self._model.name)


@serve.deployment(
    max_ongoing_requests=REQUESTS_PER_REPLICA,
    graceful_shutdown_timeout_s=30,
    max_surge_percent=100,  # an update starts new replicas before it stops old ones
    autoscaling_config={
        "min_replicas": 1,
        "max_replicas": 2,
        "target_ongoing_requests": QUEUE_LENGTH,
        "upscale_delay_s": 2,
        "downscale_delay_s": 5,
        "metrics_interval_s": 0.5,
        "look_back_period_s": 2,
    },
    ray_actor_options={"num_cpus": 1},
)
class Nereid:
    def __init__(self, models: str) -> None:
        explicit = nereid_server.ModelControlMode.EXPLICIT
        self._server = nereid_server.Server(models, model_control_mode=explicit)
        self._headers = {"x-process": str(os.getpid())}

    @serve.multiplexed(max_num_models_per_replica=MODELS_PER_REPLICA)
    async def load(self, name: str) -> LoadedModel:
        return await asyncio.to_thread(LoadedModel, self._server, name)

    async def __call__(self, request: Request) -> Response:
        if request.method != "POST":
            return JSONResponse(self.report(), headers=self._headers)
        inputs = await request.json()
        try:
            model = await self.load(request.url.path.strip("/"))
            outputs = await model.infer(inputs)
        except nereid_server.InvalidArgumentError as error:
            return JSONResponse({"error": str(error)}, 400, headers=self._headers)
        answer = {name: value.tolist() for name, value in outputs.items()}
        return JSONResponse(answer, headers=self._headers)

    def report(self) -> dict[str, Any]:
        """Requests and executions of each model that is loaded: how big the batches are."""
        return {
            "process": os.getpid(),
            "node": ray.get_runtime_context().get_node_id(),
            "models": {
                one["name"]: {
                    "inferences": one["inference_count"],
                    "executions": one["execution_count"],
                }
                for one in self._server.statistics()
            },
        }


app = Nereid.bind(os.environ.get("NEREID_MODELS", "models"))
