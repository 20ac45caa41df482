# SPDX-License-Identifier: Apache-2.0
"""What the pages say about the program's options and commands, and about versions, is so."""

from __future__ import annotations

import re
import subprocess
from functools import cache

import pytest

from docs.test_pages import NAMES
from support.stage import PROJECT_ROOT, server_binary

OPTION = re.compile(r"(?<![\w-])--([a-z][a-z0-9-]*[a-z0-9])(?![\w*-])")
COMMANDS_LINE = re.compile(r"^  ([a-z-]+)  +\S", re.MULTILINE)
CODE = re.compile(r"```.*?```|`[^`\n]+`", re.DOTALL)
CALL = re.compile(
    r"(?:^|[\s`(]|bin/)(?:nereid|tritonserver)"
    r"(?: ([a-z][a-z-]+))?(?=[\s`])"  # a command, if there is one
    r"((?:\\\n|[^\n])*)"  # the rest of the line and of those that continue it
)
# Options in prose that belong to other programs: perf_analyzer, Docker, clients in examples/. A
# process of the Python backend shows `--fork-server` in lists of processes.
OF_OTHERS = {
    *("concurrency-range", "request-rate-range", "read-only", "shm-size", "ulimit", "user"),
    *("fast", "index", "speakers", "fork-server"),
    "name",  # any option: `--name=value`
}
UNDOCUMENTED = {"help"}  # explains itself


@cache
def output_of(*words: str) -> str:
    done = subprocess.run([server_binary(), *words], capture_output=True, text=True, check=True)
    return done.stdout


@cache
def commands() -> list[str]:
    text = output_of("--help")
    listed = text[text.index("Commands:") :].split("\n\n")[0]
    return COMMANDS_LINE.findall(listed)


@cache
def options_of_server() -> set[str]:
    return set(OPTION.findall(output_of("--help-all")))


@cache
def options_of_commands() -> dict[str, set[str]]:
    known = {name: set(OPTION.findall(output_of(name, "--help"))) | {"help"} for name in commands()}
    # `nereid serve` hands on the server's options.
    return known | {"serve": options_of_server()}


def read(name: str) -> str:
    return (PROJECT_ROOT / name).read_text(encoding="utf-8")


def unknown_options(text: str) -> set[str]:
    """Options of `nereid` in code, as `COMMAND --option`, that the command does not have."""
    known = options_of_commands()
    of_any = options_of_server().union(*known.values()) | OF_OTHERS
    unknown = set()
    for code in CODE.findall(text):
        if code.startswith("`--"):
            unknown |= {f"--{option}" for option in OPTION.findall(code) if option not in of_any}
        for command, rest in CALL.findall(code):
            rest = re.split(r"[|;#]| && |\$\(", rest)[0]
            options = options_of_server() if not command else known.get(command)
            if options is None:
                unknown.add(f"nereid {command}")
            else:
                here = set(OPTION.findall(rest)) - options - OF_OTHERS
                unknown |= {f"nereid {command} --{option}" for option in here}
    return unknown


@pytest.mark.parametrize("name", NAMES)
def test_options_exist(name: str) -> None:
    assert unknown_options(read(name)) == set()


@pytest.mark.parametrize(
    ("text", "unknown"),
    [
        ("`--http-prot`", {"--http-prot"}),
        ("`nereid --htp-port=1`", {"nereid  --htp-port"}),
        ("```\nnereid top --url=U --twice\n```", {"nereid top --twice"}),
        ("`nereid tune M \\\n  --aply`", set()),  # not code: a line ends it
        ("```sh\nnereid tune M \\\n  --aply\n```", {"nereid tune --aply"}),
        ("`nereid tunes M`", {"nereid tunes"}),
        ("`nereid --http-port=1` `nereid check --json D` `--lame-duck-secs`", set()),
        ("```\nnereid check D | grep --colour x\n```", set()),
    ],
)
def test_unknown_options_are_found(text: str, unknown: set[str]) -> None:
    assert unknown_options(text) == unknown


def test_every_command_is_in_the_index() -> None:
    index = read("docs/README.md")
    listed = set(re.findall(r"\[[^\]]*`nereid ([a-z-]+)`[^\]]*\]\(", index))
    assert set(commands()) - listed - UNDOCUMENTED == set(), "no link in docs/README.md"


def pinned() -> dict[str, set[str]]:
    """The exact versions of packages in tools/dependencies.txt."""
    versions: dict[str, set[str]] = {}
    variables = dict(re.findall(r"^(\w+)=(\S+)$", read("tools/versions.env"), re.MULTILINE))
    for line in read("tools/dependencies.txt").splitlines():
        if "PERF_ANALYZER" in line:  # an old wheel, of which only a program is used
            continue
        if match := re.match(r"([\w.-]+)(?:\[.*\])?==(\S+)", line):
            version = re.sub(r"\$\{(\w+)\}", lambda found: variables[found[1]], match[2])
            versions.setdefault(match[1], set()).add(version)
    return versions


@pytest.mark.parametrize(
    ("row", "package"),
    [
        ("ONNX Runtime", "onnxruntime"),
        ("OpenVINO", "openvino"),
        ("PyTorch", "torch"),
        ("TensorFlow", "tensorflow-cpu"),
        ("numpy, for Python models", "numpy"),
        ("`tritonclient` for Python", "tritonclient"),
    ],
)
def test_versions_are_those_that_are_tested(row: str, package: str) -> None:
    cells = re.search(rf"^\| {re.escape(row)} \| ([^|]*) \|", read("docs/compatibility.md"), re.M)
    assert cells is not None
    assert set(cells[1].strip().split(", ")) == pinned()[package]
