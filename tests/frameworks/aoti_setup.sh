#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the AOTInductor packages that test_pytorch_aoti.py serves, into build/deps/pytorch-python:
# libraries that stand in for CUDA's, so that PyTorch's Python side can be imported, and the packages
# themselves. Needs g++, Python's headers and tools/setup.sh --framework-tests; a minute. What is there
# already stays.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

wheel=build/deps/pytorch
folder=build/deps/pytorch-python
stamp=$(cat "$wheel/nereid.stamp" "$folder/site/nereid.stamp" tests/frameworks/{cuda_stubs,aoti_packages}.py \
  "${BASH_SOURCE[0]}" | sha256sum)
[[ $(cat "$folder/nereid.stamp" 2>/dev/null) != "$stamp" ]] || exit 0

rm -rf "$folder"/{cuda,packages,cache}
.venv/bin/python tests/frameworks/cuda_stubs.py "$wheel" "$folder/cuda"
export TORCHINDUCTOR_CACHE_DIR=$PWD/$folder/cache
LD_LIBRARY_PATH=$folder/cuda PYTHONPATH=$folder/site:$wheel \
  .venv/bin/python tests/frameworks/aoti_packages.py "$folder/packages"
echo "$stamp" >"$folder/nereid.stamp"
