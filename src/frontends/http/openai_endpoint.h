// SPDX-License-Identifier: Apache-2.0
// OpenAiEndpoint: POST /v1/completions, /v1/chat/completions and /v1/embeddings, from the received
// body to the server and back; GET /v1/models. Thread-safe.
#ifndef NEREID_FRONTENDS_HTTP_OPENAI_ENDPOINT_H_
#define NEREID_FRONTENDS_HTTP_OPENAI_ENDPOINT_H_

#include <absl/status/statusor.h>
#include <absl/strings/string_view.h>

#include <cstdint>
#include <memory>
#include <string>

#include "base/threads/thread_pool.h"
#include "frontends/http/http_frontend_options.h"
#include "frontends/http/http_message.h"
#include "frontends/http/openai_inference.h"
#include "frontends/openai/openai_request.h"
#include "server/server.h"

namespace nereid {

class OpenAiEndpoint {
 public:
  // `server` must outlive the endpoint, and the endpoint must outlive every request, so it is
  // destroyed after the server has stopped and `compression` has ended. On `compression` large
  // bodies are read and large answers written.
  OpenAiEndpoint(Server* server, ThreadPool* compression, const HttpFrontendOptions& options);

  // Answers at once if the request cannot be issued, otherwise as its responses arrive. Runs on an
  // I/O thread; never blocks.
  void Handle(OpenAiRoute route, std::unique_ptr<HttpRequest> request, HttpResponder responder);

  // The models that at least one route serves, as JSON, or the one with that name.
  absl::StatusOr<std::string> ListModels() const;
  absl::StatusOr<std::string> DescribeModel(absl::string_view name) const;

 private:
  // Reads a body on `compression`, and issues what is read.
  void ReadElsewhere(std::shared_ptr<const HttpRequest> request,
                     std::shared_ptr<OpenAiInference> inference, TimePoint until) const;
  // Issues or refuses what was read with the outcome `read`. If the model is being loaded, does so
  // when it is there, `until` then. Any thread.
  void Issue(const absl::Status& read, std::shared_ptr<const HttpRequest> request,
             std::shared_ptr<OpenAiInference> inference, TimePoint until) const;

  const OpenAiInference::Surroundings around_;
  const int64_t created_;  // of all models, as clients see it: when this server started
};

// OpenAI's form of errors if `path` is of that API, otherwise null.
AnswerForm OpenAiFormOf(absl::string_view path);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_HTTP_OPENAI_ENDPOINT_H_
