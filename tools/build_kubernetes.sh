#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds what tests/kubernetes runs: bin/{helm,kube-apiserver} and crds/*.yaml below DIR.
#
#   tools/build_kubernetes.sh DIR
#
# Go is that of build/deps/conformance/toolchain, as tools/setup.sh put it there. Versions: go.mod and go.sum in
# tests/kubernetes/{programs,crds}. Nothing is written outside of DIR.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD
mkdir -p "$1"/{bin,crds}
destination=$(cd "$1" && pwd)
go=$root/build/deps/conformance/toolchain/go/bin/go
source tools/go_environment.sh

# The modules that hold the CustomResourceDefinitions: their files are used, not their code.
folder_of() { "$go" mod download -json "$1" | sed -n 's/^\t"Dir": "\(.*\)",\{0,1\}$/\1/p'; }
cd "$root/tests/kubernetes/crds"
kserve=$(folder_of github.com/kserve/kserve)
prometheus=$(folder_of github.com/prometheus-operator/prometheus-operator)
cp "$kserve"/config/crd/full/serving.kserve.io_{inferenceservices,servingruntimes,clusterservingruntimes,trainedmodels}.yaml \
  "$prometheus/example/prometheus-operator-crd/monitoring.coreos.com_podmonitors.yaml" "$destination/crds"

cd "$root/tests/kubernetes/programs"
go_build helm helm.sh/helm/v4/cmd/helm
# Charts ask the server for its version.
version=$("$go" list -m -f '{{.Version}}' k8s.io/kubernetes)
go_build kube-apiserver k8s.io/kubernetes/cmd/kube-apiserver "-X k8s.io/component-base/version.gitVersion=$version"

# 4 GB that only a build of other versions would use again, in part.
rm -rf "$destination/cache"
