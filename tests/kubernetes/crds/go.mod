// What KServe's and Prometheus' objects look like: the folders of these modules hold their CustomResourceDefinitions.
module nereid/kubernetes/crds

go 1.26.0

require (
	github.com/kserve/kserve v0.20.0
	github.com/prometheus-operator/prometheus-operator v0.85.0
)
