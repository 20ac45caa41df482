#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what is needed to build and to serve, unless it is installed already, and with GROUPs more:
#
#   tools/setup.sh [--GROUP]... [--framework=NAME]...
#     --unit   what building and running the tests takes
#     --test   also Triton, which tests/differential compares with, other versions of Python, and --docs
#     --docs   also what tools/docs_site.sh needs, and the examples with pictures and scikit-learn
#     --vad    also what examples/vad needs: the model file of silero-vad, espeak-ng
#     --lint   also the clang tools of `make lint` and `tools/dev fuzz`
#     --deb    also what makes Debian packages
#     --packages   also what tests of packages need: roots of their own, lintian, shells
#     --image  also what makes images: mmdebstrap, umoci
#     --wheel  also what makes the wheel: scikit-build-core, auditwheel
#     --bench  also what `make bench` needs: Triton, perf_analyzer, matplotlib
#     --light  also LitServe and MLServer, which `tools/dev bench-light` races against
#     --trees  also the libraries that `tools/dev bench-trees` races against
#     --conformance   also what `tools/dev conformance` needs: Go, Node.js, the clients that they build, a browser, nvidia-pytriton
#     --collector     with --conformance: also the OpenTelemetry Collector, which takes some minutes to build
#     --kubernetes    also what `tools/dev kubernetes-check` needs: etcd, helm and kube-apiserver, which take long to build
#     --ray    also what `tools/dev ray-check` needs: Ray Serve
#     --lock   also uv, which `tools/dev lock` asks
#     --framework=NAME   also the runtime of the backend NAME: openvino, pytorch, tensorflow. The
#              backend is then built and staged until `--framework=none`. cloud: the same for the program that reads
#              cloud storage.
#     --framework-tests   also the Python sides of PyTorch and TensorFlow, which make models for tests
#
# What is installed, in which version: tools/dependencies.txt; hashes of Python packages: tools/locks; ONNX Runtime:
# tools/versions.env. Writes to .venv and build/deps only; root is needed only if a Debian package is missing.
# Prints one line per step that does something. With nothing to do it takes a tenth of a second.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

say() { echo "setup: $*"; }
fail() { echo "setup: $*" >&2; exit 1; }

# What the groups add: sections of Debian packages; functions to call; "WHAT|FOLDER|LOCK" for packages of Python
# in folders of their own. VENV: the lock of .venv.
debian=(apt) steps=() aside=() frameworks=() venv=run
original=("Triton|original|differential" "numpy for its Python models|original-numpy|differential-numpy")
vad="the speech detector|vad|vad"
docs="what the documentation needs|docs|docs"
perf_analyzer="perf_analyzer|perf_analyzer|perf-analyzer"
toolchains="Go and Node.js|conformance/toolchain|conformance"
unit() { venv=all debian+=(apt-unit); }
for argument in "$@"; do
  case $argument in
    --unit) unit ;;
    --test)
      unit
      debian+=(apt-vad) aside+=("$vad" "$docs" "${original[@]}") steps+=(install_other_pythons)
      ;;
    --docs) venv=all aside+=("$docs") ;;
    --vad) venv=all debian+=(apt-vad) aside+=("$vad") ;;
    --lint) debian+=(apt-lint) ;;
    --deb) debian+=(apt-deb) ;;
    --packages) debian+=(apt-deb apt-packages) ;;
    --image) debian+=(apt-image) ;;
    --wheel) aside+=("what builds wheels|wheel|wheel") ;;
    --bench)
      unit
      debian+=(apt-bench) aside+=("${original[@]}" "$perf_analyzer" "matplotlib|bench|bench")
      ;;
    --light) aside+=("LitServe|litserve|litserve" "MLServer|mlserver|mlserver") ;;
    --trees) aside+=("XGBoost, LightGBM, scikit-learn and Treelite|trees|trees") ;;
    --conformance)
      unit
      debian+=(apt-conformance) steps+=(install_conformance)
      aside+=("$toolchains" "schemathesis and the clients of KServe|conformance/python|conformance-python"
        "$perf_analyzer" "${original[@]}" "what nvidia-pytriton needs|pytriton|pytriton")
      ;;
    --collector) steps+=(install_collector) ;;
    --kubernetes)
      unit
      debian+=(apt-kubernetes) steps+=(install_kubernetes)
      aside+=("$toolchains" "PyYAML|kubernetes/python|kubernetes")
      ;;
    --ray) unit; aside+=("Ray Serve|ray|ray") ;;
    --lock) aside+=("uv|uv|uv") ;;
    --framework-tests)
      unit
      aside+=("PyTorch's Python side|pytorch-python/site|pytorch-python"
        "TensorFlow's Python side|tensorflow-python|tensorflow-python")
      ;;
    --framework=none) frameworks+=(none) ;;
    --framework=openvino | --framework=pytorch | --framework=tensorflow)
      name=${argument#*=}
      frameworks+=("$name") aside+=("the runtime of the backend $name|$name|$name")
      ;;
    --framework=cloud) frameworks+=(cloud) aside+=("Apache Arrow, which reads cloud storage|cloud|cloud") ;;
    --framework=*) fail "unknown framework '${argument#*=}' (known: cloud, openvino, pytorch, tensorflow, none)" ;;
    *) fail "unknown argument '$argument' (known: $(sed -n 's/^#     \(--[a-z=NAME-]*\).*/\1/p' tools/setup.sh | paste -sd, | sed 's/,/, /g'))" ;;
  esac
