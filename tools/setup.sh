#!/usr/bin/env bash
# Installs what is needed to build, test and run Nereid, unless it is installed already.
#
#   tools/setup.sh [--test] [--lint] [--packages] [--image] [--bench] [--vad] [--docs] [--framework=NAME]...
#     --test   also Triton, which tests/differential compares with, --vad and --docs
#     --vad    also what examples/vad needs: the model file of silero-vad, espeak-ng
#     --lint   also the clang tools of `make lint` and `make fuzz`
#     --packages   also what tests of packages need: roots of their own, lintian, shells
#     --image  also what `make image` needs: mmdebstrap, umoci
#     --bench  also what `make bench` needs: Triton, perf_analyzer, matplotlib
#     --conformance   also what `make conformance` needs: Go, Node.js, and the clients that they build, a browser,
#              nvidia-pytriton
#     --collector   with --conformance: also the OpenTelemetry Collector, which takes some minutes to build
#     --light  also LitServe and MLServer, which `make bench-light` races against
#     --wheel  also what `make wheel` needs: scikit-build-core, auditwheel
#     --kubernetes   also what `make kubernetes-check` needs: etcd, helm and kube-apiserver, which take long to build
#     --docs   also what tools/docs_site.sh needs, and the examples with pictures and scikit-learn
#     --ray    also what `make ray-check` needs: Ray Serve
#     --framework=NAME   also the runtime of the backend NAME: openvino, pytorch, tensorflow. The
#              backend is then built and staged until `--framework=none`.
#     --framework-tests   also the Python sides of PyTorch and TensorFlow, which make models for tests
#
# Debian packages and Python packages: tools/dependencies.txt. ONNX Runtime: tools/versions.env.
# Writes to .venv and build/deps only; root is needed only if a Debian package is missing.
# Prints one line per step that does something. With nothing to do it takes a tenth of a second.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

say() { echo "setup: $*"; }
fail() { echo "setup: $*" >&2; exit 1; }

sections=(apt)
with_original=false
with_bench=false
with_conformance=false with_collector=false
with_vad=false with_pythons=false
with_framework_tests=false with_wheel=false with_light=false
with_kubernetes=false with_ray=false with_docs=false
frameworks=()
for argument in "$@"; do
  case $argument in
    --lint) sections+=(apt-lint) ;;
    --packages) sections+=(apt-packages) ;;
    --image) sections+=(apt-image) ;;
    --test) sections+=(apt-vad) with_original=true with_vad=true with_pythons=true with_docs=true ;;
    --vad) sections+=(apt-vad) with_vad=true ;;
    --bench) sections+=(apt-bench) with_original=true with_bench=true ;;
    --conformance) sections+=(apt-conformance) with_conformance=true ;;
    --collector) with_collector=true ;;
    --ray) with_ray=true ;;
    --docs) with_docs=true ;;
    --kubernetes) sections+=(apt-kubernetes) with_kubernetes=true ;;
    --framework-tests) with_framework_tests=true ;;
    --wheel) with_wheel=true ;;
    --light) with_light=true ;;
    --framework=*) frameworks+=("${argument#*=}") ;;
    *) fail "unknown argument '$argument' (known: --test, --vad, --lint, --packages, --image, --bench, --conformance, --collector, --light, --wheel, --kubernetes, --ray, --docs, --framework=NAME, --framework-tests)" ;;
  esac
done

set -a
# shellcheck source=tools/versions.env
source tools/versions.env
set +a

