// SPDX-License-Identifier: Apache-2.0
// Reads a request of OpenAI's API into the core's request. Each field is taken, or refused by name;
// none is ignored. docs/protocol/openai.md has them all. Pure functions, thread-safe.
#ifndef NEREID_FRONTENDS_OPENAI_OPENAI_REQUEST_H_
#define NEREID_FRONTENDS_OPENAI_OPENAI_REQUEST_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "frontends/codec/json_parse.h"
#include "frontends/codec/request_buffers.h"
#include "frontends/openai/openai_model.h"
#include "infer/infer_request.h"

namespace nereid {

enum class OpenAiRoute : uint8_t { kCompletions, kChat, kEmbeddings };

// What a request asks of the frontend itself.
struct OpenAiSettings {
  bool stream = false;
  bool include_usage = false;  // of a stream
  bool base64 = false;         // the form of embeddings
  bool logprobs = false;       // how probable tokens were
  size_t top_logprobs = 0;     // and the most probable ones, so many
  size_t choices = 1;          // texts that the model is to make
  size_t texts = 1;            // of which embeddings are wanted
};

// The most texts of one request for embeddings, and the most choices and most probable tokens.
inline constexpr size_t kMaxEmbeddingTexts = 2048;
inline constexpr size_t kMaxChoices = 128;
inline constexpr size_t kMaxTopLogprobs = 20;

// The name in the field "model". INVALID_ARGUMENT for a body that is no object or names no model.
absl::StatusOr<std::string> OpenAiModelName(const JsonValue& body);

// Reads `body`, a request to `route`, for the model of `request`, of which `model` tells. Errors
// name the field (OpenAiFieldError). UNAVAILABLE if there is no memory.
absl::Status ReadOpenAiRequest(OpenAiRoute route, const JsonValue& body, const OpenAiModel& model,
                               InferRequest* request, RequestBuffers* buffers,
                               OpenAiSettings* settings);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_OPENAI_OPENAI_REQUEST_H_
