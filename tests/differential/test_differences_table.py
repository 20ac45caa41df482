# SPDX-License-Identifier: Apache-2.0
"""Tests of the comparison itself, and of the table of allowed differences."""

from __future__ import annotations

from pathlib import Path

import pytest

from differential.answers import GrpcReply, HttpReply
from differential.differences import COLUMNS, read_table
from differential.observe import Difference, compare

JSON = [("Content-Type", "application/json")]


def reply(status: int, body: str, headers: list[tuple[str, str]] | None = None) -> HttpReply:
    return HttpReply(status, JSON if headers is None else headers, body.encode())


def aspects(original: object, nereid: object) -> set[str]:
    return {difference.aspect for difference in compare("case", original, nereid)}


def test_equal_answers() -> None:
    assert not compare("case", reply(200, '{"a":1}'), reply(200, '{"a":1}'))


@pytest.mark.parametrize(
    ("original", "nereid", "expected"),
    [
        (reply(200, '{"a":1}'), reply(200, '{"a":2}'), {"json", "json-text"}),
        (reply(200, '{"a":1,"b":2}'), reply(200, '{"b":2,"a":1}'), {"json", "json-text"}),
        (reply(200, '{"a":1}'), reply(200, '{"a": 1}'), {"json-text"}),
        (reply(200, "{}"), reply(200, "{}", []), {"content-type", "headers"}),
        (reply(500, '{"error":"x"}'), reply(400, '{"error":"x"}'), {"status"}),
        (reply(400, '{"error":"x"}'), reply(400, '{"error":"y"}'), {"error"}),
        (reply(200, "{}"), reply(400, '{"error":"y"}'), {"answer"}),
        (reply(0, ""), reply(400, '{"error":"y"}'), {"answer"}),
        (GrpcReply("NOT_FOUND", "x", None), GrpcReply("NOT_FOUND", "y", None), {"error"}),
        (GrpcReply("OK", "", {"a": 1}), GrpcReply("OK", "", {"a": 2}), {"response"}),
    ],
)
def test_what_is_seen(original: object, nereid: object, expected: set[str]) -> None:
    assert aspects(original, nereid) == expected


def test_floats_are_compared_by_value_and_as_written() -> None:
    def output(number: str, datatype: str = "FP32") -> HttpReply:
        return reply(200, f'{{"outputs":[{{"datatype":"{datatype}","data":[{number}]}}]}}')

    assert aspects(output("0.10000000149011612"), output("0.1")) == {"json-floats"}
    assert aspects(output("0.1"), output("0.2")) == {"json", "json-floats"}
    assert aspects(output("0.1", "FP64"), output("0.10000000149011612", "FP64")) == {
        "json",
        "json-floats",
    }


def test_durations_are_not_compared() -> None:
    assert not compare("case", reply(200, '{"x":{"ns":17}}'), reply(200, '{"x":{"ns":0}}'))
    assert not compare(
        "case",
        GrpcReply("OK", "", {"x": [{"count": "3", "ns": "5"}]}),
        GrpcReply("OK", "", {"x": [{"count": "3"}]}),
    )


def test_binary_tail_is_compared() -> None:
    headers = [*JSON, ("Inference-Header-Content-Length", "2")]
    assert aspects(reply(200, "{}ab", headers), reply(200, "{}ac", headers)) == {"binary"}


def test_metric_families_are_compared() -> None:
    text = "# HELP nv_a Help\n# TYPE nv_a counter\nnv_a{model=%s} %d\n"
    plain = [("Content-Type", "text/plain; charset=utf-8")]
    one = reply(200, text % ('"x"', 1), plain)
    assert not compare("case", one, reply(200, text % ('"y"', 2), plain))
    assert aspects(one, reply(200, text.replace("counter", "gauge") % ('"x"', 1), plain)) == {
        "metric nv_a"
    }


def table(tmp_path: Path, *rows: str) -> Path:
    """A file with these rows, in which | stands for a tab."""
    path = tmp_path / "differences.tsv"
    lines = ["\t".join(COLUMNS), *(row.replace("|", "\t") for row in rows)]
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return path


def test_a_row_allows_what_it_names(tmp_path: Path) -> None:
    (row,) = read_table(table(tmp_path, "one|error|http-bad-*, grpc-x|at *: a `b`|no.|why"))
    assert row.allows(Difference("http-bad-1", "error", "at 12: a `b`", "no."))
    assert row.allows(Difference("grpc-x", "error", "at : a `b`", "no."))
    assert not row.allows(Difference("http-good-1", "error", "at 12: a `b`", "no."))
    assert not row.allows(Difference("http-bad-1", "status", "at 12: a `b`", "no."))
    assert not row.allows(Difference("http-bad-1", "error", "at 12: a c", "no."))
    assert not row.allows(Difference("http-bad-1", "error", "at 12: a `b`", "nop"))


def test_an_answer_may_be_empty(tmp_path: Path) -> None:
    (row,) = read_table(table(tmp_path, "one|metric nv_a|http-*||gauge; *|why"))
    assert row.allows(Difference("http-good", "metric nv_a", "", "gauge; Help"))
    assert not row.allows(Difference("http-good", "metric nv_a", "counter", "gauge; Help"))


@pytest.mark.parametrize(
    "rows",
    [
        ["one|error|x|a|b"],
        ["one|error|x|a|b|"],
        ["one|error|x|a|b|why|more"],
        ["one|error|x|a | b|why"],
        ["one|error|x|a|a|why"],
        ["one|error|x|a|b|why"] * 2,
        ["one|error|x|a|b|why", ""],
        [],
    ],
)
def test_an_incomplete_table_is_refused(tmp_path: Path, rows: list[str]) -> None:
    with pytest.raises(AssertionError):
        read_table(table(tmp_path, *rows))


def test_the_columns_have_their_names(tmp_path: Path) -> None:
    path = table(tmp_path, "one|error|x|a|b|why")
    path.write_text(path.read_text(encoding="utf-8").replace("Nereid", "Ours"), encoding="utf-8")
    with pytest.raises(AssertionError, match="first line"):
        read_table(path)
