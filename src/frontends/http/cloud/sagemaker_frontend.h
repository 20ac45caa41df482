// SPDX-License-Identifier: Apache-2.0
// SagemakerFrontend: the handler of the port for Amazon SageMaker: whether the container is ready,
// inferences with the default model, and, for multi-model endpoints, models that the platform
// lists, loads, unloads and invokes. Inferences are handed to the REST frontend. Thread-safe.
#ifndef NEREID_FRONTENDS_HTTP_CLOUD_SAGEMAKER_FRONTEND_H_
#define NEREID_FRONTENDS_HTTP_CLOUD_SAGEMAKER_FRONTEND_H_

#include <absl/strings/string_view.h>

#include <cstdint>
#include <memory>
#include <string>

#include "base/threads/thread_pool.h"
#include "frontends/http/cloud/sagemaker_models.h"
#include "frontends/http/http_frontend.h"
#include "frontends/http/http_server.h"
#include "server/server.h"

namespace nereid {

struct SagemakerOptions {
  std::string default_model;        // empty: there is none
  std::string inference = "infer";  // or generate, generate_stream: what an invocation is
  bool ping_live = false;           // /ping asks whether the server is live, not ready
};

class SagemakerFrontend final : public HttpHandler {
 public:
  // `server`, `rest` and `admin`, which runs what reads the disk, must outlive the frontend.
  // `admin` must end before the frontend is destroyed.
  SagemakerFrontend(Server* server, HttpFrontend* rest, ThreadPool* admin,
                    const SagemakerOptions& options);

  HeadVerdict OnHead(HttpRequest* request) override;
  void Handle(std::unique_ptr<HttpRequest> request, HttpResponder responder) override;

 private:
  void Invoke(const std::string& path, std::unique_ptr<HttpRequest> request,
              HttpResponder responder);
  void HandleModels(absl::string_view rest_of_path, std::unique_ptr<HttpRequest> request,
                    HttpResponder responder);
  void InvokeModel(const std::string& name, std::unique_ptr<HttpRequest> request,
                   HttpResponder responder);
  void LoadModel(std::unique_ptr<HttpRequest> request, HttpResponder responder);

  HttpFrontend* const rest_;
  ThreadPool* const admin_;
  const SagemakerOptions options_;
  const std::string ping_path_;
  const std::string default_path_;  // empty: there is no default model
  const std::shared_ptr<SagemakerModels> models_;
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_HTTP_CLOUD_SAGEMAKER_FRONTEND_H_
