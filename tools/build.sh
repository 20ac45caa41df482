#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Configures a preset if necessary, and builds it.
#
#   tools/build.sh PRESET[-OPTION...] [TARGET...]    builds into build/PRESET[-OPTION...]
#
# Presets: CMakePresets.json. Options, for builds that are wanted now and then:
#   gcc          by g++, where the preset takes clang
#   server       the server alone, to stage and to run Python tests against; builds what is staged
#   frameworks   with the backends of the frameworks that were fetched
#   unity        several sources as one and without those backends: `lint` in less than half the time
#
# `release` has the unit tests unless only what is staged or installed is asked for and GoogleTest is missing:
# then a first build takes less, and the next call that asks for more configures again.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

fail() { echo "build: $*" >&2; exit 2; }
name=${1:?usage: tools/build.sh PRESET[-OPTION...] [TARGET...]}
shift
# Lets checkouts in different folders share the entries of the compiler cache.
export CCACHE_NOHASHDIR=1 CCACHE_BASEDIR=$PWD
# What the compiler cache needs to know of precompiled headers.
export CCACHE_SLOPPINESS=pch_defines,time_macros

IFS=- read -r preset options <<<"$name"
settings=() targets=("$@")
for option in ${options//-/ }; do
  case $option in
    gcc) settings+=(-DCMAKE_C_COMPILER=gcc -DCMAKE_CXX_COMPILER=g++ -DNEREID_WERROR=OFF) ;;
    server)
      settings+=(-DNEREID_BUILD_TESTS=OFF -DNEREID_GRPC=ON -DNEREID_COMMANDS=ON)
      [[ $# -gt 0 ]] || targets=(staged)
      ;;
    frameworks) settings+=(-DNEREID_FRAMEWORKS=auto) ;;
    unity) settings+=(-DNEREID_UNITY=ON -DNEREID_FRAMEWORKS=) ;;
    *) fail "there is no option '$option' (known: gcc, server, frameworks, unity)" ;;
  esac
done

build=build/$name
configured=$build/configured.stamp
# Ninja configures again by itself when a CMakeLists.txt changes, but not when the presets change or
# the frameworks chosen with tools/setup.sh.
stale=false
if [[ ! -f $build/build.ninja || CMakePresets.json -nt $configured || build/deps/frameworks -nt $configured ]]; then
  stale=true
fi
if [[ $name == release && ! "${targets[*]}" =~ ^(serving|staged|staged documents)$ ]] &&
  ! grep -qs '^NEREID_BUILD_TESTS:[A-Z]*=ON$' "$build/CMakeCache.txt"; then
  settings+=(-DNEREID_BUILD_TESTS=ON)
  stale=true
fi
if $stale; then
  echo "build: configuring $name"
  mkdir -p build/logs
  if ! cmake --preset "$preset" -B "$build" "${settings[@]}" >"build/logs/configure-$name.log" 2>&1; then
    cat "build/logs/configure-$name.log" >&2
    exit 1
  fi
  touch "$configured"
fi

if [[ ${#targets[@]} -eq 0 && -z $options ]]; then
  cmake --build --preset "$preset"
else
  cmake --build "$build" ${targets[@]+--target "${targets[@]}"}
fi
