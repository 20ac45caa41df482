#!/usr/bin/env bash
# Makes the AOTInductor packages that test_pytorch_aoti.py serves, into build/deps/pytorch-python:
# PyTorch's Python side with the packages that it needs, libraries that stand in for CUDA's, and the
# packages themselves. Needs g++ and Python's headers; a minute. What is there already stays.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

wheel=build/deps/pytorch
folder=build/deps/pytorch-python
packages=(filelock==4.2.11 fsspec==2026.9.0 jinja2==3.1.6 MarkupSafe==3.0.4 mpmath==1.3.0 networkx==3.6.1
  setuptools==84.2.1 sympy==1.14.0)
stamp=$(cat "$wheel/nereid.stamp" tests/frameworks/{cuda_stubs,aoti_packages}.py "${BASH_SOURCE[0]}" | sha256sum)
[[ $(cat "$folder/nereid.stamp" 2>/dev/null) != "$stamp" ]] || exit 0

rm -rf "$folder"
.venv/bin/python -m pip --disable-pip-version-check -q install --no-deps --only-binary=:all: \
  --target "$folder/site" "${packages[@]}" </dev/null
.venv/bin/python tests/frameworks/cuda_stubs.py "$wheel" "$folder/cuda"
export TORCHINDUCTOR_CACHE_DIR=$PWD/$folder/cache
LD_LIBRARY_PATH=$folder/cuda PYTHONPATH=$folder/site:$wheel \
  .venv/bin/python tests/frameworks/aoti_packages.py "$folder/packages"
echo "$stamp" >"$folder/nereid.stamp"
