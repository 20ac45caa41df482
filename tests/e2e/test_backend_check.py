# SPDX-License-Identifier: Apache-2.0
"""`nereid backend-check LIB`: finds what is wrong with a backend, and nothing wrong with ours."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from support.repository import ModelRepository
from support.stage import EXAMPLE_MODELS, PROJECT_ROOT, backend_directory, server_binary, stage_root

SOURCE = Path(__file__).with_name("wrong_backend.c")
TENSORS = """
max_batch_size: 4
input [ { name: "INPUT0" data_type: TYPE_FP32 dims: [ 4 ] } ]
output [ { name: "OUTPUT0" data_type: TYPE_FP32 dims: [ 4 ] } ]
"""
# The fault: what is found. Another finding beside it would be wrong, too.
FAULTS = {
    "crashes": "crash",
    "crashes_on_load": "crash",
    "exits": "crash",
    "hangs": "hang",
    "returns_deleted_error": "returned-deleted-error model-not-loaded",
    "refuses_second_load": "load-again-failed",
    "fails_to_finalize": "finalize-failed",
    "releases_twice": "released-twice",
    "uses_released": "used-after-release",
    "forgets_request": "not-released not-answered",
    "fails_after_release": "error-after-release",
    "changes_input": "input-changed",
    "sends_twice": "sent-twice",
    "leaks_response": "response-leaked",
    "leaks_error": "error-leaked",
    "deletes_error_twice": "error-deleted-twice",
    "wrong_type": "output-type",
    "small_buffer": "output-size",
    "no_buffer": "output-without-buffer",
    "unwritten": "output-unwritten",
    "overrun": "output-overrun",
    "no_statistics": "no-statistics",
    "statistics_twice": "statistics-twice",
    "times_out_of_order": "statistics-order",
    "other_clock": "statistics-order",
    "hides_failure": "statistics-outcome",
    "no_batch_statistics": "no-batch-statistics",
    "leaves_thread": "threads-left",
    "leaves_descriptor": "descriptors-left",
    "leaves_process": "processes-left",
    "leaks_by_load": "memory-grows-by-loads",
    "leaks_by_request": "memory-grows-by-requests",
}
# Behaviours of backends/testing, and what is found. Some report no batches.
BEHAVIOURS = {
    "echo": "",
    "keep_requests": "no-batch-statistics",
    "mixed_memory": "no-batch-statistics",
    "error_before_release": "",
    "throws": "exception",
    "error_after_releasing_some": "error-after-release no-batch-statistics",
    "never_answers": "not-released not-answered",
    "releases_without_answer": "not-answered no-statistics",
    "drops_factory": "not-answered no-statistics",
    "answers_twice": "sent-after-final",
    "wrong_shape": "output-shape",
    "crash_on_load": "exception model-not-loaded",
    "instance_fail_on_load": "model-not-loaded",
    "hang_in_instance_finalize": "hang",
}
Compile = Callable[..., Path]


def backend_check(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [str(server_binary()), "backend-check", *map(str, arguments)]
    # The interpreter of Python models is the first in the path.
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    return subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment)


def findings(*arguments: str | Path) -> list[str]:
    """The kinds of findings; the exit status has to agree with them."""
    ran = backend_check("--json", *arguments)
    assert ran.stdout, ran.stderr
    report = json.loads(ran.stdout)
    found = [finding["id"] for finding in report["findings"]]
    assert ran.returncode == (1 if found else 0), (report, ran.stderr)
    return found


@pytest.fixture(scope="module")
def compile_backend(tmp_path_factory: pytest.TempPathFactory) -> Compile:
    """Makes libtriton_wrong.so."""

    def run(*options: str, source: Path = SOURCE) -> Path:
        library = tmp_path_factory.mktemp("backend") / "libtriton_wrong.so"
        words: Sequence[str | Path] = ["cc", "-shared", "-fPIC", "-fvisibility=hidden", "-pthread",
                                       f"-I{stage_root() / 'include'}", *options, source, "-o", library]  # fmt: skip
        subprocess.run(words, check=True, timeout=120)
        return library

    return run


@pytest.fixture(scope="module")
def wrong(compile_backend: Compile) -> Path:
    return compile_backend()


@pytest.mark.parametrize("fault", FAULTS)
def test_what_is_wrong_is_found(wrong: Path, model_repository: ModelRepository, fault: str) -> None:
    model = model_repository.add(fault, f'backend: "wrong"\n{TENSORS}')
    timeout = "1" if fault in ("hangs", "forgets_request", "leaks_response") else "10"
    found = findings(wrong, f"--model={model}", f"--timeout={timeout}")
    assert found, "nothing was found"
    assert set(found) <= set(FAULTS[fault].split()), found
    assert found[0] == FAULTS[fault].split()[0]


@pytest.mark.parametrize("behaviour", BEHAVIOURS)
def test_the_testing_backend(model_repository: ModelRepository, behaviour: str) -> None:
    model = model_repository.add_identity(
        "model", "INT32", (1,), 4, backend="testing", parameters={"behaviour": behaviour}
    )
    library = backend_directory() / "testing" / "libtriton_testing.so"
    found = findings(library, f"--model={model}", "--timeout=2")
    assert set(found) == set(BEHAVIOURS[behaviour].split())


def test_nothing_is_wrong_with_a_right_backend(wrong: Path) -> None:
    ran = backend_check(wrong)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert ran.stdout == f"{wrong}, with a made-up model\n\nno findings\n"


def test_a_finding_is_told_in_words(wrong: Path, model_repository: ModelRepository) -> None:
    model = model_repository.add("releases_twice", f'backend: "wrong"\n{TENSORS}')
    ran = backend_check(wrong, f"--model={model}")
    assert ran.returncode == 1
    assert "FINDING released-twice: a request is released twice\n  where:  requests one" in ran.stdout
    assert "  why:    after the first release" in ran.stdout
    assert "  right:  release each request exactly once" in ran.stdout
    assert ran.stdout.endswith("\n1 finding\n")


def test_a_crash_names_signal_and_phase(wrong: Path, model_repository: ModelRepository) -> None:
    model = model_repository.add("crashes_on_load", f'backend: "wrong"\n{TENSORS}')
    ran = backend_check(wrong, f"--model={model}")
    assert ran.returncode == 1
    assert "loading the model: the last call was TRITONBACKEND_ModelInitialize; signal 11" in ran.stdout


def test_exports(compile_backend: Compile, tmp_path: Path) -> None:
    assert findings(compile_backend("-DMISSPELT")) == ["unknown-export"]
    assert findings(compile_backend("-DANY_VERSION")) == ["version-accepted"]
    mangled = tmp_path / "mangled.cc"
    mangled.write_text(
        "struct TRITONBACKEND_ModelInstance;\n"
        '__attribute__((visibility("default"))) void* TRITONBACKEND_ModelInstanceExecute('
        "TRITONBACKEND_ModelInstance*) { return nullptr; }\n"
    )
    assert findings(compile_backend(source=mangled)) == ["no-execute", "mangled-export"]
    undefined = tmp_path / "undefined.c"
    undefined.write_text(
        "void missing_function(void);\n"
        '__attribute__((visibility("default"))) void* TRITONBACKEND_ModelInstanceExecute(void)'
        " { missing_function(); return 0; }\n"
    )
    ran = backend_check(compile_backend(source=undefined))
    assert ran.returncode == 1
    assert "FINDING load-failed" in ran.stdout and "missing_function" in ran.stdout


def test_a_file_that_is_no_backend(tmp_path: Path) -> None:
    text = tmp_path / "libtriton_text.so"
    text.write_text("no library")
    ran = backend_check(text)
    assert ran.returncode == 1
    assert f"'{text}' is not a shared object of 64 bits" in ran.stdout


@pytest.mark.parametrize(
    ("backend", "model"),
    [
        ("identity", None),
        ("repeat", "repeat"),
        ("onnxruntime", "digits_batched"),
        ("python", "python"),
    ],
)
def test_our_own_backends(
    model_repository: ModelRepository, backend: str, model: str | None
) -> None:
    options = []
    if model == "digits_batched":
        options = [f"--model={EXAMPLE_MODELS / model}"]
    elif model == "repeat":
        options = [f"--model={add_repeat(model_repository)}"]
    elif model == "python":
        options = [f"--model={add_python(model_repository)}"]
    library = backend_directory() / backend / f"libtriton_{backend}.so"
    assert findings(library, *options) == []


def add_repeat(models: ModelRepository) -> Path:
    return models.add(
        "repeat",
        """
        backend: "repeat"
        model_transaction_policy { decoupled: true }
        input [ { name: "IN" data_type: TYPE_INT32 dims: [ -1 ] },
                { name: "DELAY" data_type: TYPE_UINT32 dims: [ -1 ] },
                { name: "WAIT" data_type: TYPE_UINT32 dims: [ 1 ] } ]
        output [ { name: "OUT" data_type: TYPE_INT32 dims: [ 1 ] },
                 { name: "IDX" data_type: TYPE_UINT32 dims: [ 1 ] } ]
        """,
    )


def add_python(models: ModelRepository) -> Path:
    folder = models.add("python", f'backend: "python"\n{TENSORS}')
    (folder / "1" / "model.py").write_text(
        "import triton_python_backend_utils as pb\n\n\n"
        "class TritonPythonModel:\n"
        "    def execute(self, requests):\n"
        "        tensors = [pb.get_input_tensor_by_name(r, 'INPUT0') for r in requests]\n"
        "        return [pb.InferenceResponse([pb.Tensor('OUTPUT0', t.as_numpy())])\n"
        "                for t in tensors]\n"
    )
    return folder


def test_a_sequence_model(model_repository: ModelRepository) -> None:
    model = model_repository.add_identity(
        "sequences", "INT32", (1,), 4, backend="testing", extra="sequence_batching { }"
    )
    assert findings(backend_directory() / "testing" / "libtriton_testing.so", f"--model={model}") == []


def test_what_can_not_be_checked(wrong: Path, model_repository: ModelRepository) -> None:
    other = model_repository.add_identity("other")
    request = model_repository.root / "request.json"
    request.write_text('{"inputs": []}')
    renamed = shutil.copy(wrong, wrong.with_name("wrong.so"))
    for arguments, text in (
        ([], "the file LIB of the backend is missing"),
        (["--nonsense", wrong], "unknown option --nonsense"),
        (["--timeout-s=0", wrong], "--timeout-s is '0'"),
        (["--timeout=none", wrong], "--timeout-s is 'none'"),
        ([PROJECT_ROOT / "missing.so"], "cannot be read"),
        ([renamed], "is not named libtriton_NAME.so"),
        ([f"--model={PROJECT_ROOT / 'missing'}", wrong], "there is no folder of a model '"),
        ([f"--input={PROJECT_ROOT / 'missing'}", wrong], "there is no file '"),
        ([f"--input={request}", wrong], "a request cannot be sent: "),
        ([f"--model={other}", wrong], "the model does not use the backend 'wrong'"),
        ([backend_directory() / "onnxruntime" / "libtriton_onnxruntime.so"],
         "a made-up model does not load: "),
    ):  # fmt: skip
        ran = backend_check(*arguments)
        assert ran.returncode == 2, (arguments, ran.stdout, ran.stderr)
        assert text in ran.stderr, (arguments, ran.stderr)
    assert backend_check("--help").returncode == 0
