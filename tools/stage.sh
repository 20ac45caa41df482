#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Lays out build/stage like an installation (see cmake/NereidStage.cmake): installs missing
# dependencies, builds what is not up to date, and copies what has changed.
#
#   tools/stage.sh [FRAMEWORK...]    also the backends of these: openvino, pytorch, tensorflow; cloud: also the program
#                                    that reads cloud storage. They stay until `tools/stage.sh none`.
#   NEREID_BUILD=trained             another preset than `release`, into build/stage-trained (tools/package.sh)
#   tools/stage.sh --serve           only what serves, unless all was staged before: for `make run`
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

build=${NEREID_BUILD:-release} stage=build/stage
[[ $build == release ]] || stage=build/stage-$build
target=staged what=()
if [[ ${1:-} == --serve ]]; then
  shift
  [[ -f build/$build/install_manifest.txt ]] || target=serving what=(--component nereid)
fi
tools/setup.sh "${@/#/--framework=}"
tools/build.sh "$build" $target
mkdir -p build/logs
if ! cmake --install "build/$build" --prefix "$PWD/$stage" "${what[@]}" >build/logs/stage.log 2>&1; then
  cat build/logs/stage.log >&2
  exit 1
fi
[[ $target == staged ]] || exit 0

# Removes files of an earlier stage that this one does not have.
comm -13 <(sort "build/$build/install_manifest.txt") \
  <(cd "$stage" && find "$PWD/bin" "$PWD/lib" "$PWD/libexec" "$PWD/backends" "$PWD/caches" "$PWD/repoagents" "$PWD/include" "$PWD/python" \
    ! -type d ! -name "*.pyc" | sort) |
  while IFS= read -r stale; do
    echo "stage: removing $stale"
    rm -f -- "$stale"
  done
