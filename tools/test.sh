#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the set-up, then all tests (tools/run_tests.py, which gets the arguments). The last line is
# `N passed, N failed`.
#
# With CI=true, or with FUZZ_SECONDS set, the set-up includes the clang tools; with CI=true also the
# runtimes of the other frameworks.
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
