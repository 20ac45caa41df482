#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what `make stage` has built, in the layout of a Unix system (see cmake/NereidInstall.cmake).
# Builds first if something is not up to date.
#
#   [DESTDIR=FOLDER] tools/install.sh [PREFIX]    PREFIX: /usr/local unless given, an absolute path;
#                                                 DESTDIR is put before every path, for packagers
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

prefix=${1:-/usr/local}
fail() { echo "install: $*" >&2; exit 1; }
[[ $prefix == /* ]] || fail "PREFIX is '$prefix'; it has to be an absolute path"

tools/setup.sh
tools/build.sh release staged documents
mkdir -p build/logs
while IFS= read -r component; do
  cmake --install build/release --component "$component" --prefix "$prefix" ||
    fail "$component could not be installed into ${DESTDIR:-}$prefix; may $(id -un) write there?"
done <build/release/installed/components >build/logs/install.log
# The system's list of libraries, for programs that embed the server.
if [[ -z ${DESTDIR:-} && $(id -u) -eq 0 ]] && command -v ldconfig >/dev/null; then
  ldconfig
fi
echo "install: ${DESTDIR:-}$prefix holds bin/nereid, lib/libtritonserver.so and lib/nereid (list: build/logs/install.log)"
