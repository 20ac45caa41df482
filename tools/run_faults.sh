#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests the C API under AddressSanitizer while the resources that it requests from the system fail.
#
#   tools/run_faults.sh [SECONDS]    each allocation and each thread once, then a storm with random faults
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

seconds=${1:-60}
tools/build.sh asan-gcc capi_faults_test capi_storm_test
export ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1
programs=build/asan-gcc/tests/conformance/capi
"$programs/capi_faults_test" --stride=1
"$programs/capi_storm_test" --seconds="$seconds" --fail-allocations=500 --fail-threads=50 --fail-files=20
