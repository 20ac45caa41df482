#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes an archive of a minimal Debian 12, from which a container or the root of a test begins, unless
# a young one is there already. Needs root, or user namespaces, and a Debian archive.
#
#   tools/minimal_root.sh [--suite=bookworm] [--variant=minbase] [--include=PACKAGE,...] [MMDEBSTRAP OPTION ...]
#
# --suite: another release of Debian, by its name.
# The last line of its output is the archive's path, build/deps/roots/NAME.tar. The same arguments
# give the same archive for a week, so that security updates arrive; without any, the root is Debian's
# smallest with apt. It comes from the mirrors of this machine if that has the same release.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

suite=bookworm
most_days=7
fail() { echo "minimal_root: $*" >&2; exit 1; }
command -v mmdebstrap >/dev/null || fail "mmdebstrap is missing: run tools/setup.sh --packages"

if [[ ${1:-} == --suite=* ]]; then
  suite=${1#*=}
  shift
fi
arguments=("$@")
[[ " $* " == *" --variant="* ]] || arguments+=(--variant=minbase)
name=$(printf '%s\n' "$suite" "${arguments[@]}" "$(sha256sum <tools/minimal_root.sh)" | sha256sum | cut -c1-12)
archive=build/deps/roots/$suite-$name.tar
if [[ -z $(find "$archive" -mtime "-$most_days" 2>/dev/null) ]]; then
  sources=()
  if grep -q "^VERSION_CODENAME=$suite$" /etc/os-release 2>/dev/null; then
    for file in /etc/apt/sources.list.d/debian.sources /etc/apt/sources.list; do
      [[ ! -s $file ]] || { sources=("$file"); break; }
    done
  fi
  # How this machine reaches its mirrors; not kept in the root.
  options=$(mktemp)
  trap 'rm -f "$options"' EXIT
  apt-config dump | grep -E '^Acquire::(https?::Proxy|Check-Valid-Until|Check-Date)' >"$options" || true
  echo "minimal_root: making $archive" >&2
  mkdir -p build/deps/roots build/logs
  if ! mmdebstrap --aptopt="$options" --customize-hook='rm -f "$1"/etc/apt/apt.conf.d/99mmdebstrap' \
    --format=tar "${arguments[@]}" "$suite" "$archive.part" "${sources[@]}" >build/logs/minimal-root.log 2>&1 </dev/null; then
    tail -n 15 build/logs/minimal-root.log >&2
    fail "mmdebstrap failed (log: build/logs/minimal-root.log). Is the Debian archive reachable?"
  fi
  mv "$archive.part" "$archive"
fi
echo "$archive"
