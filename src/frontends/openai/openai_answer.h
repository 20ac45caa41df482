// SPDX-License-Identifier: Apache-2.0
// OpenAiAnswer: makes the answer to one request of OpenAI's API from the responses of its model:
// one JSON object, or server-sent events. Thread-compatible.
//
// Texts of several responses are parts of one text. Token counts and reasons why a text ended come
// from the outputs num_input_tokens, num_output_tokens and finish_reason, if the model has them.
#ifndef NEREID_FRONTENDS_OPENAI_OPENAI_ANSWER_H_
#define NEREID_FRONTENDS_OPENAI_OPENAI_ANSWER_H_

#include <absl/status/status.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json_writer.h"
#include "frontends/openai/openai_logprobs.h"
#include "frontends/openai/openai_request.h"
#include "infer/response.h"

namespace nereid {

class OpenAiAnswer {
 public:
  struct About {
    std::string id;
    std::string model;
    int64_t created = 0;  // seconds since the Unix epoch
  };

  // Names of tensors come from `model`, which has to serve `route`.
  OpenAiAnswer(OpenAiRoute route, const OpenAiSettings& settings, const OpenAiModel& model,
               About about);

  // Takes what `response` says; `*events` gets the events of a stream. INTERNAL if the model has
  // sent what it should not. REQUIRES: response.status().ok()
  absl::Status Add(const InferResponse& response, std::string* events);

  // ---- A stream.
  // The events before those of the first response; may be none.
  void AppendFirst(std::string* events) const;
  // The events after the last response.
  void AppendLast(std::string* events);
  // The event that ends a stream with an error.
  static std::string ErrorEvent(int http_status, const absl::Status& error);

  // ---- One object.
  absl::Status AppendJson(std::string* json);
  // Estimate of its size.
  uint64_t EstimateSize() const;

 private:
  struct Choice {
    std::string text;           // empty in a stream
    std::string finish_reason;  // empty: the model has not told
    OpenAiLogprobs logprobs;    // in a stream, of the part under way
  };

  absl::Status AddTexts(const InferResponse& response, std::string* events);
  absl::Status AddLogprobs(const InferResponse& response);
  absl::Status AddEmbeddings(const InferResponse& response);
  void AddReasons(const InferResponse& response);
  void AddCounts(const InferResponse& response);

  // The members of an answer or event up to "choices".
  void WriteHead(const char* object, JsonWriter* w) const;
  void WriteUsage(JsonWriter* w) const;
  // An event with one choice; `text`, `logprobs`: what is new; `reason`: null if it has not ended.
  void AppendChunk(size_t index, absl::string_view text, absl::string_view logprobs,
                   const char* reason, std::string* events) const;
  void AppendEvent(absl::string_view json, std::string* events) const;
  const char* ReasonOf(const Choice& choice) const;
  const char* StreamObject() const;

  const OpenAiRoute route_;
  const OpenAiSettings settings_;
  const std::string output_;  // of texts or embeddings
  const About about_;
  std::vector<Choice> choices_;
  std::string embeddings_;  // elements of "data"
  std::optional<uint64_t> prompt_tokens_;
  std::optional<uint64_t> completion_tokens_;
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_OPENAI_OPENAI_ANSWER_H_
