#!/usr/bin/env bash
# Configures a preset if necessary, and builds it.
#
#   tools/build.sh PRESET [TARGET...]      builds into build/PRESET; presets: CMakePresets.json
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

preset=${1:?usage: tools/build.sh PRESET [TARGET...]}
shift
# Lets checkouts in different folders share the entries of the compiler cache.
export CCACHE_NOHASHDIR=1 CCACHE_BASEDIR=$PWD
# What the compiler cache needs to know of precompiled headers.
export CCACHE_SLOPPINESS=pch_defines,time_macros

# Ninja configures again by itself when a CMakeLists.txt changes, but not when the presets change or
# the frameworks chosen with tools/setup.sh.
configured=build/$preset/configured.stamp
if [[ ! -f build/$preset/build.ninja || CMakePresets.json -nt $configured ||
  build/deps/frameworks -nt $configured ]]; then
  echo "build: configuring $preset"
  mkdir -p build/logs
  if ! cmake --preset "$preset" >"build/logs/configure-$preset.log" 2>&1; then
    cat "build/logs/configure-$preset.log" >&2
    exit 1
  fi
  touch "$configured"
fi

targets=()
[[ $# -eq 0 ]] || targets=(--target "$@")
cmake --build --preset "$preset" "${targets[@]}"
