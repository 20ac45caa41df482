# SPDX-License-Identifier: Apache-2.0
"""The program helm, with a home of its own."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

from kubernetes.installed import CHART, HELM, Object, read_objects

RELEASE = "demo"


class Helm:
    """Runs helm on the project's chart. `kubeconfig` names the cluster, where a command needs one."""

    def __init__(self, home: Path, kubeconfig: Path | None = None) -> None:
        self._env = {"HOME": str(home), "KUBECONFIG": str(kubeconfig or home / "no-cluster")}

    def run(self, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [HELM, *arguments], env=self._env, capture_output=True, text=True, timeout=60
        )

    def succeed(self, *arguments: str | Path) -> str:
        """The standard output of a command that must succeed."""
        done = self.run(*arguments)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def render(self, *arguments: str | Path, namespace: str = "default") -> list[Object]:
        """The chart's objects under the given values (`-f FILE`, `--set NAME=VALUE`)."""
        command = ("template", RELEASE, CHART, "--namespace", namespace)
        return read_objects(self.succeed(*command, *arguments))


def of_kind(objects: list[Object], kind: str) -> Object:
    """The only object of this kind."""
    (found,) = _all_of_kind(objects, kind)
    return found


def _all_of_kind(objects: list[Object], kind: str) -> Iterator[Object]:
    return (one for one in objects if one["kind"] == kind)


def pod_of(objects: list[Object]) -> Object:
    """The specification of the Deployment's pods."""
    return of_kind(objects, "Deployment")["spec"]["template"]["spec"]
