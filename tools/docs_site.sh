#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes a site of the project's pages in build/docs-site/html (tools/docs_site.py says how).
#
#   tools/docs_site.sh [--serve]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

tools/setup.sh --docs
exec .venv/bin/python tools/docs_site.py "$@"
