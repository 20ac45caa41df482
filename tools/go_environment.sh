# SPDX-License-Identifier: Apache-2.0
# Sourced by scripts that build programs in Go, with $destination set: the folder that everything is written below.
# What a user has set for Go, such as another source of modules, holds; but not another toolchain.
unset GOROOT GOOS GOARCH GOBIN
export GOTOOLCHAIN=local CGO_ENABLED=0
export GOFLAGS="-mod=readonly -modcacherw -buildvcs=false -trimpath"
export GOPATH=$destination/cache/go GOMODCACHE=$destination/cache/go/mod GOCACHE=$destination/cache/go/build

# go_build NAME PACKAGE [FLAGS]: builds $destination/bin/NAME by the toolchain $go, with further flags of the linker.
go_build() { "$go" build -ldflags="-s -w ${3:-}" -o "$destination/bin/$1" "$2"; }
