#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Lays out ONNX Runtime for the build:
#   DEST/include/onnxruntime/*.h        C headers, from Debian's libonnxruntime-dev
#   DEST/include/plugins/*.h            a newer C header, for execution providers that are plug-ins;
#                                       left out where that release of Debian can not be had
#   DEST/lib/libonnxruntime.so.1        library, from the Python wheel (libonnxruntime.so links to it)
#   DEST/LICENSES/                      the wheel's licence and third-party notices
# Usage: tools/fetch_onnxruntime.sh DEST
#        tools/fetch_onnxruntime.sh --sums    takes the headers that Debian has today for the right ones: writes
#                                             tools/locks/onnxruntime-headers.sha256. Look at what has changed in them.
# Nothing is taken whose sum is not known: that of the wheel is in tools/locks/onnxruntime.txt, those of the headers in
# tools/locks/onnxruntime-headers.sha256. A release of Debian that is not out yet moves on; the headers stay.
# Running it again does nothing when DEST already holds the versions of tools/versions.env.
# Needs apt and dpkg (no root), python3 with pip. The headers come from the machine's own main
# Debian archive with the suite replaced, through a private apt root; system apt is not touched.
set -euo pipefail
export LC_ALL=C

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
dest=${1:?usage: fetch_onnxruntime.sh DEST | --sums}
locks=$here/locks
sums=$locks/onnxruntime-headers.sha256
# shellcheck source=tools/versions.env
source "$here/versions.env"
version=${ONNXRUNTIME_VERSION:?not set in versions.env}
suite=${ONNXRUNTIME_HEADERS_SUITE:-trixie}
python=${PYTHON:-python3}
plugins_suite=${ONNXRUNTIME_PLUGINS_HEADERS_SUITE:-forky}
stamp="onnxruntime $version, headers of $suite and $plugins_suite"

say() { echo "fetch_onnxruntime: $*"; }
fail() { echo "fetch_onnxruntime: $*" >&2; exit 1; }

if [[ $dest == --sums ]]; then
  dest=
elif [[ -f $dest/STAMP && $(cat "$dest/STAMP") == "$stamp" ]]; then
  say "$dest already holds $stamp"
  exit 0
fi

if [[ -n $dest && -e $dest && ! -f $dest/STAMP && -n $(ls -A "$dest") ]]; then
  fail "$dest exists and was not made by this script; give another folder"
fi

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
stage=$tmp/stage
mkdir -p "$stage/include" "$stage/lib" "$stage/LICENSES"

# Prints the URI of the machine's main Debian archive: the source whose suite is the release's own
# code name and which Debian's own key signs.
debian_archive_uri() {
  "$python" - "$(. /etc/os-release && echo "${VERSION_CODENAME:-}")" <<'PY'
import glob, re, sys

codename = sys.argv[1]


def deb822(path):
    for stanza in re.split(r"\n\s*\n", open(path).read()):
        lines = [l for l in stanza.splitlines() if not l.startswith("#")]
        field = dict(l.split(":", 1) for l in lines if ":" in l and not l[0].isspace())
        field = {k.strip().lower(): v.strip() for k, v in field.items()}
        if field.get("enabled", "yes").lower() != "no" and "deb" in field.get("types", "").split():
            yield field.get("uris", "").split(), field.get("suites", "").split(), field.get("signed-by", "")


def one_line(path):
    for line in open(path):
        m = re.match(r"\s*deb\s+(\[(?P<opt>[^\]]*)\]\s+)?(?P<uri>\S+)\s+(?P<suite>\S+)", line)
        if m:
            yield [m["uri"]], [m["suite"]], m["opt"] or ""


found = []
for path in sorted(glob.glob("/etc/apt/sources.list.d/*.sources")):
    found += deb822(path)
for path in ["/etc/apt/sources.list", *sorted(glob.glob("/etc/apt/sources.list.d/*.list"))]:
    try:
        found += one_line(path)
    except FileNotFoundError:
        pass
# A signed-by of another key marks a third party's archive.
for uris, suites, key in found:
    if codename in suites and uris and (not key or "debian-archive-keyring" in key):
        print(uris[0])
        sys.exit(0)
sys.exit(1)
PY
}

