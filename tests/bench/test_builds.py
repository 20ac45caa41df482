# SPDX-License-Identifier: Apache-2.0
"""bench/builds.py: what it compares, and what it says to a wrong command line."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import builds
from support.stage import stage_root


def main(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> None:
    monkeypatch.setattr(sys, "argv", ["builds.py", *map(str, arguments)])
    builds.main()


def test_compares_the_rows_of_the_race_without_those_at_a_fixed_rate(tmp_path: Path) -> None:
    keys = [row.key for row in builds.race_models(tmp_path).rows]
    assert "mlp/grpc/binary/16" in keys
    assert not [key for key in keys if "at-" in key]


def test_a_folder_without_a_server_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(monkeypatch, stage_root(), tmp_path)
    assert f"there is no server in {tmp_path}: name a staged installation" in capsys.readouterr().err


def test_a_backend_that_an_installation_lacks_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "nereid").touch()
    with pytest.raises(SystemExit):
        main(monkeypatch, tmp_path, stage_root(), "--models=openvino")
    assert f"{tmp_path} has no backend 'openvino'" in capsys.readouterr().err


def test_rows_that_do_not_exist_are_refused_with_those_that_do(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(monkeypatch, stage_root(), stage_root(), "--rows=mlp/smoke")
    said = capsys.readouterr().err
    assert "no row has 'mlp/smoke' in its key; there are identity_small/http/binary/1" in said
