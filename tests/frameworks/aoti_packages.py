# SPDX-License-Identifier: Apache-2.0
"""Writes AOTInductor packages for the tests, and what PyTorch answers with them.

    aoti_packages.py FOLDER

FOLDER gets NAME.pt2 and NAME.npz, with the inputs and outputs of one run by the names of the package.
Run by tests/frameworks/aoti_setup.sh with a Python that can import PyTorch, and a C++ compiler.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import torch


class Mlp(torch.nn.Module):
    """Two results, in a dictionary."""

    def __init__(self) -> None:
        super().__init__()
        self.first = torch.nn.Linear(64, 256)
        self.last = torch.nn.Linear(256, 10)

    def forward(self, x: torch.Tensor) -> dict[str, torch.Tensor]:
        logits = self.last(torch.relu(self.first(x)))
        return {"logits": logits, "double": logits * 2}


class Nested(torch.nn.Module):
    def forward(self, pair, *, scale):  # a dictionary and a keyword argument
        return pair["left"] - pair["right"], [pair["left"] * scale]


def write(folder: Path, name: str, program: torch.export.ExportedProgram) -> None:
    torch._inductor.aoti_compile_and_package(program, package_path=str(folder / f"{name}.pt2"))


def main() -> None:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(5)
    torch.set_num_threads(1)
    with torch.no_grad():
        rows = {0: torch.export.Dim("rows", min=1, max=64)}
        mlp = torch.export.export(Mlp().eval(), (torch.randn(3, 64),), dynamic_shapes={"x": rows})
        write(folder, "mlp", mlp)
        x = torch.randn(4, 64)
        found = torch._inductor.aoti_load_package(str(folder / "mlp.pt2"))(x)
        np.savez(folder / "mlp.npz", x=x, logits=found["logits"], double=found["double"])

        pair = {"left": torch.randn(5), "right": torch.randn(5)}
        nested = torch.export.export(Nested(), (pair,), {"scale": torch.tensor([2.0])})
        write(folder, "nested", nested)


if __name__ == "__main__":
    main()
