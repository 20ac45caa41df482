# SPDX-License-Identifier: Apache-2.0
"""bench/racetrack/table.py: result files as Markdown."""

from __future__ import annotations

from typing import Any

import pytest
from bench.results import make_result, make_row, make_run

from racetrack import table


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "-"), (0.1234, "0.12"), (12.34, "12.3"), (123.4, "123"), (28123.4, "28,123")],
)
def test_numbers(value: float | None, text: str) -> None:
    assert table.number(value) == text


def test_a_row(result: dict[str, Any]) -> None:
    line = table.row_line(result["rows"][0])
    assert line[:5] == ["HTTP identity, 16 floats", "16", "3,000", "1,000", "3.00×"]
    assert len(line) == table.HEAD.count("|") - 1
    assert "30%" in line  # of the limit of 10,000/s
    assert line[-2:] == ["7%, 0%", "50%, 50%"]


def test_a_row_that_does_not_count_says_so() -> None:
    row = make_row([make_run(client_cpu=0.99)], [make_run()])
    assert "does not count" in table.row_line(row)[0]


def test_limits_of_an_echo_and_of_a_loop() -> None:
    echo = make_row([make_run()], [make_run()])
    loop = make_row(
        [make_run()], [make_run()], limit={"what": "loop", "throughput": 5.0, "cpu_us": 8.0}
    )
    none = make_row([make_run()], [make_run()], limit=None)
    assert table.limit_throughput(echo["limit"]) == 10_000
    assert table.limit_cpu_us(echo["limit"]) == 4
    assert table.limit_throughput(loop["limit"]) == 5
    assert table.limit_cpu_us(loop["limit"]) == 8
    assert table.limit_throughput(none["limit"]) is None
    assert table.limit_cpu_us(none["limit"]) is None
    text = table.limits_table([echo, loop, none])
    assert len(text.splitlines()) == 4
    assert "5.00×" in text  # 20 µs beside 4 µs
    assert "bound by the client" not in text


def test_a_row_with_two_limits_has_a_line_for_each() -> None:
    row = make_row(
        [make_run(3000.0)],
        [make_run()],
        limit={"what": "nghttp2 echo", "runs": [make_run(4_000.0, server_cpu_us=5.0)]},
        other_limits=[{"what": "grpc++ echo", "runs": [make_run(2_000.0, server_cpu_us=10.0)]}],
    )
    first, second = table.limits_table([row]).splitlines()[2:]
    assert "| nghttp2 echo | 4,000 | 5.00 | 20.0 | 4.00× |" in first
    assert "| grpc++ echo | 2,000 | 10.0 | 20.0 | 2.00× |" in second
    assert "75%" in table.row_line(row)  # of the first


def test_options_are_shown_without_folders(result: dict[str, Any]) -> None:
    result["settings"]["original_options"] = ["--grpc-use-ssl=1", "--grpc-server-key=/a/b/key.pem"]
    assert "Triton with --grpc-use-ssl=1 --grpc-server-key=key.pem." in table.render(result)


def test_shared_memory_without_the_copy() -> None:
    ours = [make_run(server_cpu_us=100.0, copy_us=80.0)]
    row = make_row(ours, [make_run(server_cpu_us=130.0, copy_us=90.0)])
    text = table.shared_table([row, make_row([make_run()], [make_run()])])
    (line,) = text.splitlines()[2:]
    assert "| 80.0 | 90.0 | 20.0 | 40.0 | 0.50× |" in line
    assert table.shared_table([make_row([make_run()], [make_run()])]) == ""


def test_a_limit_that_the_client_set_says_so() -> None:
    limit = {"what": "bare http echo", "runs": [make_run(client_cpu=0.95)]}
    text = table.limits_table([make_row([make_run()], [make_run()], limit=limit)])
    assert "bare http echo (bound by the client)" in text


def test_every_line_of_a_table_has_as_many_columns() -> None:
    text = table.markdown_table("| a | b |", [["1", "2"], ["3", "4"]])
    assert [line.count("|") for line in text.splitlines()] == [3, 3, 3, 3]


def test_the_page(result: dict[str, Any]) -> None:
    page = table.render(result)
    assert "abc1234" in page
    assert "--http-thread-count=2" in page
    assert "| start to ready, s | 0.200 | 1.000 | 0.20× |" in page
    assert "| start to ready, identity models only, s | 0.100 | 0.500 | 0.20× |" in page
    assert "| resident memory, identity models only, idle, MiB | 10.0 | 40.0 | 0.25× |" in page
    assert "| resident memory, idle, MiB | 20.0 | 100.0 | 0.20× |" in page
    assert "not quiet" not in page
    assert "cross-checked" not in page


def test_the_page_says_what_disturbed_it(result: dict[str, Any]) -> None:
    result["host"]["load_average_before"][0] = 3.0
    result["notes"] = ["perf_analyzer: not installed"]
    page = table.render(result)
    assert "not quiet" in page
    assert "- perf_analyzer: not installed" in page


def test_the_cross_check() -> None:
    check = {
        "server": "nereid",
        "protocol": "http",
        "title": "identity, 16 floats",
        "concurrency": 16,
        "perf_analyzer": 1000.0,
        "loadgen": 1100.0,
    }
    page = table.render(make_result([make_row([make_run()], [make_run()])], cross_check=[check]))
    assert "| nereid | HTTP identity, 16 floats, 16 | 1,000 | 1,100 | 1.10× |" in page
