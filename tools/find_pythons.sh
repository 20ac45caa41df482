#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Prints the installed interpreters of Python 3.9 to 3.14, one for each minor version, as lines
# "3.X PATH". Looks on the PATH first, then among those that pyenv and uv have installed. Builds
# without the global interpreter lock are left out.
set -uo pipefail

ask='import sys, sysconfig
if not sysconfig.get_config_var("Py_GIL_DISABLED"):
    print("3.%d" % sys.version_info[1], sys.executable)'
for minor in 9 10 11 12 13 14; do
  for candidate in "python3.$minor" python3 "${PYENV_ROOT:-$HOME/.pyenv}/versions/3.$minor".*/bin/python3 \
    "${UV_PYTHON_INSTALL_DIR:-${XDG_DATA_HOME:-$HOME/.local/share}/uv/python}/cpython-3.$minor".*/bin/python3; do
    found=$("$candidate" -I -c "$ask" 2>/dev/null) || continue
    [[ $found == "3.$minor "* ]] || continue
    echo "$found"
    break
  done
done
