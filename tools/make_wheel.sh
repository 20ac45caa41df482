#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the wheel nereid-server in build/packages: builds and stages the server, packs it with the Python
# files, and copies into the wheel the libraries that not every Linux has (auditwheel).
#
#   [NEREID_BUILD=trained] tools/make_wheel.sh     of this preset; default: release (tools/package.sh decides)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# What a system needs to run the wheel; docs/operate/wheel.md says which these are. auditwheel fails if the
# files ask for more.
platform=manylinux_2_35_$(uname -m)
build=${NEREID_BUILD:-release}
stage=build/stage
[[ $build == release ]] || stage=build/stage-$build
work=build/wheel
log=build/logs/wheel.log

tools/setup.sh --wheel
# The age that the wheel gives its files.
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
tools/stage.sh
export PYTHONPATH=$PWD/build/deps/wheel PATH=$PWD/build/deps/wheel/bin:$PATH
rm -rf "$work" build/packages/nereid_server-*.whl
mkdir -p "$work" build/packages build/logs
python3 tools/image/packages.py wheel "$stage" "$work/notices"

quietly() {
  if ! "$@" >>"$log" 2>&1; then
    tail -n 30 "$log" >&2
    echo "wheel: $1 failed (log: $log)" >&2
    exit 1
  fi
}
: >"$log"
quietly .venv/bin/python -m pip --disable-pip-version-check wheel --no-build-isolation --no-deps \
  --wheel-dir "$work/raw" --config-settings=build-dir="$PWD/$work/cmake" \
  --config-settings=cmake.define.NEREID_STAGE="$PWD/$stage" \
  --config-settings=cmake.define.NEREID_NOTICES="$PWD/$work/notices" ./python
# The server's own library is in the wheel. ONNX Runtime comes from the package onnxruntime.
quietly .venv/bin/python -m auditwheel repair --plat "$platform" --only-plat --strip \
  --exclude libtritonserver.so --wheel-dir build/packages "$work"/raw/nereid_server-*.whl

for wheel in build/packages/nereid_server-*.whl; do
  echo "wheel: $wheel ($(($(stat -c %s "$wheel") / 1000)) kB)"
done