# fetch_headers SUITE DEST: the headers of that release's libonnxruntime-dev.
fetch_headers() {
  local uri keyring=/usr/share/keyrings/debian-archive-keyring.gpg root=$tmp/$1
  uri=$(debian_archive_uri) || fail "no source of the main Debian archive in /etc/apt"
  [[ -f $keyring ]] || fail "$keyring is missing (package debian-archive-keyring)"
  mkdir -p "$root"/{lists/partial,cache/archives/partial,etc,deb}
  printf 'Types: deb\nURIs: %s\nSuites: %s\nComponents: main\nSigned-By: %s\n' \
    "$uri" "$1" "$keyring" >"$root/etc/debian.sources"
  : >"$root/status"
  # Proxy and other settings of the machine stay in force; only where apt looks and writes changes.
  local options=(-o "Dir::Etc::SourceList=$root/etc/debian.sources" -o Dir::Etc::SourceParts=/dev/null
    -o Dir::Etc::Preferences=/dev/null -o Dir::Etc::PreferencesParts=/dev/null
    -o "Dir::State::Lists=$root/lists" -o "Dir::State::Status=$root/status" -o "Dir::Cache=$root/cache"
    -o APT::Sandbox::User=root -o Acquire::Languages=none)
  say "headers: libonnxruntime-dev of Debian $1"
  apt-get -qq "${options[@]}" update &&
    (cd "$root/deb" && apt-get -qq "${options[@]}" download libonnxruntime-dev) &&
    dpkg -x "$root"/deb/libonnxruntime-dev_*.deb "$root/dev" &&
    [[ -f $root/dev/usr/include/onnxruntime/onnxruntime_c_api.h ]] &&
    cp -r "$root/dev/usr/include/onnxruntime" "$2"
}

# check_known FOLDER: whether a folder of $stage has just the files that the sums name below it, with these sums.
check_known() {
  local below=${1#"$stage"/}
  diff <(cd "$stage" && find "$below" -type f -print0 | sort -z | xargs -0 sha256sum) <(grep "  $below/" "$sums") >&2
}

fetch_library() {
  say "library: wheel onnxruntime $version"
  "$python" -m pip --disable-pip-version-check -q download --require-hashes --no-deps --only-binary=:all: \
    --dest "$tmp/wheel" -r "$locks/onnxruntime.txt"
  "$python" -m zipfile -e "$tmp"/wheel/onnxruntime-"$version"-*.whl "$tmp/wheel/x"
  install -m 644 "$tmp/wheel/x/onnxruntime/capi/libonnxruntime.so.$version" \
    "$stage/lib/libonnxruntime.so.$version"
  ln -s "libonnxruntime.so.$version" "$stage/lib/libonnxruntime.so.1"
  ln -s libonnxruntime.so.1 "$stage/lib/libonnxruntime.so"
  cp "$tmp/wheel/x/onnxruntime/LICENSE" "$tmp/wheel/x/onnxruntime/ThirdPartyNotices.txt" \
    "$stage/LICENSES/"
}

fetch_headers "$suite" "$stage/include/onnxruntime" ||
  fail "no headers in libonnxruntime-dev of Debian $suite"
fetch_headers "$plugins_suite" "$tmp/newer" && mkdir "$stage/include/plugins" &&
  cp "$tmp"/newer/onnxruntime_c_api.h "$tmp"/newer/onnxruntime_ep_c_api.h "$stage/include/plugins/" ||
  say "no headers for plug-ins: the execution accelerator openvino will be refused"
if [[ -z $dest ]]; then
  (cd "$stage" && find include -type f | sort | xargs sha256sum) >"$sums"
  say "wrote $sums"
  exit 0
fi
check_known "$stage/include/onnxruntime" ||
  fail "the headers of Debian $suite are not those of $sums (\`tools/fetch_onnxruntime.sh --sums\` takes them)"
if [[ -d $stage/include/plugins ]] && ! check_known "$stage/include/plugins"; then
  rm -rf "$stage/include/plugins"
  say "the headers for plug-ins of Debian $plugins_suite are not those of $sums: the execution accelerator openvino will be refused"
fi
fetch_library
echo "$stamp" >"$stage/STAMP"
rm -rf "$dest"
mkdir -p "$(dirname "$dest")"
mv "$stage" "$dest"
say "done: $dest ($stamp)"
