# SPDX-License-Identifier: Apache-2.0
"""What the chart renders, and deploy/kserve, against a real API server with strict validation."""

from __future__ import annotations

import copy
from pathlib import Path

import pytest

from kubernetes.api_server import ApiServer
from kubernetes.helm import RELEASE, Helm, of_kind, pod_of
from kubernetes.installed import CHART, KSERVE, VALUES, Object, read_objects

RUNTIMES = ("cluster-serving-runtimes.yaml", "serving-runtimes.yaml")
EXAMPLES = sorted((KSERVE / "examples").glob("*.yaml"))
CLAIM = ("--set", "models.claim=models")


def as_pod(specification: Object, name: str = "one") -> Object:
    """A pod as a Deployment's controller would make it."""
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": specification}


@pytest.mark.parametrize("values", VALUES, ids=lambda file: file.stem)
def test_every_object_is_accepted(
    helm: Helm, api_server: ApiServer, namespace: str, values: Path
) -> None:
    objects = helm.render("-f", values, namespace=namespace)
    for thing in objects:
        api_server.accept(thing, namespace)
    api_server.accept(as_pod(pod_of(objects)), namespace)


@pytest.mark.parametrize("file", RUNTIMES)
def test_runtimes_are_accepted(api_server: ApiServer, namespace: str, file: str) -> None:
    for runtime in read_objects((KSERVE / file).read_text()):
        api_server.accept(runtime, namespace)
        pod = {name: runtime["spec"][name] for name in ("containers", "volumes")}
        api_server.accept(as_pod(pod, runtime["metadata"]["name"]), namespace)


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_examples_are_accepted_and_name_what_is_there(
    api_server: ApiServer, namespace: str, file: Path
) -> None:
    runtimes = read_objects((KSERVE / RUNTIMES[0]).read_text())
    formats = {one["metadata"]["name"]: one["spec"]["supportedModelFormats"] for one in runtimes}
    services = set()
    for thing in read_objects(file.read_text()):
        api_server.accept(thing, namespace)
        if thing["kind"] == "InferenceService":
            services.add(thing["metadata"]["name"])
            model = thing["spec"]["predictor"]["model"]
            known = [{key: one[key] for key in ("name", "version")} for one in formats[model["runtime"]]]
            assert model["modelFormat"] in known
        else:
            assert thing["spec"]["inferenceService"] in services


def test_both_kinds_of_runtimes_say_the_same() -> None:
    clusters, namespaces = (read_objects((KSERVE / file).read_text()) for file in RUNTIMES)
    assert [one["kind"] for one in clusters] == ["ClusterServingRuntime"] * 2
    assert [one["kind"] for one in namespaces] == ["ServingRuntime"] * 2
    for one, other in zip(clusters, namespaces, strict=True):
        assert one["metadata"] == other["metadata"]
        assert one["spec"] == other["spec"]


def test_unknown_fields_are_refused(helm: Helm, api_server: ApiServer, namespace: str) -> None:
    """The other tests rely on that, for kinds of Kubernetes and for those of definitions."""
    things = [of_kind(helm.render(*CLAIM), "Deployment")]
    things += read_objects((KSERVE / RUNTIMES[1]).read_text())[:1]
    for thing in things:
        wrong = copy.deepcopy(thing)
        wrong["spec"]["replicaz"] = 1
        answer = api_server.create(wrong, namespace)
        assert answer.status_code in (400, 422)
        assert 'unknown field "spec.replicaz"' in answer.json()["message"]


@pytest.mark.parametrize("setting", ("runAsNonRoot", "seccompProfile", "allowPrivilegeEscalation", "capabilities"))
def test_restricted_means_something(
    helm: Helm, api_server: ApiServer, namespace: str, setting: str
) -> None:
    objects = helm.render(*CLAIM)
    api_server.accept(of_kind(objects, "ServiceAccount"), namespace)
    pod = pod_of(objects)
    for context in (pod["securityContext"], pod["containers"][0]["securityContext"]):
        context.pop(setting, None)
    answer = api_server.create(as_pod(pod), namespace)
    assert answer.status_code == 403
    assert setting in answer.json()["message"]


def test_install_upgrade_and_uninstall(
    api_server: ApiServer, namespace: str, tmp_path: Path
) -> None:
    helm = Helm(tmp_path, api_server.kubeconfig())
    release = (RELEASE, CHART, "--namespace", namespace)
    claims = f"/api/v1/namespaces/{namespace}/persistentvolumeclaims/demo-nereid-models"
    deployment = f"/apis/apps/v1/namespaces/{namespace}/deployments/demo-nereid"

    said = helm.succeed("install", *release, "--set", "models.size=1Gi")
    assert f"demo-nereid.{namespace}.svc:8000" in said
    assert "The claim demo-nereid-models is empty at first." in said
    assert api_server.get(deployment).json()["spec"]["replicas"] == 2

    said = helm.succeed("upgrade", *release, "--set", "models.size=1Gi,replicas=3,apiKeys.secret=keys")
    assert 'must hold the line "health *"' in said
    assert api_server.get(deployment).json()["spec"]["replicas"] == 3

    helm.succeed("uninstall", RELEASE, "--namespace", namespace)
    assert api_server.get(deployment).status_code == 404
    assert api_server.get(claims).status_code == 200, "models outlive the release"
