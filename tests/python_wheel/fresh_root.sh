#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs the wheel on a fresh Debian 12 and a fresh Debian 13 that have python3-venv and no compiler, without a
# network, and serves a model and a function there. Needs root, and build/packages from `make package KIND=wheel`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work"' EXIT
cat >"$work/try.sh" <<'SCRIPT'
set -eu
ip link set lo up 2>/dev/null || python3 -c 'import fcntl, socket, struct
with socket.socket() as s: fcntl.ioctl(s, 0x8914, struct.pack("16sh", b"lo", 0x1 | 0x40))'
! command -v cc
python3 -m venv /environment
/environment/bin/pip --disable-pip-version-check -q install --no-index --find-links=/wheels nereid-server
cd /tmp
/environment/bin/nereid --version
/environment/bin/nereid run-model /models/digits
[ "$(/environment/bin/python /function.py)" = "[2.0, 4.0]" ]
before=$(find /environment -name '*nereid*' | wc -l)
/environment/bin/pip --disable-pip-version-check -q uninstall --yes nereid-server
[ "$before" -gt 3 ] && [ -z "$(find /environment -name '*nereid*')" ]
SCRIPT

# try_on SUITE PYTHON: PYTHON is the version that the release of Debian has, whichever runs here.
try_on() {
  local root=$work/$1
  mkdir -p "$root"
  tar -xf "$(tools/minimal_root.sh --suite="$1" --include=python3-venv | tail -n 1)" -C "$root"
  mkdir "$root/wheels"
  .venv/bin/python -m pip --disable-pip-version-check -q download --only-binary=:all: --python-version="$2" \
    --dest "$root/wheels" build/packages/nereid_server-*.whl
  cp -r examples/models "$root/models"
  cp tests/python_wheel/function.py "$work/try.sh" "$root"
  unshare --mount --pid --net --fork bash -c '
    mount --bind "$0" "$0" && mount -t proc proc "$0/proc" && mount --bind /dev "$0/dev" && exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin chroot "$0" /bin/sh /try.sh' "$root"
  echo "wheel: installed, tried and removed on a fresh Debian $1"
}

try_on bookworm 3.11
try_on trixie 3.13
