# SPDX-License-Identifier: Apache-2.0
"""A start line of Triton with all options that a deployment without GPUs may have."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from support.server_process import LOOPBACK

ADMIN_KEY = "key-of-the-test"
FORWARDED = ("x-tenant", "blue")
MODELS = ("echo", "cached")

# Options of Triton that say what others of the line say, and some of them too little.
DEPRECATED = (
    "model-store",
    "strict-model-config",
    "response-cache-byte-size",
    "trace-file",
    "trace-level",
    "trace-rate",
    "trace-count",
    "trace-log-frequency",
)
# These need files of certificates: tests/e2e/test_grpc.py and others.
OF_TLS = ("grpc-use-ssl-mutual", "grpc-server-cert", "grpc-server-key", "grpc-root-cert")

Line = list[tuple[str, str]]


@dataclass(frozen=True)
class Places:
    """What the line names: folders and ports."""

    models: Path
    backends: Path
    caches: Path
    agents: Path
    log: Path
    traces: Path
    http_port: int
    grpc_port: int
    metrics_port: int


def whole_line(places: Places) -> Line:
    """Options and their values, in the order of Triton's help."""
    return [
        *_server_and_logging(places),
        *_repository(places),
        *_http(places),
        *_grpc(places),
        *_platforms(),
        *_metrics_and_traces(places),
        *_plugins(places),
        *_devices(),
    ]


def deprecated_line(places: Places) -> Line:
    """The old names, instead of what they stand for."""
    return [
        ("model-store", str(places.models)),
        ("strict-model-config", "false"),
        ("response-cache-byte-size", "1048576"),
        ("trace-file", str(places.traces)),
        ("trace-level", "TIMESTAMPS"),
        ("trace-rate", "1"),
        ("trace-count", "-1"),
        ("trace-log-frequency", "0"),
        ("http-port", str(places.http_port)),
        ("grpc-port", str(places.grpc_port)),
        ("metrics-port", str(places.metrics_port)),
        ("http-address", LOOPBACK),
        ("grpc-address", LOOPBACK),
        ("backend-directory", str(places.backends)),
        ("cache-directory", str(places.caches)),
    ]


def with_equals_signs(line: Line) -> list[str]:
    return [f"--{name}={value}" for name, value in line]


def with_separate_values(line: Line) -> list[str]:
    return [word for name, value in line for word in (f"--{name}", value)]


def _server_and_logging(places: Places) -> Line:
    return [
        ("id", "one-of-many"),
        ("exit-timeout-secs", "20"),
        ("log-verbose", "1"),
        ("log-info", "true"),
        ("log-warning", "on"),
        ("log-error", "1"),
        ("log-format", "ISO8601"),
        ("log-file", str(places.log)),
    ]


def _repository(places: Places) -> Line:
    return [
        ("model-repository", str(places.models)),
        ("exit-on-error", "true"),
        ("strict-readiness", "true"),
        ("model-control-mode", "explicit"),
        ("repository-poll-secs", "15"),
        *(("load-model", model) for model in MODELS),
        ("model-config-name", "small"),
        ("model-load-thread-count", "2"),
        ("model-load-retry-count", "1"),
        ("model-namespacing", "false"),
    ]


def _http(places: Places) -> Line:
    return [
        ("allow-http", "true"),
        ("http-address", LOOPBACK),
        ("http-port", str(places.http_port)),
        ("reuse-http-port", "false"),
        ("http-header-forward-pattern", "^(x-tenant|x-trace)$"),
        ("http-thread-count", "4"),
        ("http-max-input-size", "134217728"),
        ("http-restricted-api", f"model-repository,shared-memory:admin={ADMIN_KEY}"),
        ("http-restricted-api", f"logging:operator={ADMIN_KEY}"),
    ]


def _grpc(places: Places) -> Line:
    return [
        ("allow-grpc", "true"),
        ("grpc-address", LOOPBACK),
        ("grpc-port", str(places.grpc_port)),
        ("reuse-grpc-port", "false"),
        ("grpc-header-forward-pattern", "^(x-tenant|x-trace)$"),
        ("grpc-infer-thread-count", "2"),
        ("grpc-infer-allocation-pool-size", "16"),
        ("grpc-max-response-pool-size", "100"),
        ("grpc-use-ssl", "false"),
        ("grpc-infer-response-compression-level", "low"),
        ("grpc-keepalive-time", "60000"),
        ("grpc-keepalive-timeout", "10000"),
        ("grpc-keepalive-permit-without-calls", "true"),
        ("grpc-http2-max-pings-without-data", "0"),
        ("grpc-http2-min-recv-ping-interval-without-data", "10000"),
        ("grpc-http2-max-ping-strikes", "3"),
        ("grpc-max-connection-age", "3600000"),
        ("grpc-max-connection-age-grace", "60000"),
        ("grpc-restricted-protocol", f"model-repository,shared-memory:admin={ADMIN_KEY}"),
        ("grpc-restricted-protocol", f"logging:operator={ADMIN_KEY}"),
    ]


def _platforms() -> Line:
    """Of SageMaker and Vertex AI: not in every build of Triton."""
    return [
        ("allow-sagemaker", "false"),
        ("sagemaker-port", "8080"),
        ("sagemaker-safe-port-range", "1024-65535"),
        ("sagemaker-thread-count", "4"),
        ("allow-vertex-ai", "false"),
        ("vertex-ai-port", "8081"),
        ("vertex-ai-thread-count", "4"),
        ("vertex-ai-default-model", "echo"),
    ]


def _metrics_and_traces(places: Places) -> Line:
    return [
        ("allow-metrics", "true"),
        ("allow-gpu-metrics", "false"),
        ("allow-cpu-metrics", "true"),
        ("metrics-address", LOOPBACK),
        ("metrics-port", str(places.metrics_port)),
        ("metrics-interval-ms", "500"),
        ("metrics-config", "counter_latencies=true"),
        ("metrics-config", "summary_latencies=true"),
        ("metrics-config", "summary_quantiles=0.5:0.05,0.99:0.001"),
        ("trace-config", "mode=triton"),
        ("trace-config", "level=TIMESTAMPS"),
        ("trace-config", "rate=1"),
        ("trace-config", "count=-1"),
        ("trace-config", f"triton,file={places.traces}"),
        ("trace-config", "triton,log-frequency=0"),
    ]


def _plugins(places: Places) -> Line:
    return [
        ("backend-directory", str(places.backends)),
        ("backend-config", "default-max-batch-size=8"),
        ("backend-config", "python,shm-default-byte-size=1048576"),
        ("repoagent-directory", str(places.agents)),
        ("cache-config", "local,size=1048576"),
        ("cache-directory", str(places.caches)),
        ("rate-limit", "execution_count"),
        ("rate-limit-resource", "R1:4"),
        ("rate-limit-resource", "R2:2:0"),
    ]


def _devices() -> Line:
    core = min(os.sched_getaffinity(0))
    return [
        ("pinned-memory-pool-byte-size", "16777216"),
        ("cuda-memory-pool-byte-size", "0:67108864"),
        ("cuda-virtual-address-size", "0:1073741824"),
        ("min-supported-compute-capability", "6.0"),
        ("buffer-manager-thread-count", "2"),
        ("host-policy", f"cpu,cpu-cores={core}-{core}"),
        ("host-policy", "cpu,numa-node=0"),
        ("model-load-gpu-limit", "0:0.9"),
        ("enable-peer-access", "false"),
        ("allow-client-shm", "true"),
    ]
