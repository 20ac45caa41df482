# SPDX-License-Identifier: Apache-2.0
"""The load by which the release build is optimised (tools/train.py): a server answers all of it, and ends by itself."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from support.stage import PROJECT_ROOT, stage_root

sys.path.insert(0, str(PROJECT_ROOT / "tools"))

import train  # noqa: E402


def test_a_server_answers_every_load(tmp_path: Path) -> None:
    # This server counts nothing, which is noticed only at the end.
    with pytest.raises(train.TrainingError, match="has no counts of apps/nereid/"):
        train.train(stage_root(), tmp_path / "profile", seconds=0.1)


def test_a_load_that_fails_ends_the_training(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(train, "LOADS", (train.Load("small", "http", "--shape=INPUT0:17"),))
    with pytest.raises(train.TrainingError, match="the load 'small http --shape=INPUT0:17' failed"):
        train.train(stage_root(), tmp_path / "profile", seconds=0.1)


def test_a_server_that_does_not_start_ends_the_training(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(train.MODELS, "small", "backend: 3\n")
    with pytest.raises(train.TrainingError, match="the server does not get ready; its log:"):
        train.train(stage_root(), tmp_path / "profile", seconds=0.1)