# section NAME: the entries of [NAME] without comments; ${NAME} is replaced from versions.env.
section() {
  awk -v want="[$1]" '
    { sub(/#.*/, ""); gsub(/[ \t]+/, "") }
    /^\[[a-z0-9.-]+\]$/ { inside = ($0 == want); next }
    inside && $0 != "" {
      while (match($0, /\$\{[A-Z_]+\}/)) {
        name = substr($0, RSTART + 2, RLENGTH - 3)
        if (ENVIRON[name] == "") { print "setup: " name " is not set in versions.env" > "/dev/stderr"; exit 1 }
        $0 = substr($0, 1, RSTART - 1) ENVIRON[name] substr($0, RSTART + RLENGTH)
      }
      print
    }' tools/dependencies.txt
}

install_apt() {
  local wanted=() missing=() name root=()
  for name in "${sections[@]}"; do
    mapfile -t -O "${#wanted[@]}" wanted < <(section "$name")
  done
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

# Replaces .venv if the pins have changed, so that it holds the pinned packages and no others.
install_pip() {
  local pins stamp python=${PYTHON:-/usr/bin/python3}
  pins=$(section pip)
  command -v "$python" >/dev/null || python=python3
  stamp=$(printf '%s\n' "$pins" "$("$python" -c 'import sys; print(sys.version)')" | sha256sum | cut -d' ' -f1)
  [[ $(cat .venv/nereid.stamp 2>/dev/null) != "$stamp" ]] || return 0

  say "installing $(wc -l <<<"$pins") Python packages into .venv"
  "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
    fail "$python is older than Python 3.11; name a newer one: PYTHON=/path/to/python3 make setup"
  rm -rf .venv
  "$python" -m venv .venv || fail "could not create .venv (Debian package python3-venv)"
  printf '%s\n' "$pins" >.venv/requirements.txt
  .venv/bin/python -m pip --disable-pip-version-check -q install --no-deps --only-binary=:all: \
    -r .venv/requirements.txt </dev/null ||
    fail "pip failed. Is the Python package index reachable?"
  .venv/bin/python -m pip --disable-pip-version-check -q check ||
    fail "the pins in tools/dependencies.txt do not fit together"
  echo "$stamp" >.venv/nereid.stamp
}

# install_aside WHAT FOLDER PINS: installs packages into a separate folder under build/deps, without
# their dependencies. Used if they need other versions than .venv has, or serve only one tool.
install_aside() {
  local what=$1 destination=build/deps/$2 pins=$3
  [[ $(cat "$destination/nereid.stamp" 2>/dev/null) != "$pins" ]] || return 0
  say "installing $what into $destination"
  rm -rf "$destination"
  # shellcheck disable=SC2086  # One word for each package.
  .venv/bin/python -m pip --disable-pip-version-check -q install --no-deps --only-binary=:all: \
    --target "$destination" $pins </dev/null || fail "pip failed. Is the Python package index reachable?"
  echo "$pins" >"$destination/nereid.stamp"
}

# The backend python is also tested with other versions of Python, if they are installed: the oldest
# and the newest besides that of .venv, each with numpy in a separate environment.
install_other_pythons() {
  local own version path pin others=()
  own=$(.venv/bin/python -c 'import sys; print("3.%d" % sys.version_info[1])')
  mapfile -t others < <(tools/find_pythons.sh | grep -v "^$own " | sed -n '1p;$p' | uniq)
  for found in "${others[@]}"; do
    read -r version path <<<"$found"
    pin=$(section "pip-python-$version")
    [[ -n $pin ]] || pin=$(section pip | grep '^numpy==')
    local destination=build/deps/pythons/$version
    [[ $(cat "$destination/nereid.stamp" 2>/dev/null) != "$pin" ]] || continue
    say "making an environment of Python $version in $destination"
    rm -rf "$destination"
    # A Python into which numpy cannot be installed is skipped, because it is not required.
    if "$path" -m venv "$destination" >/dev/null 2>&1 &&
      "$destination/bin/python" -m pip --disable-pip-version-check -q install --only-binary=:all: "$pin" \
        >/dev/null 2>&1 </dev/null; then
      echo "$pin" >"$destination/nereid.stamp"
    else
      say "Python $version is not tested: it can not have $pin"
      rm -rf "$destination"
    fi
  done
}

install_onnxruntime() {
  local destination=build/deps/onnxruntime stamp
  stamp=$(cat tools/versions.env tools/fetch_onnxruntime.sh | sha256sum | cut -d' ' -f1)
  [[ $(cat build/deps/onnxruntime.stamp 2>/dev/null) != "$stamp" || ! -d $destination ]] || return 0
  say "fetching ONNX Runtime $ONNXRUNTIME_VERSION into $destination"
  mkdir -p build/deps
  PYTHON=$PWD/.venv/bin/python tools/fetch_onnxruntime.sh "$destination" </dev/null ||
    fail "could not fetch ONNX Runtime; a copy of your own: cmake --preset release -DONNXRUNTIME_ROOT=DIR"
  echo "$stamp" >build/deps/onnxruntime.stamp
}

# Both are Python packages.
install_go_and_node() { install_aside "Go and Node.js" conformance/toolchain "$(section pip-conformance)"; }

# Programs of others; what Go and Node.js build is pinned in tests/conformance.
install_conformance() {
  local destination=build/deps/conformance stamp
  install_go_and_node
  install_aside "schemathesis and the clients of KServe" conformance/python "$(section pip-conformance-python)"
  install_aside perf_analyzer perf_analyzer "tritonclient==$PERF_ANALYZER_WHEEL_VERSION"
  install_aside "Triton" original "$(section pip-differential)"
  install_aside "numpy for its Python models" original-numpy "$(section pip-differential-numpy)"
  install_aside "what nvidia-pytriton needs" pytriton "$(section pip-pytriton)"
  stamp=$(cat tools/{build_conformance,go_environment}.sh tests/conformance/go/* tests/conformance/js/package*.json \
    proto/{grpc_service,model_config}.proto "$destination/toolchain/nereid.stamp" | sha256sum | cut -d' ' -f1)
  [[ $(cat "$destination/nereid.stamp" 2>/dev/null) != "$stamp" ]] || return 0
  say "building the clients of the conformance tests in $destination (two minutes the first time)"
  rm -f "$destination/nereid.stamp"
  mkdir -p build/logs
  if ! tools/build_conformance.sh "$destination" >build/logs/conformance-setup.log 2>&1 </dev/null; then
    tail -n 15 build/logs/conformance-setup.log >&2
    fail "could not build them (log: build/logs/conformance-setup.log). Are the Go module proxy and the npm registry reachable?"
  fi
  echo "$stamp" >"$destination/nereid.stamp"
}

install_collector() {
  local destination=build/deps/conformance stamp
  stamp=$(cat tools/{build_conformance,go_environment}.sh tests/conformance/collector/* | sha256sum | cut -d' ' -f1)
  [[ $(cat "$destination/collector.stamp" 2>/dev/null) != "$stamp" ]] || return 0
  say "building the OpenTelemetry Collector in $destination (some minutes the first time)"
  mkdir -p build/logs
  if ! tools/build_conformance.sh "$destination" collector >build/logs/collector-setup.log 2>&1 </dev/null; then
    tail -n 15 build/logs/collector-setup.log >&2
    fail "could not build it (log: build/logs/collector-setup.log). Is the Go module proxy reachable?"
  fi
  echo "$stamp" >"$destination/collector.stamp"
}

install_kubernetes() {
  local destination=build/deps/kubernetes stamp
  install_go_and_node
  install_aside "PyYAML" kubernetes/python "$(section pip-kubernetes)"
  stamp=$(cat tools/{build_kubernetes,go_environment}.sh tests/kubernetes/*/go.{mod,sum} \
    build/deps/conformance/toolchain/nereid.stamp | sha256sum | cut -d' ' -f1)
  [[ $(cat "$destination/nereid.stamp" 2>/dev/null) != "$stamp" ]] || return 0
  say "building helm and kube-apiserver in $destination (ten minutes, and 4 GB meanwhile)"
  rm -f "$destination/nereid.stamp"
  mkdir -p build/logs
  if ! tools/build_kubernetes.sh "$destination" >build/logs/kubernetes-setup.log 2>&1 </dev/null; then
    tail -n 15 build/logs/kubernetes-setup.log >&2
    fail "could not build them (log: build/logs/kubernetes-setup.log). Is the Go module proxy reachable?"
  fi
  echo "$stamp" >"$destination/nereid.stamp"
}

# Writes the file that CMake reads, one name per line, but only if its content changes.
choose_frameworks() {
  local list=build/deps/frameworks name chosen=()
  for name in "${frameworks[@]}"; do
    case $name in
      none) chosen=() ;;
      openvino | pytorch | tensorflow)
        install_aside "the runtime of the backend $name" "$name" "$(section "pip-$name")"
        chosen+=("$name") ;;
      *) fail "unknown framework '$name' (known: openvino, pytorch, tensorflow, none)" ;;
    esac
  done
  [[ ${frameworks[0]} == none || ! -f $list ]] || mapfile -t -O "${#chosen[@]}" chosen <"$list"
  mapfile -t chosen < <(printf '%s\n' "${chosen[@]}" | sed '/^$/d' | sort -u)
  [[ $(cat "$list" 2>/dev/null) == "$(printf '%s\n' "${chosen[@]}")" ]] || printf '%s\n' "${chosen[@]}" >"$list"
}

