# SPDX-License-Identifier: Apache-2.0
"""The two servers and a store of their answers, for the whole differential test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from differential.answers import GrpcReply, HttpReply
from differential.cases import GrpcCase, HttpCase
from differential.servers import Targets, nereid_targets, original_targets


class Replies:
    """Sends each case to a target once, and keeps the answer."""

    def __init__(self, target: Targets) -> None:
        self.target = target
        self._known: dict[str, HttpReply | GrpcReply] = {}

    def of(self, case: HttpCase | GrpcCase) -> HttpReply | GrpcReply:
        if case.id not in self._known:
            self._known[case.id] = self.target.send(case)
        return self._known[case.id]


@pytest.fixture(scope="session")
def original(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Replies]:
    target = original_targets(tmp_path_factory.mktemp("original"))
    yield Replies(target)
    target.stop(expect_clean_exit=False)


@pytest.fixture(scope="session")
def nereid(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Replies]:
    target = nereid_targets(tmp_path_factory.mktemp("nereid"))
    yield Replies(target)
    target.stop(expect_clean_exit=True)
