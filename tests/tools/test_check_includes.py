# SPDX-License-Identifier: Apache-2.0
"""tools/check_includes.py finds violations of each rule, on small trees of one or two files."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT_ROOT = Path(__file__).resolve().parents[2]
CHECKER = PROJECT_ROOT / "tools" / "check_includes.py"
RULES = PROJECT_ROOT / "tools" / "include_rules.toml"

# Files that the cases below include, so that the checker can find them.
PRESENT = (
    "include/triton/core/tritonserver.h",
    "src/base/log.h",
    "src/model/shape.h",
    "src/config/parse.h",
    "src/infer/infer_request.h",
    "src/scheduling/scheduler.h",
    "src/execution/instance.h",
    "src/scheduling/testing/puppet_scheduler.h",
    "src/c_api/server.h",
    "src/frontends/codec/v2_request_reader.h",
    "src/frontends/http/router.h",
    "src/frontends/grpc/grpc_server.h",
    "backends/sdk/gather.h",
    "backends/identity/identity.h",
    "apps/workshop/tune/testing/fake_engine.h",
    "apps/loadgen/testing/fake_load.h",
)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in PRESENT:
        write(tmp_path, name, "// Empty.\n" * 60)
    (tmp_path / "tools").mkdir()
    shutil.copy(RULES, tmp_path / "tools")
    return tmp_path


def write(tree: Path, name: str, text: str) -> None:
    path = tree / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def run_checker(tree: Path, *options: str) -> tuple[int, list[str]]:
    """Exit code and problem lines (the last line, a summary, is left out)."""
    done = subprocess.run(
        [sys.executable, CHECKER, "--root", tree, *options],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    return done.returncode, done.stdout.splitlines()[:-1]


@pytest.mark.parametrize(
    ("file", "include"),
    [
        ("src/model/shape.cc", '"base/log.h"'),
        ("src/scheduling/queue.cc", '"infer/infer_request.h"'),
        ("src/frontends/http/endpoint.cc", '"frontends/codec/v2_request_reader.h"'),
        ("src/frontends/http/transport/loop.cc", "<boost/asio/io_context.hpp>"),
        ("src/frontends/codec/reader.cc", '"simdjson.h"'),
        ("src/frontends/codec/careful.cc", "<rapidjson/document.h>"),
        ("src/config/text.cc", "<google/protobuf/text_format.h>"),
        ("src/config/normalize.cc", '"model_config.pb.h"'),
        ("src/scheduling/queue_test.cc", '"scheduling/testing/puppet_scheduler.h"'),
        ("src/c_api/infer.cc", '"triton/core/tritonserver.h"'),
        ("backends/identity/backend.cc", '"backends/sdk/gather.h"'),
        ("backends/identity/state.cc", '"backends/identity/identity.h"'),
        ("backends/onnxruntime/run.cc", "<onnxruntime/onnxruntime_c_api.h>"),
        ("examples/embedding/c/infer.c", '"triton/core/tritonserver.h"'),
        ("apps/nereid/main.cc", '"frontends/grpc/grpc_server.h"'),
    ],
)
def test_allowed(tree: Path, file: str, include: str) -> None:
    write(tree, file, f"// A file.\n#include {include}\n")
    assert run_checker(tree) == (0, [])


@pytest.mark.parametrize(
    ("file", "include", "message"),
    [
        ("src/base/a.cc", '"model/shape.h"', "dependencies point downward only"),
        ("src/config/a.cc", '"infer/infer_request.h"', "dependencies point downward only"),
        ("src/scheduling/a.cc", '"execution/instance.h"', "through their own interfaces"),
        ("src/execution/a.cc", '"c_api/server.h"', "dependencies point downward only"),
        ("src/c_api/a.cc", '"frontends/http/router.h"', "does not know who serves"),
        ("src/frontends/http/a.cc", '"frontends/grpc/grpc_server.h"', "never include one another"),
        ("src/frontends/grpc/a.cc", '"frontends/http/router.h"', "never include one another"),
        ("src/frontends/codec/a.cc", '"frontends/http/router.h"', "never include one another"),
        ("backends/identity/a.cc", '"base/log.h"', "sees only the public headers and the SDK"),
        ("backends/identity/a.cc", '"src/base/log.h"', "sees only the public headers and the SDK"),
        ("backends/testing/a.cc", '"backends/identity/identity.h"', "sees only the public headers"),
        ("backends/sdk/a.cc", '"backends/identity/identity.h"', "part of every backend"),
        ("examples/embedding/c/a.c", '"base/log.h"', "sees what a user sees"),
        ("include/triton/core/a.h", '"base/log.h"', "stand alone"),
        ("src/server/a.cc", "<grpcpp/grpcpp.h>", "gRPC belongs to src/frontends/grpc and bench/limits only"),
        ("src/server/a.cc", '"grpc_service.grpc.pb.h"', "gRPC belongs to"),
        ("src/server/a.cc", '"model_config.pb.h"', "protobuf belongs to src/config and"),
        ("src/frontends/http/a.cc", "<boost/asio.hpp>", "Boost belongs to"),
        ("src/frontends/http/a.cc", "<simdjson.h>", "simdjson belongs to"),
        ("backends/identity/a.cc", "<rapidjson/document.h>", "RapidJSON belongs to"),
        ("backends/identity/a.cc", "<onnxruntime_c_api.h>", "ONNX Runtime belongs to"),
        ("src/infer/a.cc", '"scheduling/testing/puppet_scheduler.h"', "for tests only"),
        ("src/infer/a.cc", '"../base/log.h"', "write the path from src/"),
        ("src/infer/a.cc", '"tune/testing/fake_engine.h"', "for tests only"),
        ("src/infer/a.cc", '"apps/loadgen/testing/fake_load.h"', "for tests only"),
    ],
)
def test_violation(tree: Path, file: str, include: str, message: str) -> None:
    write(tree, file, f"// A file.\n#include {include}\n")
    code, problems = run_checker(tree)
    assert code == 1
    assert any(line.startswith(f"{file}:2: ") and message in line for line in problems), problems


def test_two_modules_of_one_layer_may_not_include_each_other(tree: Path) -> None:
    write(tree, "src/infer/a.cc", '#include "scheduling/scheduler.h"\n')
    assert run_checker(tree) == (0, [])
    write(tree, "src/scheduling/a.cc", '#include "infer/infer_request.h"\n')
    code, problems = run_checker(tree)
    assert code == 1
    assert "modules in a circle: src/infer -> src/scheduling -> src/infer" in problems[0]


def test_a_file_in_no_module(tree: Path) -> None:
    write(tree, "src/unlisted/a.cc", "// A file.\n")
    assert run_checker(tree) == (
        1,
        ["src/unlisted/a.cc:1: lies in no module of tools/include_rules.toml"],
    )


@pytest.mark.parametrize(("lines", "code"), [(800, 0), (801, 1)])
def test_file_length(tree: Path, lines: int, code: int) -> None:
    write(tree, "src/base/long.cc", "// A line.\n" * lines)
    assert run_checker(tree)[0] == code


def test_interfaces_laid_down_by_others_may_be_long(tree: Path) -> None:
    write(tree, "include/triton/core/tritonserver.h", "// A line.\n" * 2000)
    assert run_checker(tree) == (0, [])


@pytest.mark.parametrize("folder", ["work", "root", "tmp", "home/somebody"])
def test_machine_paths(tree: Path, folder: str) -> None:
    write(tree, "docs/guide.md", f"Look into `/{folder}/main` for it.\n")
    code, problems = run_checker(tree)
    assert code == 1
    assert problems == [f"docs/guide.md:1: names a place on one machine: /{folder}/m..."]


def test_paths_that_only_look_alike(tree: Path) -> None:
    write(tree, "docs/guide.md", "See src/work/a, $HOME/root/b and a/tmp/c.\n")
    assert run_checker(tree) == (0, [])


@pytest.mark.parametrize(
    ("file", "allowed"),
    [
        ("src/base/log.cc", False),
        ("backends/sdk/gather.cc", False),
        ("src/c_api/server.cc", True),
        ("src/base/log_test.cc", True),
        ("apps/nereid/main.cc", True),
        ("caches/redis/entry.cc", True),
    ],
)
def test_the_environment_is_read_by_programs(tree: Path, file: str, allowed: bool) -> None:
    write(tree, file, 'const char* home = std::getenv("HOME");\n')
    code, problems = run_checker(tree)
    assert code == (0 if allowed else 1), problems
    assert allowed or problems[0].startswith(f"{file}:1: uses getenv: the environment is read by")


@pytest.mark.parametrize(
    "call", ["usleep(1000)", "absl::SleepFor(kPause)", "std::this_thread::sleep_for(kPause)"]
)
def test_no_unit_test_sleeps(tree: Path, call: str) -> None:
    write(tree, "src/base/log.cc", f"void Pause() {{ {call}; }}\n")
    write(tree, "backends/testing/behaviours.cc", f"void Pause() {{ {call}; }}\n")
    assert run_checker(tree) == (0, [])
    write(tree, "src/base/log_test.cc", f"void Pause() {{ {call}; }}\n")
    code, problems = run_checker(tree)
    assert code == 1
    assert len(problems) == 1
    assert problems[0].startswith("src/base/log_test.cc:1: uses ")


HEADER, USER, LIST = "src/base/part.h", "src/base/whole.cc", "tools/small_headers.tsv"


def write_small_header(tree: Path, lines: int = 59) -> None:
    write(tree, HEADER, "// A line.\n" * lines)
    write(tree, "src/base/part.cc", '#include "base/part.h"\n')
    write(tree, USER, '#include "base/part.h"\n')


def test_a_small_header_with_one_user_is_a_part_of_it(tree: Path) -> None:
    write_small_header(tree)
    text = f"59 lines for one user: move them into {USER}, or say why not in {LIST}"
    assert run_checker(tree) == (1, [f"{HEADER}:1: {text}"])


@pytest.mark.parametrize(
    "other", ["src/base/other.cc", "src/base/part_test.cc", "src/base/testing/fake.h"]
)
def test_a_header_with_a_second_user_or_a_test_stays(tree: Path, other: str) -> None:
    write_small_header(tree)
    write(tree, other, '#include "base/part.h"\n')
    assert run_checker(tree) == (0, [])


def test_a_header_of_sixty_lines_stays(tree: Path) -> None:
    write_small_header(tree, lines=60)
    assert run_checker(tree) == (0, [])


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        (f"{HEADER}\twritten by the build\n", None),
        (f"{HEADER}\t\n", f"{LIST}:1: {HEADER} is listed without a reason"),
        (f"{HEADER}\n", f"{LIST}:1: {HEADER} is listed without a reason"),
        (
            f"{HEADER}\twritten by the build\nsrc/gone.h\tits reason\n",
            f"{LIST}:2: src/gone.h is no small header with one user",
        ),
    ],
)
def test_the_list_of_small_headers(tree: Path, entry: str, problem: str | None) -> None:
    write_small_header(tree)
    write(tree, LIST, entry)
    assert run_checker(tree) == (1 if problem else 0, [problem] if problem else [])


def test_the_list_of_small_headers_is_made_again(tree: Path) -> None:
    write_small_header(tree)
    write(tree, "src/base/new.h", "// A line.\n")
    write(tree, "src/base/user.cc", '#include "base/new.h"\n')
    write(tree, LIST, f"src/gone.h\tits reason\n{HEADER}\twritten by the build\n")
    code, problems = run_checker(tree, "--update-small-headers")
    assert (tree / LIST).read_text() == f"src/base/new.h\t\n{HEADER}\twritten by the build\n"
    assert (code, problems) == (1, [f"{LIST}:1: src/base/new.h is listed without a reason"])
