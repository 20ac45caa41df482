#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Puts the C and C++ sources into the project's format (.clang-format).
#
#   tools/format.sh           changes the files
#   tools/format.sh --check   reports what it would change; fails if that is anything
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

case ${1:-} in
  "") what=(-i) ;;
  --check) what=(--dry-run -Werror) ;;
  *)
    echo "usage: tools/format.sh [--check]" >&2
    exit 2
    ;;
esac
# The same files as those of the include rules.
sources() {
  PYTHONPATH=tools .venv/bin/python - <<'PY'
from pathlib import Path

from check_includes import project_files

for name in project_files(Path.cwd()):
    if name.endswith((".cc", ".c", ".h")):
        print(name, end="\0")
PY
}
sources | xargs -0 -r -n 50 -P "$(nproc)" clang-format-16 "${what[@]}"
