#!/usr/bin/env bash
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
# What git tracks or would add; without git, all files except build trees and dot folders.
sources() {
  git ls-files -z --cached --others --exclude-standard '*.cc' '*.c' '*.h' 2>/dev/null ||
    find . \( -path ./build -o -name '.?*' -o -name node_modules \) -prune -o \
      -type f \( -name '*.cc' -o -name '*.c' -o -name '*.h' \) -print0
}
sources | xargs -0 -n 50 -P "$(nproc)" clang-format-16 "${what[@]}"
