# SPDX-License-Identifier: Apache-2.0
"""docs/models/configuration.md says what proto/model_config.proto and `nereid check` say."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from conftest import ServerFactory
from support.repository import ModelRepository
from support.stage import EXAMPLE_MODELS, PROJECT_ROOT, server_binary

sys.path.insert(0, str(PROJECT_ROOT / "tools"))

import config_page  # noqa: E402

# Blocks whose fields get defaults when they are there.
BARE = """
backend: "onnxruntime"
max_batch_size: 8
input { name: "X" data_type: TYPE_FP32 dims: [ 4 ] }
output { name: "Y" data_type: TYPE_FP32 dims: [ 2 ] }
"""
BLOCKS = ("dynamic_batching { }", "sequence_batching { oldest { } }", "instance_group { }")


@pytest.fixture
def program(tmp_path: Path) -> config_page.Program:
    return config_page.Program(server_binary(), tmp_path)


def check(program: config_page.Program, page: str, proto: str | None = None) -> list[str]:
    types = config_page.read_proto(proto or config_page.PROTO.read_text())
    filled, problems = config_page.render(page, types, program)
    return problems + (["differs"] if filled != page else [])


def test_the_page_is_up_to_date_and_the_program_accepts_its_examples() -> None:
    done = subprocess.run(
        [sys.executable, "tools/config_page.py", "--nereid", server_binary()],
        cwd=PROJECT_ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.stderr, done.returncode) == ("", "", 0)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("| `max_batch_size` |", "| `batch_size` |"),
        ("| `max_batch_size` | int32 |", "| `max_batch_size` | int64 |"),
        ("`'max_batch_size' must be non-negative", "`'max_batch_size' may not be negative"),
    ],
)
def test_a_page_that_says_something_else_is_found(
    program: config_page.Program, old: str, new: str
) -> None:
    page = config_page.PAGE.read_text()
    assert old in page
    assert check(program, page.replace(old, new)) == ["differs"]


def test_a_field_without_a_place_or_a_comment_is_found(program: config_page.Program) -> None:
    page = config_page.PAGE.read_text()
    proto = config_page.PROTO.read_text()
    without = re.sub(r"<!-- fields: ModelWarmup -->.*?<!-- end -->", "", page, flags=re.DOTALL)
    # Where a message has no mark, its fields are shown with those that use it.
    assert check(program, without) == ["differs"]
    without = re.sub(r"<!-- fields: ModelConfig -->.*?<!-- end -->", "", page, flags=re.DOTALL)
    assert "ModelConfig.max_batch_size has no place in configuration.md" in check(program, without)
    more = proto + "\nmessage ModelNew {\n  bool enable = 1;\n}\n"
    assert check(program, page, more) == [
        "ModelNew.enable has no comment in model_config.proto",
        "ModelNew.enable has no place in configuration.md",
    ]


def test_a_mark_of_nothing_and_a_harmless_mistake_are_found(program: config_page.Program) -> None:
    page = "<!-- fields: ModelOld -->\n<!-- end -->\n"
    assert "the mark 'fields: ModelOld' names nothing" in check(program, page)
    page = "<!-- errors: onnx -->\n| `max_batch_size: 2` | | |\n<!-- end -->\n"
    said = check(program, page)
    assert "the program does not mind: | `max_batch_size: 2` |  |  |" in said


def test_an_example_that_the_program_refuses_is_found(program: config_page.Program) -> None:
    said = config_page.check_examples("```pbtxt\nmax_batch_size: -1\n```\n", program)
    assert [text.partition(",")[0] for text in said] == [
        "'max_batch_size' must be non-negative value for my_model"
    ]


def rows_of(page: str, heading: str) -> dict[str, str]:
    """The defaults in the table of fields below a heading."""
    section = re.search(rf"^## {heading}$(.*?)^## ", page, re.DOTALL | re.MULTILINE)
    assert section
    return dict(re.findall(r"^\| `([\w.]+)` \| [^|]* \| ([^|]*) \|", section[1], re.MULTILINE))


SECTIONS = {
    "version_policy": "Versions",
    "instance_group": "Instances",
    "optimization": "Optimisation",
    "dynamic_batching": "Dynamic batching",
    "sequence_batching": "Sequence batching",
}


@pytest.mark.parametrize("block", BLOCKS)
def test_defaults_are_those_of_the_program(program: config_page.Program, block: str) -> None:
    page = config_page.PAGE.read_text()
    defaults = {}
    for entry in program.check(BARE + block)["config"]:
        if not entry.get("why", "").startswith("default"):
            continue
        top, _, path = re.sub(r"\[\d+\]", "", entry["field"]).partition(".")
        defaults[top, path] = json.loads(entry["value"]) if '"' in entry["value"] else entry["value"]
    assert defaults
    for (top, path), value in defaults.items():
        said = rows_of(page, SECTIONS[top])[path]
        # Values that follow from the example, and what the page calls them.
        known = {"8": "`max_batch_size`", "my_model": "the name of the model", "my_model_0": "`_`"}
        assert known.get(value, value) in said, (top, path, value, said)


def test_what_the_model_file_completes(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    minimal = config_page.EXAMPLE.findall(config_page.PAGE.read_text())[0]
    for name, config in (("none", None), ("minimal", minimal)):
        folder = model_repository.add(name, config)
        shutil.copy(EXAMPLE_MODELS / "digits/1/model.onnx", folder / "1/model.onnx")
    server = server_factory(model_repository)

    def served(name: str) -> dict:
        url = f"http://{server.http_url}/v2/models/{name}/config"
        with urllib.request.urlopen(url, timeout=30) as answer:
            return json.load(answer)

    for config in (served("none"), served("minimal")):
        assert [(i["name"], i["data_type"], i["dims"]) for i in config["input"]] == [
            ("image", "TYPE_FP32", [64])
        ]
        assert [output["name"] for output in config["output"]] == ["probabilities", "digit"]
        assert "dynamic_batching" in config
    assert served("none")["max_batch_size"] > 1
    assert served("minimal")["max_batch_size"] == 64
    assert served("minimal")["instance_group"][0]["count"] == 4
