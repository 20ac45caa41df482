# SPDX-License-Identifier: Apache-2.0
"""The command lines of the program: what every command says of its options, and of mistakes."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from conftest import ServerFactory
from support.infer import assert_serving
from support.nereid import FREE_PORTS
from support.repository import ModelRepository
from support.server_process import ServerProcess
from support.stage import PROJECT_ROOT, server_binary

SECONDS = 60
COMMANDS = (
    "backend-check",
    "bench",
    "capacity",
    "check",
    "completion",
    "explain",
    "help",
    "man",
    "probe",
    "replay",
    "run-model",
    "top",
    "tune",
)
OPTION = re.compile(r"^  (--[a-z0-9-]+)(\[?=\S+)?", re.MULTILINE)
MODEL = PROJECT_ROOT / "examples" / "models" / "digits" / "1" / "model.onnx"


def nereid(
    *words: str | Path, binary: str = "nereid", folder: Path | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [server_binary(binary), *words],
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
        cwd=folder,
    )


def printed(*words: str) -> str:
    done = nereid(*words)
    assert (done.returncode, done.stderr) == (0, ""), (words, done.stderr)
    return done.stdout


def options_of(command: str) -> dict[str, str]:
    """The argument of each option, as the help has it; "" for none."""
    found = OPTION.findall(printed(command, "--help"))
    return {name: argument for name, argument in found}


def test_the_help_lists_every_command() -> None:
    text = printed("help")
    listed = set(re.findall(r"^  ([a-z-]+) {2,}\S", text, re.MULTILINE))
    assert listed == {*COMMANDS, "serve"}
    assert printed("--help") == text == printed("-h")
    lines = text.splitlines()
    assert len(lines) <= 50
    assert max(map(len, lines)) <= 80


def test_all_options_of_the_server_are_told_where_they_are_asked_for() -> None:
    everything = printed("--help-all")
    assert everything == printed("help", "serve")
    assert set(OPTION.findall(printed("--help"))) < set(OPTION.findall(everything))
    # A drop-in for Triton prints all of them, as it does.
    assert nereid("--help", binary="tritonserver").stdout == everything.replace(
        "nereid --model", "tritonserver --model"
    ).replace("\n  nereid ", "\n  tritonserver ")


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_is_told_everywhere(command: str) -> None:
    usage = printed(command, "--help")
    assert usage.startswith(f"Usage: nereid {command}")
    assert printed("help", command) == usage == printed(command, "-h")
    options = options_of(command)
    assert "--help" in options
    page = printed("man", command).replace("\\-", "-")
    completions = [printed("completion", shell) for shell in ("bash", "zsh")]
    fish = printed("completion", "fish")
    for option in options:
        assert f"\\fB{option}\\fR" in page, option
        assert all(option in text for text in completions), option
        assert f"__fish_seen_subcommand_from {command}' -l {option[2:]} " in fish, option


@pytest.mark.parametrize("command", [name for name in COMMANDS if name not in ("help", "man")])
def test_a_wrong_option_gets_one_sentence_and_one_hint(command: str) -> None:
    for option, argument in options_of(command).items():
        words = [[f"{option}x"]]
        expected = [f"unknown option {option}x; did you mean {option}?"]
        if argument.startswith("="):
            words.append([option])
            expected.append(f"{option} needs a value: {option}{argument}")
        for line, sentence in zip(words, expected):
            done = nereid(command, *line)
            assert (done.returncode, done.stdout) == (2, "")
            assert done.stderr == (
                f"nereid {command}: {sentence}\n`nereid {command} --help` lists the options.\n"
            )


@pytest.mark.parametrize(
    ("command", "option", "value"),
    [
        ("backend-check", "--timeout-s", "0"),
        ("bench", "--concurrency", "0"),
        ("capacity", "--p99-ms", "x"),
        ("explain", "--url", "grpc://h"),
        ("probe", "--timeout-s", "0"),
        ("replay", "--speed", "0"),
        ("run-model", "--count", "0"),
        ("top", "--interval", "0"),
        ("tune", "--objective", "speed"),
    ],
)
def test_both_forms_of_a_value(command: str, option: str, value: str) -> None:
    separate = nereid(command, option, value)
    joined = nereid(command, f"{option}={value}")
    assert separate.returncode == joined.returncode == 2
    assert separate.stderr == joined.stderr
    assert option in joined.stderr
    assert len(joined.stderr.splitlines()) == 2


def test_what_is_missing_is_said_alone() -> None:
    for command in ("backend-check", "bench", "capacity", "check", "completion", "replay", "run-model", "tune"):
        done = nereid(command)
        assert done.returncode == 2
        first, hint = done.stderr.splitlines()
        assert re.fullmatch(rf"nereid {command}: .+ is missing.*", first), first
        assert hint == f"`nereid {command} --help` lists the options."


def test_a_word_that_is_no_command_lists_the_commands(tmp_path: Path) -> None:
    done = nereid("benhc", folder=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    lines = done.stderr.splitlines()
    assert {line.split()[0] for line in lines if line.startswith("  ")} >= {"serve", "bench", "tune"}
    assert lines[-2:] == [
        "nereid: 'benhc' is neither a command nor a file or folder; did you mean bench?",
        "`nereid --help` says how it is used.",
    ]
    done = nereid("serve", "benhc", folder=tmp_path)
    assert done.returncode == 1
    assert "'benhc'" in done.stderr


def test_help_of_no_command() -> None:
    done = nereid("help", "tpo")
    assert done.returncode == 2
    assert done.stderr == (
        "nereid help: there is no command 'tpo'; did you mean top?\n`nereid help` lists the commands.\n"
    )


def test_a_drop_in_takes_no_words(tmp_path: Path) -> None:
    for word in ("serve", "help", "models"):
        done = nereid(word, binary="tritonserver", folder=tmp_path)
        assert done.returncode == 1
        assert f"Unexpected argument: {word}" in done.stderr


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., ServerProcess]]:
    """Starts servers with the given words before all options."""
    started: list[ServerProcess] = []

    def start(*words: str | Path, **variables: str) -> ServerProcess:
        log = tmp_path / f"log-{len(started)}"
        started.append(ServerProcess([server_binary(), *words, *FREE_PORTS], log, variables))
        return started[-1]

    yield start
    for server in started:
        server.stop()


@pytest.mark.parametrize("command", [(), ("serve",)])
def test_a_model_file_is_served_under_its_name(
    serve: Callable[..., ServerProcess], tmp_path: Path, command: tuple[str, ...]
) -> None:
    file = tmp_path / "my-digits.onnx"
    shutil.copy(MODEL, file)
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    server = serve(*command, file, TMPDIR=str(temporary))
    server.wait_for("/v2/models/my-digits/ready")
    sentence = f"serving '{file}' as the model 'my-digits' with the backend 'onnxruntime'"
    server.wait_for_log(sentence)
    server.stop()
    assert list(temporary.glob("nereid_*")) == []


def test_a_folder_is_a_model_or_a_repository(
    serve: Callable[..., ServerProcess], model_repository: ModelRepository
) -> None:
    folder = model_repository.add_identity("echo")
    for word in (folder, model_repository.root):
        server = serve(word)
        server.wait_for()
        assert_serving(server.http_url, "echo")


def test_folders_without_a_model_are_told(tmp_path: Path) -> None:
    flat = tmp_path / "flat"
    flat.mkdir()
    assert f"there is no model in '{flat}'" in nereid(flat).stderr
    shutil.copy(MODEL, flat / "net.onnx")
    done = nereid(flat)
    assert done.returncode == 1
    sentence, hint = done.stderr.splitlines()
    assert "only 'net.onnx', which belongs into" in sentence
    assert f"`nereid {flat}/net.onnx` serves that file alone" in sentence
    assert hint == "`nereid --help` says how it is used, `nereid --help-all` lists all options."
    checked = nereid("check", flat)
    assert checked.returncode == 0
    assert "only 'net.onnx', which belongs into" in checked.stderr
    done = nereid(MODEL.parent)
    assert f"the model's folder is '{MODEL.parent.parent}'" in done.stderr
    notes = tmp_path / "notes.txt"
    notes.touch()
    assert "has to end in .onnx, .xml" in nereid(notes).stderr


def test_an_option_that_names_a_flat_folder_gets_a_warning(
    server_factory: ServerFactory, tmp_path: Path
) -> None:
    flat = tmp_path / "flat"
    flat.mkdir()
    shutil.copy(MODEL, flat / "net.onnx")
    server = server_factory(flat)
    server.wait_for_log("only 'net.onnx', which belongs into")
