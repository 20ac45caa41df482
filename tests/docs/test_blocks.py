# SPDX-License-Identifier: Apache-2.0
"""The reader of pages, and what counts as the same output."""

from __future__ import annotations

from pathlib import Path

import pytest

from docs.blocks import BadMark, Block, commands_of, read_blocks, same_output
from docs.page_runner import PageRunner, WrongPage


def test_blocks_with_their_marks() -> None:
    text = (
        "<!-- docs: run, status 1 -->\n\n```sh\nfalse\n```\n"
        "<!-- docs: file a/b.txt\nhidden\n-->\n"
        "- item:\n  ```python\n  x = 1\n  ```\n"
        "<!-- docs: skip, needs a, or b -->\n```\n```\n"
    )
    assert read_blocks(text) == [
        Block(3, "sh", "false\n", "run", "", ("status 1",)),
        Block(6, "", "hidden\n", "file", "a/b.txt"),
        Block(10, "python", "x = 1\n"),
        Block(14, "", "", "skip", "needs a, or b"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "<!-- docs: walk -->\n```\n```\n",
        "<!-- docs: skip -->\n```\n```\n",
        "<!-- docs: run me -->\n```\n```\n",
        "<!-- docs: run -->\ntext\n",
        "<!-- docs: run -->\n<!-- docs: run -->\n```\n```\n",
        "<!-- docs: run -->\n",
    ],
)
def test_bad_marks(text: str) -> None:
    with pytest.raises(BadMark):
        read_blocks(text)


def test_commands() -> None:
    text = "$ a \\\n  b\n1\n2\n$ c\n$ d '{\n}'\n3\n"
    assert commands_of(text) == [("a \\\n  b", "1\n2"), ("c", ""), ("d '{\n}'", "3")]


@pytest.mark.parametrize(
    ("expected", "actual", "numbers_vary", "same"),
    [
        ("a\nb", "a\nb\n", False, True),
        ("a\nb", "a\nc\n", False, False),
        ("a\n...\nd", "a\nb\nc\nd", False, True),
        ("a\n...\nd", "a\nd\n", False, True),
        ("a\n...\nd", "a\nb\n", False, False),
        ("a ... d", "a b c d", False, True),
        ("a ... d", "a b\nc d", False, False),
        ("took 1.5 ms", "took 230 µs", True, True),
        ("took 1.5 ms", "took 230 µs", False, False),
        ("took 1.5 ms", "takes 230 µs", True, False),
        ("n  1,234", "n       5", True, True),
        ("n.x", "nyx", False, False),
        ("", "", False, True),
        ("", "a", False, False),
    ],
)
def test_same_output(expected: str, actual: str, numbers_vary: bool, same: bool) -> None:
    assert same_output(expected, actual, numbers_vary) == same


@pytest.mark.parametrize(
    "text",
    [
        "<!-- docs: run -->\n```sh\nfalse\n```\n",
        "<!-- docs: run, status 1 -->\n```sh\ntrue\n```\n",
        "<!-- docs: run -->\n```python\nnumpy.zeros(1)\n```\n",
        "<!-- docs: run -->\n```sh\necho a\n```\n<!-- docs: output -->\n```\nb\n```\n",
        "<!-- docs: console -->\n```\n$ echo a\na\n$ echo b\na\n```\n",
        "<!-- docs: server -->\n```sh\nnereid --model-repository=nothing\n```\n",
    ],
)
def test_wrong_pages(text: str, tmp_path: Path) -> None:
    with PageRunner(tmp_path) as runner, pytest.raises(WrongPage):
        for block in read_blocks(text):
            runner.do(block)


def test_blocks_see_what_earlier_ones_did(tmp_path: Path) -> None:
    text = (
        "<!-- docs: run -->\n```python\nx = 1\n```\n"
        "<!-- docs: run, after the others -->\n```python\nprint(x)\n```\n"
        "<!-- docs: output -->\n```\n1\n```\n"
        "<!-- docs: file a.txt -->\n```\ntext\n```\n"
        "<!-- docs: console -->\n```\n$ cat a.txt\ntext\n```\n"
        "<!-- docs: run, needs bash, needs no_such_module -->\n```python\nimport no_such_module\n```\n"
        "<!-- docs: output -->\n```\nnothing to compare with\n```\n"
    )
    with PageRunner(tmp_path) as runner:
        for block in read_blocks(text):
            runner.do(block)
