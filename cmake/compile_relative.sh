#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compiles with the paths of the checkout written relative to the build folder, where Ninja runs it. What the compiler
# makes of file names is then the same in every checkout: the names by which profiles know the functions of one file, and
# the debugging information.
#
#   compile_relative.sh CHECKOUT COMPILER ARGUMENT...     CHECKOUT: its absolute path; the last argument is the source
set -euo pipefail
checkout=$1
up=$(realpath --relative-to=. "$checkout")
shift
arguments=()
for argument in "$@"; do
  case $argument in
    -fprofile-*) ;;  # the compiler wants these as they are
    *)
      argument=${argument//"$PWD"\//}
      argument=${argument//"$checkout"/$up}
      ;;
  esac
  arguments+=("$argument")
done

# CMake names the sources that it joins by their absolute paths.
source=${arguments[-1]}
if [[ $source == */Unity/unity_*.c* ]]; then
  joined=${source%.*}.relative.${source##*.}
  sed "s|\"$PWD/|\"|; s|\"$checkout/|\"$up/|" "$source" >"$joined"
  arguments[-1]=$joined
  # Names in the joined source are looked for from the build folder on.
  arguments=("${arguments[0]}" -I. "${arguments[@]:1}")
fi
exec "${arguments[@]}" "-fdebug-prefix-map=$PWD=."