install_apt
install_pip
install_onnxruntime
[[ ${#frameworks[@]} -eq 0 ]] || choose_frameworks
if $with_pythons; then
  install_other_pythons
fi
if $with_original; then
  install_aside "Triton" original "$(section pip-differential)"
  install_aside "numpy for its Python models" original-numpy "$(section pip-differential-numpy)"
fi
if $with_vad; then
  install_aside "the speech detector" vad "$(section pip-vad)"
fi
if $with_wheel; then
  install_aside "what builds wheels" wheel "$(section pip-wheel)"
fi
if $with_light; then
  install_aside LitServe litserve "$(section pip-litserve)"
  install_aside MLServer mlserver "$(section pip-mlserver)"
fi
if $with_bench; then
  install_aside perf_analyzer perf_analyzer "tritonclient==$PERF_ANALYZER_WHEEL_VERSION"
  install_aside matplotlib bench "$(section pip-bench)"
fi
if $with_conformance; then
  install_conformance
fi
if $with_collector; then
  install_collector
fi
if $with_kubernetes; then
  install_kubernetes
fi
if $with_ray; then
  install_aside "Ray Serve" ray "$(section pip-ray)"
fi
if $with_docs; then
  install_aside "what the documentation needs" docs "$(section pip-docs)"
fi
if $with_framework_tests; then
  install_aside "PyTorch's Python side" pytorch-python/site "$(section pip-pytorch-python)"
  install_aside "TensorFlow's Python side" tensorflow-python "$(section pip-tensorflow-python)"
fi
