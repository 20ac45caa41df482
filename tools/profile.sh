#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sees to the profile by which the preset `trained` is optimised, in build/profile: unless there is one of these sources,
# builds the preset `counting` and lets it serve the load of tools/train.py.
#
#   tools/profile.sh               a profile of the sources as they are, unless one was given
#   tools/profile.sh --give FILE   unpacks that of a release, which is kept until `--forget`: what is built by it of
#                                  the sources of the release is the release
#   tools/profile.sh --pack FILE   packs it, the same bytes for the same counts
#   tools/profile.sh --forget      so that the next call makes one
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

profile=build/profile given=build/profile.given made=build/profile.made
stage=build/stage-counting
fail() { echo "profile: $*" >&2; exit 2; }

# The objects that were made by an older one; Ninja does not know that they depend on it.
forget_what_was_built() { rm -rf build/trained "$made" "$given"; }

give() {
  [[ -f $1 ]] || fail "there is no file $1"
  forget_what_was_built
  rm -rf "$profile"
  mkdir -p "$profile"
  tar -xf "$1" -C "$profile"
  [[ -n $(find "$profile" -name '*.gcda' -print -quit) ]] || fail "$1 holds no profile: no file *.gcda is in it"
  touch "$given"
}

pack() {
  [[ -d $profile ]] || fail "there is no profile to pack: tools/profile.sh makes one"
  tar --sort=name --owner=0 --group=0 --numeric-owner --mtime=@0 --mode=u=rwX,go=rX -C "$profile" -cf - . | gzip -9n >"$1"
}

make_one() {
  [[ ! -e $given ]] || return 0
  tools/build.sh counting
  if [[ -e $made && -z $(find build/counting \( -name '*.so' -o -name nereid -o -name 'nereid-*' \) -type f -newer "$made" -print -quit) ]]; then
    return 0
  fi
  echo "profile: serving the load of tools/train.py"
  mkdir -p build/logs
  cmake --install build/counting --prefix "$PWD/$stage" >build/logs/stage-counting.log
  forget_what_was_built
  .venv/bin/python tools/train.py "$stage" "$profile"
  touch "$made"
}

case ${1:-} in
  "") make_one ;;
  --give) give "${2:?usage: tools/profile.sh --give FILE}" ;;
  --pack) pack "${2:?usage: tools/profile.sh --pack FILE}" ;;
  --forget) forget_what_was_built ;;
  *) fail "unknown argument '$1' (known: --give FILE, --pack FILE, --forget)" ;;
esac