done

install_apt() {
  local wanted missing root=()
  mapfile -t wanted < <(awk -v sections=" ${debian[*]} " '
    { sub(/#.*/, ""); gsub(/[ \t]+/, "") }
    /^\[.*\]$/ { inside = index(sections, " " substr($0, 2, length($0) - 2) " "); next }
    inside && $0 != ""' tools/dependencies.txt)
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    fail "this is not a Debian system (no apt-get). Install the equivalents of: ${wanted[*]}"
  fi
  mapfile -t missing < <(comm -23 <(printf '%s\n' "${wanted[@]}" | sort -u) \
    <(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "${wanted[@]}" 2>/dev/null |
      awk '$1 == "installed" { print $2 }' | sort -u))
  [[ ${#missing[@]} -gt 0 ]] || return 0

  if [[ $(id -u) -ne 0 ]]; then
    command -v sudo >/dev/null ||
      fail "missing Debian packages, and neither root nor sudo. As root: apt-get install ${missing[*]}"
    root=(sudo)
  fi
  say "installing Debian packages: ${missing[*]}"
  mkdir -p build/logs
  local apt=("${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300)
  if ! { "${apt[@]}" update && "${apt[@]}" install -y --no-install-recommends "${missing[@]}"; } \
    >build/logs/apt.log 2>&1 </dev/null; then
    tail -n 15 build/logs/apt.log >&2
    fail "apt-get failed (log: build/logs/apt.log). Is the Debian archive reachable, and is this Debian 12?"
  fi
}

# pins LOCK: the packages of tools/locks/LOCK.txt, one a line.
pins() { sed -n 's/^\([A-Za-z0-9][^ ]*\) .*/\1/p' "tools/locks/$1.txt"; }

# locked PYTHON LOCK [OPTION...]: lets pip install exactly what the lock has the hashes of.
locked() {
  "$1" -m pip --disable-pip-version-check -q install --require-hashes --no-deps --only-binary=:all: "${@:3}" \
    -r "tools/locks/$2.txt" </dev/null
}

stamp_of_venv() { printf '%s\n' "$(pins "$1")" "$2" | sha256sum | cut -d' ' -f1; }

# Brings .venv to what tools/locks has: `run`, or `all`, which holds it, too. Replaces it if the pins have changed,
# so that it holds the pinned packages and no others.
install_venv() {
  local python=${PYTHON:-/usr/bin/python3} version have
  command -v "$python" >/dev/null || python=python3
  version=$("$python" -c 'import sys; print(sys.version)')
  have=$(cat .venv/nereid.stamp 2>/dev/null || true)
  [[ $have != "$(stamp_of_venv all "$version")" && $have != "$(stamp_of_venv "$venv" "$version")" ]] || return 0

  say "installing $(pins "$venv" | wc -l) Python packages into .venv"
  "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
    fail "$python is older than Python 3.11; name a newer one: PYTHON=/path/to/python3 make setup"
  if [[ $have != "$(stamp_of_venv run "$version")" ]]; then
    rm -rf .venv
    "$python" -m venv .venv || fail "could not create .venv (Debian package python3-venv)"
  fi
  locked .venv/bin/python "$venv" || fail "pip failed. Is the Python package index reachable?"
  local problems
  problems=$(.venv/bin/python -m pip --disable-pip-version-check check) ||
    fail "the pins in tools/dependencies.txt do not fit together: $problems"
  stamp_of_venv "$venv" "$version" >.venv/nereid.stamp
}

# install_aside WHAT FOLDER LOCK: installs packages into a separate folder under build/deps, without
# their dependencies. Used if they need other versions than .venv has, or serve only one tool.
install_aside() {
  local what=$1 destination=build/deps/$2 wanted
  wanted=$(pins "$3")
  [[ $(cat "$destination/nereid.stamp" 2>/dev/null) != "$wanted" ]] || return 0
  say "installing $what into $destination"
  rm -rf "$destination"
  locked .venv/bin/python "$3" --target "$destination" || fail "pip failed. Is the Python package index reachable?"
  echo "$wanted" >"$destination/nereid.stamp"
}

# The backend python is also tested with other versions of Python, if they are installed: the oldest
# and the newest besides that of .venv, each with numpy in a separate environment.
install_other_pythons() {
  local own version path lock others=()
  own=$(.venv/bin/python -c 'import sys; print("3.%d" % sys.version_info[1])')
  mapfile -t others < <(tools/find_pythons.sh | grep -v "^$own " | sed -n '1p;$p' | uniq)
  for found in "${others[@]}"; do
    read -r version path <<<"$found"
    lock=python-$version
    [[ -f tools/locks/$lock.txt ]] || lock=python
    local destination=build/deps/pythons/$version
    [[ $(cat "$destination/nereid.stamp" 2>/dev/null) != "$(pins "$lock")" ]] || continue
    say "making an environment of Python $version in $destination"
    rm -rf "$destination"
    # A Python into which numpy cannot be installed is skipped, because it is not required.
    if "$path" -m venv "$destination" >/dev/null 2>&1 && locked "$destination/bin/python" "$lock" >/dev/null 2>&1; then
      pins "$lock" >"$destination/nereid.stamp"
    else
      say "Python $version is not tested: it can not have $(pins "$lock")"
      rm -rf "$destination"
    fi
  done
}

# build_once WHAT STAMP LOG COMMAND... : runs a command whose result is that of its inputs, whose text comes from
# standard input; STAMP remembers them.
build_once() {
  local what=$1 stamp=$2 log=build/logs/$3.log inputs
  inputs=$(sha256sum | cut -d' ' -f1)
  [[ $(cat "$stamp" 2>/dev/null) != "$inputs" ]] || return 0
  say "$what"
  mkdir -p build/logs build/deps
  rm -f "$stamp"
  if ! "${@:4}" >"$log" 2>&1 </dev/null; then
    tail -n 15 "$log" >&2
    fail "that failed (log: $log). Are the indexes of packages that it asks reachable?"
  fi
  mkdir -p "$(dirname "$stamp")"
  echo "$inputs" >"$stamp"
}

install_onnxruntime() {
  local destination=build/deps/onnxruntime
  [[ -d $destination ]] || rm -f build/deps/onnxruntime.stamp
  cat tools/{versions.env,fetch_onnxruntime.sh,locks/onnxruntime.txt,locks/onnxruntime-headers.sha256} |
    build_once "fetching ONNX Runtime into $destination" \
      build/deps/onnxruntime.stamp onnxruntime-setup \
      env PYTHON="$PWD/.venv/bin/python" tools/fetch_onnxruntime.sh "$destination"
}

# Programs of others; what Go and Node.js build is pinned in tests/conformance.
install_conformance() {
  cat tools/{build_conformance,go_environment}.sh tests/conformance/go/* tests/conformance/js/package*.json \
    proto/{grpc_service,model_config}.proto build/deps/conformance/toolchain/nereid.stamp |
    build_once "building the clients of the conformance tests (two minutes the first time)" \
      build/deps/conformance/nereid.stamp conformance-setup tools/build_conformance.sh build/deps/conformance
}

install_collector() {
  cat tools/{build_conformance,go_environment}.sh tests/conformance/collector/* |
    build_once "building the OpenTelemetry Collector (some minutes the first time)" \
      build/deps/conformance/collector.stamp collector-setup tools/build_conformance.sh build/deps/conformance collector
}

install_kubernetes() {
  cat tools/{build_kubernetes,go_environment}.sh tests/kubernetes/*/go.{mod,sum} \
    build/deps/conformance/toolchain/nereid.stamp |
    build_once "building helm and kube-apiserver (ten minutes, and 4 GB meanwhile)" \
      build/deps/kubernetes/nereid.stamp kubernetes-setup tools/build_kubernetes.sh build/deps/kubernetes
}

# Writes the file that CMake reads, one name per line, but only if its content changes.
choose_frameworks() {
  local list=build/deps/frameworks name chosen=()
  for name in "${frameworks[@]}"; do
    if [[ $name == none ]]; then chosen=(); else chosen+=("$name"); fi
  done
  [[ ${frameworks[0]} == none || ! -f $list ]] || mapfile -t -O "${#chosen[@]}" chosen <"$list"
  mapfile -t chosen < <(printf '%s\n' "${chosen[@]}" | sed '/^$/d' | sort -u)
  [[ $(cat "$list" 2>/dev/null) == "$(printf '%s\n' "${chosen[@]}")" ]] || printf '%s\n' "${chosen[@]}" >"$list"
}

install_apt
install_venv
install_onnxruntime
for entry in "${aside[@]}"; do
  IFS='|' read -r what folder lock <<<"$entry"
  install_aside "$what" "$folder" "$lock"
done
[[ ${#frameworks[@]} -eq 0 ]] || choose_frameworks
for step in "${steps[@]}"; do
  $step
done
