# SPDX-License-Identifier: Apache-2.0
"""A local Ray cluster of two nodes, and the example's application on it."""

from __future__ import annotations

import http.client
import json
import os
import signal
import time
from pathlib import Path
from typing import Any

import app  # examples/ray_serve, as the replicas import it: by PYTHONPATH
import ray
from ray import serve
from ray.cluster_utils import Cluster

from support.poll import poll_until
from support.ports import free_port
from support.server_process import LOOPBACK
from support.stage import PROJECT_ROOT

EXAMPLE = PROJECT_ROOT / "examples" / "ray_serve"
NAME = "nereid"
CHANGE_SECONDS = 120.0
FIRST_REQUESTS = 100
NODE = {"num_cpus": 3, "object_store_memory": 100 << 20}


class Application:
    """Owns the cluster: two raylets on this machine, an HTTP proxy on a free port, the application."""

    def __init__(self, models: Path) -> None:
        self.port = free_port()
        # One proxy is to reach the replicas of both nodes. In a real cluster a balancer stands before
        # the proxies of all nodes, and each may prefer the replicas of its own.
        os.environ["RAY_SERVE_PROXY_PREFER_LOCAL_NODE_ROUTING"] = "0"
        self._cluster = Cluster(
            initialize_head=True, head_node_args=NODE | {"include_dashboard": False}
        )
        try:
            self._cluster.add_node(**NODE)
            ray.init(address=self._cluster.address, log_to_driver=False, logging_level="warning")
            self._cluster.wait_for_nodes()
            serve.start(http_options={"host": LOOPBACK, "port": self.port})
            self.update(models)
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        serve.shutdown()
        ray.shutdown()
        self._cluster.shutdown()

    def nodes(self) -> int:
        return sum(node["Alive"] for node in ray.nodes())

    def update(self, models: Path) -> None:
        """Deploys the application. With another folder than before, all its replicas are replaced."""
        serve.run(app.Nereid.bind(str(models)), name=NAME)

    def running(self) -> int:
        """How many replicas are ready, or 0 while some are starting or stopping."""
        (deployment,) = serve.status().applications[NAME].deployments.values()
        states = {state: count for state, count in deployment.replica_states.items() if count}
        return states.get("RUNNING", 0) if len(states) == 1 else 0

    def wait_for_replicas(self, count: int) -> None:
        poll_until(
            f"{count} replicas", lambda: self.running() == count, CHANGE_SECONDS, lambda: str(serve.status())
        )

    def reports(self, count: int, but_not: int = 0) -> dict[int, dict[str, Any]]:
        """What each of so many replicas says of itself, by process, once it has served some requests."""
        found: dict[int, dict[str, Any]] = {}

        def all_have_answered() -> bool:
            report = self.report()
            served = sum(one["inferences"] for one in report.get("models", {}).values())
            if served >= FIRST_REQUESTS and report["process"] != but_not:
                found[report["process"]] = report
            return len(found) >= count

        poll_until(
            f"answers of {count} replicas", all_have_answered, CHANGE_SECONDS, lambda: f"{found} {serve.status()}"
        )
        return found

    def report(self) -> dict[str, Any]:
        """What one of the replicas says, or nothing if it has just died."""
        connection = http.client.HTTPConnection(LOOPBACK, self.port, timeout=60)
        try:
            connection.request("GET", "/")
            answer = connection.getresponse()
            return json.loads(answer.read()) if answer.status == 200 else {}
        finally:
            connection.close()


def kill(process: int) -> float:
    """Kills a process at once. Returns a time after that, of time.monotonic()."""
    os.kill(process, signal.SIGKILL)
    return time.monotonic()
