# SPDX-License-Identifier: Apache-2.0
"""A model repository made of models that lie anywhere."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Mapping, Union

from ._errors import InvalidArgumentError, NotFoundError


class LinkedRepository:
    """A temporary folder with a link for each model: to its folder, or to the file of its version 1."""

    def __init__(self, models: Mapping[str, Union[str, "os.PathLike[str]"]]) -> None:
        self._folder = TemporaryDirectory(prefix="nereid-models-")
        self.path = self._folder.name
        try:
            for name, place in models.items():
                self._add(name, Path(place))
        except BaseException:
            self.remove()
            raise

    def _add(self, name: str, place: Path) -> None:
        if not name or "/" in name or name.startswith("."):
            raise InvalidArgumentError(f"{name!r} cannot be the name of a model")
        target = place.absolute()
        model = Path(self.path, name)
        if target.is_dir():
            model.symlink_to(target, target_is_directory=True)
        elif target.is_file():
            version = model / "1"
            version.mkdir(parents=True)
            (version / f"model{target.suffix}").symlink_to(target)
        else:
            raise NotFoundError(f"model '{name}': there is no file or folder {place}")

    def remove(self) -> None:
        self._folder.cleanup()
