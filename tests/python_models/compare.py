# SPDX-License-Identifier: Apache-2.0
"""The differences between two servers' answers to a case, as named aspects with a text each."""

from __future__ import annotations

import json
from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Any

from differential.differences import AllowedDifference, read_table
from differential.observe import Difference
from support.stage import PROJECT_ROOT

TABLE = PROJECT_ROOT / "docs" / "protocol" / "python-differences.tsv"
NOTHING = "(nothing)"


def compare(case: str, original: Any, nereid: Any) -> list[Difference]:
    """All differences. An aspect is the path to the difference: the step's number and the members'
    names. Outputs are given only by their names."""
    return [
        Difference(case, ".".join(path), _text(one), _text(other))
        for path, one, other in _leaves((), original, nereid)
    ]


def _leaves(
    path: tuple[str, ...], one: Any, other: Any
) -> Iterator[tuple[tuple[str, ...], Any, Any]]:
    if one == other and type(one) is type(other):
        return
    if isinstance(one, dict) and isinstance(other, dict):
        for key in [*one, *(key for key in other if key not in one)]:
            here = path if key in ("outputs", "data") else (*path, key)
            yield from _leaves(here, one.get(key, NOTHING), other.get(key, NOTHING))
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for index, pair in enumerate(zip(one, other)):
            yield from _leaves((*path, str(index)), *pair)
    else:
        yield path, one, other


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def allowed(row: AllowedDifference, difference: Difference) -> bool:
    """As in the other table of differences; in addition, * in an aspect matches anything."""
    return fnmatchcase(difference.aspect, row.aspect) and row.allows(
        Difference(difference.case, row.aspect, difference.original, difference.nereid)
    )


def rows() -> list[AllowedDifference]:
    return read_table(TABLE)


def unlisted(differences: list[Difference]) -> list[Difference]:
    table = rows()
    return [one for one in differences if not any(allowed(row, one) for row in table)]
