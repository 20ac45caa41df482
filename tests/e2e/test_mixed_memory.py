# SPDX-License-Identifier: Apache-2.0
"""Backends may free memory with another function than they allocated it, as glibc allows."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import tritonclient.grpc
import tritonclient.http

from conftest import ServerFactory
from support.metrics import metric
from support.repository import ModelRepository

# In total 10^5 rounds of all pairs of functions, in four instances at a time.
CLIENTS = 8
REQUESTS_OF_A_CLIENT = 50
ROUNDS_OF_A_REQUEST = 250

OPERATORS_DELETE = {"_ZdlPv", "_ZdlPvm", "_ZdaPv", "_ZdaPvm"}


def add_mixing(repository: ModelRepository, rounds: int) -> None:
    repository.add_identity(
        "mixing",
        backend="testing",
        parameters={"behaviour": "mixed_memory", "times": str(rounds)},
        extra="instance_group [ { count: 4 kind: KIND_CPU } ]",
    )


def ask(module, address: str, model: str, length: int, count: int) -> None:
    """Sends `count` requests one after the other, each with different values."""
    with module.InferenceServerClient(address) as client:
        tensor = module.InferInput("INPUT0", [length], "FP32")
        for i in range(count):
            values = np.full(length, i, np.float32)
            tensor.set_data_from_numpy(values)
            result = client.infer(model, [tensor])
            np.testing.assert_array_equal(result.as_numpy("OUTPUT0"), values)


def test_a_backend_that_mixes_all_forms_harms_nobody(
    model_repository: ModelRepository, server_factory: ServerFactory
) -> None:
    add_mixing(model_repository, ROUNDS_OF_A_REQUEST)
    model_repository.add_identity("echo")
    server = server_factory(model_repository.root)
    protocols = [
        (tritonclient.http, server.http_url),
        (tritonclient.grpc, server.grpc_url),
    ]
    with ThreadPoolExecutor(2 * CLIENTS) as pool:
        work = []
        for number in range(CLIENTS):
            module, url = protocols[number % 2]
            work.append(pool.submit(ask, module, url, "mixing", 4, REQUESTS_OF_A_CLIENT))
            # Requests allocate memory of all sizes between the backend's blocks.
            for length in (1, 4000):
                work.append(pool.submit(ask, module, url, "echo", length, REQUESTS_OF_A_CLIENT))
        for one in work:
            one.result()
    done = metric(server.metrics_url, "nv_inference_request_success", model="mixing")
    assert done * ROUNDS_OF_A_REQUEST == 100_000


def test_backends_use_the_operators_of_the_program(
    model_repository: ModelRepository, server_factory: ServerFactory, tmp_path: Path
) -> None:
    """A backend is loaded with RTLD_LOCAL. The dynamic linker's log shows how it binds symbols."""
    add_mixing(model_repository, 1)
    bindings = tmp_path / "bindings"
    server = server_factory(
        model_repository.root,
        env={"LD_DEBUG": "bindings", "LD_DEBUG_OUTPUT": str(bindings)},
    )
    ask(tritonclient.http, server.http_url, "mixing", 4, 1)
    server.stop()
    said = Path(f"{bindings}.{server.process.pid}").read_text(errors="replace")
    found = re.findall(
        r"binding file \S*/libtriton_testing\.so \[0\] to (\S+) \[0\]: \w+ symbol `(_Z[nd][^']*)'",
        said,
    )
    operators = {symbol: Path(provider).name for provider, symbol in found}
    operators = {
        symbol: provider
        for symbol, provider in operators.items()
        if re.match("_Z(n[wa]|d[la])", symbol)
    }
    assert OPERATORS_DELETE <= operators.keys()
    assert set(operators.values()) == {"nereid"}, operators
