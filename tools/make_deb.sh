#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the Debian packages of what `make stage` has built, in build/packages. Builds first if
# something is not up to date; packages only if something has changed since. The folder is also an
# archive for apt, which finds there what a package depends on.
#
#   [DEB_COMPRESSION=gzip] [NEREID_BUILD=trained] tools/make_deb.sh
#
# gzip: made faster, a third larger than xz. NEREID_BUILD: the preset; default: release (tools/package.sh decides).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

tools/setup.sh --deb
# The age that the packages give their files.
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
build=${NEREID_BUILD:-release}
tools/build.sh "$build" staged documents
# Names the preset that the packages are of.
made=build/packages/deb.stamp
newer() { find "$1" -type f -newer $made \( "${@:2}" \) -print -quit; }
if [[ -f $made && $(<$made) == "$build" && -z $(newer packaging -true)$(newer include -true)$(newer backends -name '*.py' -o -name '*.h')$(
  newer "build/$build" -name '*.so*' -o -name '*.a' -o -name nereid -o -name 'nereid-*' -o -name '*.gz' -o -name CPackConfig.cmake) ]]; then
  exit 0
fi
mkdir -p build/packages build/logs
rm -f build/packages/{*.deb,Packages} "build/$build"/packages/*.deb "$made"
if ! (cd "build/$build" && cpack -G DEB -D CPACK_DEBIAN_COMPRESSION_TYPE="${DEB_COMPRESSION:-xz}") >build/logs/deb.log 2>&1; then
  tail -n 20 build/logs/deb.log >&2
  echo "deb: CPack failed (log: build/logs/deb.log)" >&2
  exit 1
fi
mv "build/$build"/packages/*.deb build/packages/
rm -rf "build/$build/packages/_CPack_Packages"
(cd build/packages && dpkg-scanpackages --multiversion . /dev/null >Packages 2>../logs/deb-index.log)
echo "$build" >"$made"
ls build/packages/*.deb
