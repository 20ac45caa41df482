# SPDX-License-Identifier: Apache-2.0
"""Completions in the shells that they are for, and manual pages as man(1) shows them."""

from __future__ import annotations

import gzip
import os
import re
import subprocess
from pathlib import Path

import pytest

BASH = """
source "$1"; shift
compopt() { :; }
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_nereid
printf '%s\\n' "${COMPREPLY[@]}"
"""
# Shows what would be handed to the completion system.
ZSH = """
_describe() { print -l -- "${(@P)2}" }
_arguments() { print -l -- "$@" }
compdef() { print -- "compdef $*" }
source "$1"; shift
words=("$@") CURRENT=$#
_nereid
"""


def output(*command: str | Path) -> list[str]:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    return done.stdout.splitlines()


@pytest.fixture(scope="module")
def option_names(installation: Path) -> set[str]:
    page = "\n".join(output(installation / "bin" / "nereid", "--help-markdown"))
    page = page.partition("\n# Commands\n")[0]
    names = set(re.findall(r"^\| `(--[a-z0-9-]+)", page, flags=re.MULTILINE))
    assert len(names) > 80
    return names


def bash(installation: Path, *words: str) -> list[str]:
    script = installation / "share/bash-completion/completions/nereid"
    return output("bash", "--norc", "-c", BASH, "bash", script, "nereid", *words)


def zsh(installation: Path, *words: str) -> list[str]:
    script = installation / "share/zsh/site-functions/_nereid"
    return output("zsh", "-f", "-c", ZSH, "zsh", script, "nereid", *words)


def fish(installation: Path, line: str) -> list[str]:
    script = installation / "share/fish/vendor_completions.d/nereid.fish"
    found = output("fish", "--no-config", "-c", f"source {script}; complete -C '{line}'")
    return [each.split("\t")[0] for each in found]


def test_bash_offers_options_and_commands(installation: Path, option_names: set[str]) -> None:
    assert {word.rstrip("=") for word in bash(installation, "--")} == option_names
    assert bash(installation, "--http-p") == ["--http-port="]
    assert bash(installation, "chec") == ["check"]
    assert "check" not in bash(installation, "--http-port=1", "")


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["--log-format", "=", ""], ["default", "ISO8601", "json"]),
        (["--log-format", "="], ["default", "ISO8601", "json"]),
        (["--log-format", "js"], ["json"]),
        (["--allow-http", "=", "f"], ["false"]),
        (["--http-port", "=", ""], [""]),
        (["check", "--j"], ["--json"]),
        (["check", "--backend-d"], ["--backend-directory="]),
        (["run-model", "--load"], ["--load-model="]),
        (["completion", ""], ["--help", "bash", "zsh", "fish"]),
        (["man", "chec"], ["check"]),
    ],
)
def test_bash_knows_values_and_commands(
    installation: Path, words: list[str], offered: list[str]
) -> None:
    assert bash(installation, *words) == offered


def test_bash_offers_folders_and_files(installation: Path, tmp_path: Path) -> None:
    (tmp_path / "models").mkdir()
    (tmp_path / "mail.log").touch()
    begin = f"{tmp_path}/m"
    for words in (["--model-repository", "=", begin], ["check", begin], ["run-model", begin]):
        assert bash(installation, *words) == [f"{tmp_path}/models"]
    files = {f"{tmp_path}/models", f"{tmp_path}/mail.log"}
    assert set(bash(installation, "--log-file", "=", begin)) == files


def test_zsh(installation: Path, option_names: set[str]) -> None:
    script = installation / "share/zsh/site-functions/_nereid"
    assert script.read_text().startswith("#compdef nereid tritonserver\n")
    first = zsh(installation, "")
    assert first[0] == "compdef _nereid nereid tritonserver"
    offered = {match[1] for each in first if (match := re.match(r"\*?(--[a-z0-9-]+)", each))}
    assert offered == option_names
    assert any(each.startswith("check:check model repositories") for each in first)
    assert "*--model-repository=[Folder of models to serve]:folder:_files -/" in first
    second = zsh(installation, "check", "")
    assert "--json[print JSON]" in second
    assert "*:folder:_files -/" in second
    assert not any("--http-port" in each for each in second)


