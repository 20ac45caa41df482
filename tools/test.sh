#!/usr/bin/env bash
# Set-up, then all tests (tools/run_tests.py, which takes the arguments). The last line is
# `N passed, N failed`.
#
# With CI=true, or FUZZ_SECONDS set, also what needs the clang tools; with CI=true also the backends of
# other frameworks.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

what=(--test)
[[ ${CI:-} != true && -z ${FUZZ_SECONDS:-} ]] || what+=(--lint)
[[ ${CI:-} != true ]] || what+=(--framework={openvino,pytorch,tensorflow} --framework-tests)
if ! tools/setup.sh "${what[@]}"; then
  echo "0 passed, 1 failed"
  exit 1
fi
exec .venv/bin/python tools/run_tests.py "$@"
