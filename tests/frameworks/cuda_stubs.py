# SPDX-License-Identifier: Apache-2.0
"""Libraries that stand in for CUDA's, so that Python can import the PyTorch wheel without a GPU.

    cuda_stubs.py WHEEL FOLDER

The wheel in the folder WHEEL asks for 2.5 GB of libraries that are never called on a CPU. FOLDER gets
a library of each missing name, with every function that the wheel asks for: each of them ends the
process. To be used with LD_LIBRARY_PATH=FOLDER.
"""

from __future__ import annotations

import ctypes
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

# What the names of a library's functions begin with.
PREFIXES = {
    "libcublas.so": "cublas",
    "libcublasLt.so": "cublasLt",
    "libcuda.so": "cu",
    "libcudnn.so": "cudnn",
    "libcufft.so": "cufft",
    "libcufile.so": "cuFile",
    "libcusolver.so": "cusolver",
    "libcusparse.so": "cusparse",
    "libcusparseLt.so": "cusparseLt",
    "libnccl.so": "nccl",
    "libnvrtc.so": "nvrtc",
    "libnvshmem_host.so": "nvshmem",
}


def output_of(*command: str | Path) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def is_there(name: str, folders: list[Path]) -> bool:
    if any((folder / name).exists() for folder in folders):
        return True
    try:
        ctypes.CDLL(name)
    except OSError:
        return False
    return True


def library_of(symbol: str, missing: list[str]) -> str | None:
    """The missing library whose functions begin like `symbol`: the longest beginning wins."""
    if "nvshmem" in symbol:
        symbol = symbol[symbol.index("nvshmem") :]
    best: tuple[int, str] | None = None
    for name in missing:
        prefix = PREFIXES[name.split(".so")[0] + ".so"]
        if symbol.startswith(prefix) and (best is None or len(prefix) > best[0]):
            best = (len(prefix), name)
    return best[1] if best else None


def build(name: str, symbols: set[tuple[str, str]], folder: Path) -> None:
    """The library `name` with `symbols`: name and version, which may be empty."""
    with tempfile.TemporaryDirectory() as scratch:
        source = Path(scratch) / "stub.c"
        names = sorted({symbol for symbol, _ in symbols})
        source.write_text("".join(f"void {each}(void) {{ __builtin_trap(); }}\n" for each in names))
        command: list[str | Path] = ["gcc", "-shared", "-fPIC", "-w", "-fno-builtin", "-o"]
        command += [folder / name, source, f"-Wl,-soname,{name}"]
        versions = sorted({version for _, version in symbols if version})
        if versions:
            script = Path(scratch) / "versions"
            script.write_text(
                "".join(
                    f"{version} {{ global: "
                    + "".join(f"{symbol}; " for symbol, of in sorted(symbols) if of == version)
                    + "};\n"
                    for version in versions
                )
            )
            command.append(f"-Wl,--version-script={script}")
        subprocess.run(command, check=True)


def main() -> None:
    wheel, folder = Path(sys.argv[1]), Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    libraries = sorted((wheel / "torch" / "lib").glob("lib*.so*"))
    folders = [wheel / "torch" / "lib", *wheel.glob("nvidia/*/lib")]
    wanted: set[str] = set()
    for library in libraries:
        wanted.update(re.findall(r"NEEDED.*\[(.*)\]", output_of("readelf", "-d", library)))
    missing = sorted(
        name
        for name in wanted
        if name.split(".so")[0] + ".so" in PREFIXES and not is_there(name, folders)
    )
    defined: set[str] = set()
    undefined: set[str] = set()
    for library in libraries:
        for line in output_of("nm", "-D", library).splitlines():
            *_, kind, symbol = line.split()
            (undefined if kind in "Uw" else defined).add(symbol)
    defined = {symbol.partition("@")[0] for symbol in defined}
    symbols: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for symbol in undefined:
        name, _, version = symbol.partition("@")
        library_name = None if name in defined else library_of(name, missing)
        # libcudart and libcupti are there, and begin like libcuda.
        if library_name and not re.match(r"cuda[A-Z]|cupti", name):
            symbols[library_name].add((name, version.lstrip("@")))
    for name in missing:
        build(name, symbols[name], folder)


if __name__ == "__main__":
    main()
