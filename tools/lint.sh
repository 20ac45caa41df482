#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Checks of the source text. All of them run; the exit code says whether all passed.
# They are: include rules, C boundary, documents, licences, format, clang with -Wthread-safety -Werror, clang-tidy.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

tools/setup.sh --lint

status=0
step() {
  echo "lint: $1"
  shift
  "$@" || { status=1; echo "lint: FAILED: $*" | cut -c1-200; }
}

# The compilation database names exactly what the lint preset builds, so clang-tidy sees it all.
tidy() {
  .venv/bin/python - <<'PY' | xargs -0 -r -n 1 -P "$(nproc)" clang-tidy-16 --quiet -p build/lint
import json, pathlib

root = pathlib.Path.cwd()
for entry in json.loads((root / "build/lint/compile_commands.json").read_text()):
    path = pathlib.Path(entry["file"])
    if path.is_relative_to(root) and not path.is_relative_to(root / "build"):
        print(path, end="\0")
PY
}

step "include rules" .venv/bin/python tools/check_includes.py
step "C boundary" .venv/bin/python tools/check_c_boundary.py
step "documents" .venv/bin/python tools/check_docs.py
step "licences" .venv/bin/python tools/spdx.py
step "format" tools/format.sh --check
step "clang, -Wthread-safety -Werror" tools/build.sh lint
step "clang-tidy" tidy
exit $status
