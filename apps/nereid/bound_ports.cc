// SPDX-License-Identifier: Apache-2.0
#include "bound_ports.h"

#include <absl/status/statusor.h>
#include <absl/strings/str_cat.h>

#include <memory>

#include "frontends/transport/bound_address.h"

namespace nereid {
namespace {

struct WantedPort {
  bool allow;
  const char* service;
  transport::AddressToBind where;
  std::shared_ptr<transport::BoundAddress>* bound;
};

}  // namespace

absl::Status BindPorts(Settings* s) {
  CloudPortSettings* const sagemaker = &s->sagemaker.listen;
  CloudPortSettings* const vertex_ai = &s->vertex_ai.listen;
  const WantedPort ports[] = {
      {s->allow_grpc,
       "GRPC",
       {"gRPC", s->grpc.address, s->grpc.port, s->grpc.reuse_port, "--grpc-port"},
       &s->grpc.bound},
      {s->allow_http,
       "HTTP",
       {"HTTP", s->http.address, s->http.port, s->http.reuse_port, "--http-port"},
       &s->http.bound},
      {s->tfs.allow_http,
       "TensorFlow Serving HTTP",
       {"HTTP", s->http.address, s->tfs.http_port, s->http.reuse_port, "--tfs-http-port"},
       &s->tfs.http_bound},
      {s->tfs.allow_grpc,
       "TensorFlow Serving GRPC",
       {"gRPC", s->grpc.address, s->tfs.grpc_port, s->grpc.reuse_port, "--tfs-grpc-port"},
       &s->tfs.grpc_bound},
      {sagemaker->allow,
       "Sagemaker",
       {"HTTP", sagemaker->address, sagemaker->port, false, "--sagemaker-port"},
       &sagemaker->bound},
      {vertex_ai->allow,
       "Vertex AI",
       {"HTTP", vertex_ai->address, vertex_ai->port, false, "--vertex-ai-port"},
       &vertex_ai->bound},
      {s->console.allow,
       "Console",
       {"HTTP", s->console.address, s->console.port, false, "--console-port"},
       &s->console.bound},
      {s->server.metrics,
       "Metrics",
       {"HTTP", s->metrics_address(), s->metrics.port, s->metrics.reuse_port, "--metrics-port"},
       &s->metrics.bound}};
  for (const WantedPort& port : ports) {
    if (!port.allow) continue;
    auto bound = transport::BoundAddress::Bind(port.where);
    if (!bound.ok()) return ServiceFailed(port.service, bound.status());
    *port.bound = *std::move(bound);
  }
  return absl::OkStatus();
}

absl::Status ServiceFailed(const char* service, const absl::Status& status) {
  const char* code = "Internal";
  if (status.code() == absl::StatusCode::kUnavailable) code = "Unavailable";
  if (status.code() == absl::StatusCode::kInvalidArgument) code = "Invalid argument";
  return absl::Status(status.code(), absl::StrCat("failed to start ", service, " service: ", code,
                                                  " - ", status.message()));
}

}  // namespace nereid
