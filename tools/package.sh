#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes packages of the server in build/packages; installs and builds first what is missing.
#
#   tools/package.sh [--untrained] KIND...     deb: Debian packages; wheel: for Python; image: container images, without
#                                              a registry
#
# They hold the preset `trained`, optimised by the profile of tools/profile.sh, which takes three builds' time the first time.
# --untrained: the preset `release`, which the tests and `make run` use.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

make_image() {
  tools/setup.sh --image
  tools/stage.sh
  .venv/bin/python tools/image/make_image.py
}

export NEREID_BUILD=trained
if [[ ${1:-} == --untrained ]]; then
  NEREID_BUILD=release
  shift
fi
programs=()
for kind in "$@"; do
  case $kind in
    deb) programs+=(tools/make_deb.sh) ;;
    wheel) programs+=(tools/make_wheel.sh) ;;
    image) programs+=(make_image) ;;
    *)
      echo "package: there is no kind '$kind' (known: deb, wheel, image)" >&2
      exit 2
      ;;
  esac
done
if [[ $NEREID_BUILD == trained ]]; then
  tools/setup.sh
  tools/profile.sh
fi
for program in "${programs[@]}"; do
  $program
done