def test_zsh_itself_takes_what_it_is_given(installation: Path, tmp_path: Path) -> None:
    """In a terminal of its own, with the completion system of zsh."""
    folder = installation / "share/zsh/site-functions"
    program = f"""
        zmodload zsh/zpty
        zpty shell 'PS1= zsh -f -i'
        zpty -w shell 'PS1=; unsetopt zle_bracketed_paste; fpath=({folder} $fpath)'
        zpty -w shell 'autoload -U compinit; compinit -u -d {tmp_path}/dump; print ready-$((1))'
        while zpty -r shell line; do [[ $line == ready-1* ]] && break; done
        zpty -w -n shell $'nereid --http-por\\t8123 --log-form\\tj\\t\\C-a: \\C-e\\n'
        zpty -w shell 'print end-$((1))'
        while zpty -r shell line; do print -rn -- $line; [[ $line == end-1* ]] && break; done
    """
    shown = "\n".join(output("zsh", "-f", "-c", program))
    seen = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|[\x07\b\r]", "", shown)
    assert "--http-port=8123" in seen
    assert "--log-format=json" in seen


def test_fish(installation: Path, option_names: set[str]) -> None:
    offered = {each.rstrip("=") for each in fish(installation, "nereid --")}
    assert offered == option_names
    assert "check" in fish(installation, "nereid ")
    assert fish(installation, "nereid --log-format=js") == ["--log-format=json"]
    assert "--json" in fish(installation, "nereid check --")
    assert "--http-port" not in fish(installation, "nereid check --")
    assert set(fish(installation, "tritonserver completion ")) >= {"bash", "zsh", "fish"}


def manual(page: Path) -> str:
    done = subprocess.run(
        ["man", "--warnings", "--local-file", page],
        env={**os.environ, "LC_ALL": "C.UTF-8", "MANWIDTH": "200", "MANROFFSEQ": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0 and done.stderr == "", done.stderr
    return done.stdout


def test_manual_page_of_the_server(installation: Path, option_names: set[str]) -> None:
    text = manual(installation / "share/man/man1/nereid.1.gz")
    for section in ("NAME", "SYNOPSIS", "OPTIONS", "SIGNALS", "EXIT STATUS", "SEE ALSO"):
        assert f"\n{section}\n" in text
    assert {name for name in option_names if not re.search(rf"\n +{name}[= \n]", text)} == set()
    link = installation / "share/man/man1/tritonserver.1.gz"
    assert gzip.open(link).read() == gzip.open(installation / "share/man/man1/nereid.1.gz").read()


def test_every_command_has_its_page(installation: Path) -> None:
    text = manual(installation / "share/man/man1/nereid.1.gz")
    pages = set(re.findall(r"(nereid-[a-z-]+)\(1\)", text))
    assert "nereid-check" in pages
    for name in pages:
        page = manual(installation / f"share/man/man1/{name}.1.gz")
        command = name.removeprefix("nereid-")
        usage = "\n".join(output(installation / "bin" / "nereid", command, "--help"))
        assert usage.startswith(f"Usage: nereid {command}")
        for option in re.findall(r"--[a-z][a-z-]+", usage):
            assert option in page


def test_wrong_arguments(installation: Path) -> None:
    for words, sentence in (
        (["completion", "tcsh"], "no completions for 'tcsh', only for bash, zsh and fish"),
        (["completion"], "the shell is missing: bash, zsh or fish"),
        (["man", "chekc"], "there is no command 'chekc'; did you mean check?"),
    ):
        done = subprocess.run(
            [installation / "bin" / "nereid", *words], capture_output=True, text=True, check=False
        )
        assert done.returncode == 2
        assert sentence in done.stderr
