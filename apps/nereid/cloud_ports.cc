// SPDX-License-Identifier: Apache-2.0
#include "cloud_ports.h"

#include <absl/status/statusor.h>

#include <string>
#include <utility>

#include "base/log.h"
#include "base/status_macros.h"
#include "frontends/http/cloud/binary_mime.h"
#include "frontends/http/cloud/sagemaker_frontend.h"
#include "frontends/http/cloud/vertex_ai_frontend.h"
#include "settings.h"

namespace nereid {
namespace {

// The platforms end TLS themselves, and each port belongs to one container.
HttpServerOptions PlainOptions(HttpServerOptions options) {
  options.tls = {};
  options.reuse_port = false;
  options.body_split_header = "Content-Type";
  return options;
}

}  // namespace

CloudPorts::CloudPorts(Server* server, HttpFrontend* rest, ThreadPool* admin,
                       HttpServerOptions options)
    : server_(server),
      rest_(rest),
      admin_(admin),
      metrics_(server, admin, CorsPolicy::Unchecked()),  // the frontends have asked
      options_(PlainOptions(std::move(options))) {}

absl::Status CloudPorts::StartSagemaker(const SagemakerSettings& settings) {
  SagemakerOptions options;
  options.default_model = settings.default_model;
  // Endpoints of many models have none: they begin without a model.
  if (options.default_model.empty()) {
    options.default_model = FindDefaultModel(*server_, "").value_or("");
  }
  options.inference = settings.inference;
  options.ping_live = settings.ping_live;
  return Open(settings.listen, std::make_unique<SagemakerFrontend>(server_, rest_, admin_, options),
              kSagemakerMime, "Sagemaker HTTPService");
}

absl::Status CloudPorts::StartVertexAi(const VertexAiSettings& settings) {
  for (const auto& [name, route] : {std::pair("AIP_PREDICT_ROUTE", settings.predict_route),
                                    {"AIP_HEALTH_ROUTE", settings.health_route}}) {
    if (!route.empty()) continue;
    return absl::InvalidArgumentError(absl::StrCat(name, " is not defined for Vertex AI endpoint"));
  }
  ASSIGN_OR_RETURN(const std::string model, FindDefaultModel(*server_, settings.default_model));
  return Open(
      settings.listen,
      std::make_unique<VertexAiFrontend>(
          rest_, &metrics_, VertexAiRoutes{settings.predict_route, settings.health_route}, model),
      kVertexAiMime, "Vertex AI HTTPService");
}

absl::Status CloudPorts::Open(const CloudPortSettings& listen, std::unique_ptr<HttpHandler> handler,
                              const char* split, const char* name) {
  HttpServerOptions options = options_;
  options.address = listen.address;
  options.port = listen.port;
  options.bound = listen.bound;
  options.thread_count = listen.thread_count;
  options.body_split_prefix = split;
  handlers_.push_back(std::move(handler));
  ASSIGN_OR_RETURN(std::unique_ptr<HttpServer> port,
                   HttpServer::Start(std::move(options), handlers_.back().get()));
  LOG_INFO << "Started " << name << " at " << listen.address << ":" << port->port();
  ports_.push_back(std::move(port));
  return absl::OkStatus();
}

void CloudPorts::Announce() {
  for (const auto& port : ports_) port->Announce();
}

void CloudPorts::Stop(TimePoint deadline) {
  for (const auto& port : ports_) port->Stop(deadline);
}

}  // namespace nereid
