// SPDX-License-Identifier: Apache-2.0
// OpenAiLogprobs: the member "logprobs" of a choice, made from the elements of a model's output
// logprobs. Such an element is a JSON list with an object for each token: its members have
// the numbers of tokens as names, and have the members `logprob` and `decoded_token`. The first one
// is the token itself, the others are the most probable tokens. Thread-compatible.
#ifndef NEREID_FRONTENDS_OPENAI_OPENAI_LOGPROBS_H_
#define NEREID_FRONTENDS_OPENAI_OPENAI_LOGPROBS_H_

#include <absl/status/status.h>
#include <absl/strings/string_view.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "frontends/codec/json_access.h"
#include "frontends/openai/openai_request.h"

namespace nereid {

class OpenAiLogprobs {
 public:
  // Of a choice of a chat or a completion, with the `top` most probable tokens. In completions they
  // include the token itself, in any case.
  OpenAiLogprobs(OpenAiRoute route, size_t top) : route_(route), top_(top) {}

  // Adds the tokens of an element. INVALID_ARGUMENT, which says what it should be.
  absl::Status Add(absl::string_view element);
  // Whether no token has come since Take.
  bool empty() const { return tokens_.empty(); }
  // The JSON of what has come since the last call; null if that is nothing.
  std::string Take();
  // Estimate of its size.
  uint64_t EstimateSize() const;

 private:
  absl::Status AddToken(const JsonValue& token);

  const OpenAiRoute route_;
  const size_t top_;
  uint64_t offset_ = 0;  // characters of the tokens so far
  // Elements of lists. Of chats there is only the first one, with all in it.
  std::string tokens_;
  std::string logprobs_;
  std::string top_logprobs_;
  std::string offsets_;
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_OPENAI_OPENAI_LOGPROBS_H_
