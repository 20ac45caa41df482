#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# All tests of the backends openvino, pytorch and tensorflow: `tools/dev frameworks-test`. Installs what is
# missing (3 GB), compiles AOTInductor packages, builds, stages. The last line is `N passed, N failed`.
#
#   tools/frameworks_test.sh [-k EXPRESSION]           as tools/run_tests.py
#   tools/frameworks_test.sh --asan [-k EXPRESSION]    builds server and backends under AddressSanitizer,
#                                                      and runs the tests of a running server against them
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if ! tools/setup.sh --test --framework={openvino,pytorch,tensorflow} --framework-tests ||
  ! tests/frameworks/aoti_setup.sh; then
  echo "0 passed, 1 failed"
  exit 1
fi
export NEREID_SIDE_BY_SIDE_SECONDS=${NEREID_SIDE_BY_SIDE_SECONDS:-60}
exec .venv/bin/python tools/run_tests.py --frameworks "$@"
