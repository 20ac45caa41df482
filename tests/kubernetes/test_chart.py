# SPDX-License-Identifier: Apache-2.0
"""The chart as helm renders it: what it makes of values, and which it refuses."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kubernetes.helm import Helm, of_kind, pod_of
from kubernetes.installed import CHART, KSERVE, VALUES, Object, read_objects
from support.stage import PROJECT_ROOT

CLAIM = ("--set", "models.claim=models")
OPTIONS = set(re.findall(r"^\| `(--[\w-]+)", (PROJECT_ROOT / "docs/operate/options.md").read_text().partition("\n# Commands\n")[0], re.M))
METRICS = (PROJECT_ROOT / "docs/reference/metrics.md").read_text()

MISTAKES = {
    "no models": ((), "No models: set models.claim"),
    "models twice": (
        (*CLAIM, "--set", "models.size=1Gi"),
        "models.claim and models.size are set, but the models come from one place",
    ),
    "folder outside": (
        (*CLAIM, "--set", "models.folder=../other"),
        'models.folder is "../other", but must be a path inside the volume',
    ),
    "no option": ((*CLAIM, "--set", "args={log-format=json}"), "write each as --name=value"),
    "option of the chart": (
        (*CLAIM, "--set", "args={--exit-timeout-secs=5}"),
        "args holds --exit-timeout-secs, which the chart sets by itself: use the value exitTimeoutSecs",
    ),
    "certificate by hand": (
        (*CLAIM, "--set", "args={--grpc-server-cert=/x}"),
        "args holds --grpc-server-cert, which the chart sets by itself: use the value tls",
    ),
    "other port": (
        (*CLAIM, "--set", "args={--http-port=80}"),
        "use the ports 8000, 8001 and 8002: leave it out",
    ),
    "fewer than least": (
        (*CLAIM, "--set", "autoscaling.enabled=true,autoscaling.minReplicas=20"),
        "autoscaling.minReplicas (20) is more than autoscaling.maxReplicas (10)",
    ),
    "nothing to scale on": (
        (*CLAIM, "--set", "autoscaling.enabled=true,autoscaling.utilization=0,autoscaling.pendingRequests=0"),
        "autoscaling has nothing to scale on",
    ),
    "part of nothing": (
        (*CLAIM, "--set", "autoscaling.enabled=true,autoscaling.cpuPercent=80", "--set", "resources.requests.cpu=null"),
        "autoscaling.cpuPercent is a part of resources.requests.cpu, which is not set",
    ),
    "unknown name": ((*CLAIM, "--set", "replicaCount=3"), "'replicaCount' not allowed"),
    "wrong type": ((*CLAIM, "--set", "replicas=two"), "at '/replicas': got string, want integer"),
    "root": ((*CLAIM, "--set", "user=0"), "at '/user': minimum: got 0, want 1"),
    "percent for part": (
        (*CLAIM, "--set", "autoscaling.utilization=70"),
        "at '/autoscaling/utilization': maximum: got 70, want 1",
    ),
    "no quantity": ((*CLAIM, "--set", "resources.limits.memory=2 gigabytes"), "at '/resources/limits/memory'"),
}


@pytest.mark.parametrize("values", VALUES, ids=lambda file: file.stem)
def test_lint_finds_nothing(helm: Helm, values: Path) -> None:
    said = helm.succeed("lint", "--strict", CHART, "-f", values)
    assert "1 chart(s) linted, 0 chart(s) failed" in said
    assert "[WARNING]" not in said


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_refused_with_a_sentence(helm: Helm, mistake: str) -> None:
    values, sentence = MISTAKES[mistake]
    done = helm.run("template", CHART, *values)
    assert done.returncode != 0
    assert sentence in done.stderr


@pytest.mark.parametrize("values", VALUES, ids=lambda file: file.stem)
def test_the_server_knows_all_arguments(helm: Helm, values: Path) -> None:
    (container,) = pod_of(helm.render("-f", values))["containers"]
    assert {argument.partition("=")[0] for argument in container["args"]} <= OPTIONS


@pytest.mark.parametrize("file", sorted(KSERVE.glob("*.yaml")), ids=lambda file: file.stem)
def test_the_server_knows_all_arguments_of_runtimes(file: Path) -> None:
    for runtime in read_objects(file.read_text()):
        (container,) = runtime["spec"]["containers"]
        assert {argument.partition("=")[0] for argument in container["args"]} <= OPTIONS


def test_the_pod_outlives_the_servers_end(helm: Helm) -> None:
    """10 seconds are what the server may need after both times: docs/operate/model_management.md."""
    pod = pod_of(helm.render(*CLAIM, "--set", "lameDuckSecs=7,exitTimeoutSecs=100"))
    (container,) = pod["containers"]
    assert {"--lame-duck-secs=7", "--exit-timeout-secs=100"} <= set(container["args"])
    assert pod["terminationGracePeriodSeconds"] > 7 + 100 + 10


@pytest.mark.parametrize(
    ("limit", "in_flight"),
    [
        ("1Gi", 416 << 20),
        ("1073741824", 416 << 20),
        ("0.5Gi", 160 << 20),
        ("1G", (10**9 - (192 << 20)) // 2),
        ("64Gi", 4 << 30),
        ("100Mi", 16 << 20),
    ],
)
def test_bytes_in_flight_follow_from_the_memory_limit(
    helm: Helm, limit: str, in_flight: int
) -> None:
    """Limit >= memory at rest + --max-in-flight-bytes + 192 MiB: docs/operate/limits.md."""
    set_limit = ("--set-string", f"resources.limits.memory={limit}")
    (container,) = pod_of(helm.render(*CLAIM, *set_limit))["containers"]
    assert f"--max-in-flight-bytes={in_flight}" in container["args"]
    own = ("--set", "args={--max-in-flight-bytes=7}")
    (container,) = pod_of(helm.render(*CLAIM, *set_limit, *own))["containers"]
    given = [one for one in container["args"] if one.startswith("--max-in-flight-bytes")]
    assert given == ["--max-in-flight-bytes=7"]


@pytest.mark.parametrize("file", sorted(KSERVE.glob("*.yaml")), ids=lambda file: file.stem)
def test_runtimes_tell_the_server_the_memory_limit(file: Path) -> None:
    for runtime in read_objects(file.read_text()):
        (container,) = runtime["spec"]["containers"]
        (variable,) = (one for one in container["env"] if one["name"] == "NEREID_MEMORY_LIMIT")
        assert variable["valueFrom"] == {"resourceFieldRef": {"resource": "limits.memory"}}
        assert "memory" in container["resources"]["limits"]


def test_a_start_may_take_as_long_as_it_says(helm: Helm) -> None:
    (container,) = pod_of(helm.render(*CLAIM, "--set", "startupSecs=901"))["containers"]
    probe = container["startupProbe"]
    assert probe["periodSeconds"] * probe["failureThreshold"] >= 901


def test_probes_speak_tls_when_the_port_does(helm: Helm) -> None:
    plain, tls = (
        pod_of(helm.render(*CLAIM, *more))["containers"][0]
        for more in ((), ("--set", "tls.secret=certificate"))
    )
    for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
        assert "scheme" not in plain[probe]["httpGet"]
        assert tls[probe]["httpGet"]["scheme"] == "HTTPS"


def test_the_autoscaler_asks_for_metrics_that_there_are(helm: Helm) -> None:
    (values,) = (file for file in VALUES if file.stem == "autoscaled")
    objects = helm.render("-f", values)
    assert "replicas" not in of_kind(objects, "Deployment")["spec"], "the autoscaler's to decide"
    metrics: list[Object] = of_kind(objects, "HorizontalPodAutoscaler")["spec"]["metrics"]
    pods = [one["pods"] for one in metrics if one["type"] == "Pods"]
    assert {one["metric"]["name"]: one["target"]["averageValue"] for one in pods} == {
        "nereid_instance_utilization": "700m",
        "nv_inference_pending_request_count": "32000m",
        "nereid_target_pressure": "800m",
    }
    for one in pods:
        assert f"`{one['metric']['name']}`" in METRICS
        assert one["metric"]["selector"]["matchLabels"] == {"model": "digits"}


def test_selectors_fit_the_pods(helm: Helm) -> None:
    """Also when the user's labels have the names of the chart's."""
    values = ("-f", next(file for file in VALUES if file.stem == "image"))
    objects = helm.render(*values, "--set", r"podLabels.app\.kubernetes\.io/name=other")
    deployment = of_kind(objects, "Deployment")["spec"]
    labels = deployment["template"]["metadata"]["labels"]
    assert labels["team"] == "vision"
    selectors = {
        "Deployment": deployment["selector"]["matchLabels"],
        "Service": of_kind(objects, "Service")["spec"]["selector"],
        "PodDisruptionBudget": of_kind(objects, "PodDisruptionBudget")["spec"]["selector"]["matchLabels"],
        "PodMonitor": of_kind(objects, "PodMonitor")["spec"]["selector"]["matchLabels"],
        "NetworkPolicy": of_kind(objects, "NetworkPolicy")["spec"]["podSelector"]["matchLabels"],
    }
    for kind, selector in selectors.items():
        assert selector and selector.items() <= labels.items(), kind


def test_only_the_named_may_reach_the_ports(helm: Helm) -> None:
    policy = of_kind(helm.render(*CLAIM, "--set", "networkPolicy.enabled=true"), "NetworkPolicy")
    clients, scrapers = policy["spec"]["ingress"]
    assert [port["port"] for port in clients["ports"]] == ["http", "grpc"]
    assert clients["from"] == [{"podSelector": {}}], "the pods of the same namespace"
    assert [port["port"] for port in scrapers["ports"]] == ["metrics"]
    assert policy["spec"]["egress"] == []
