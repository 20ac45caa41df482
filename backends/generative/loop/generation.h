// SPDX-License-Identifier: Apache-2.0
// Generation: what a request asks for: a prompt, how tokens are chosen, and when they end. A value.
// A prompt may come as text, of which a Tokenizer makes tokens.
#ifndef NEREID_BACKENDS_GENERATIVE_LOOP_GENERATION_H_
#define NEREID_BACKENDS_GENERATIVE_LOOP_GENERATION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/generative/scheduler/block_pool.h"
#include "backends/generative/text/sampler.h"
#include "backends/generative/text/tokenizer.h"
#include "backends/sdk/error.h"
#include "triton/core/tritonbackend.h"

namespace nereid_backend {

inline constexpr const char* kTextInput = "text_input";
inline constexpr const char* kInputIds = "input_ids";
inline constexpr const char* kMaxTokens = "max_tokens";
inline constexpr const char* kSamplingParameters = "sampling_parameters";
inline constexpr const char* kStream = "stream";

struct Generation {
  std::vector<Token> prompt;
  int64_t choices = 1;     // sequences that follow it, each with a random choice of its own
  bool from_text = false;  // the prompt was a text
  int64_t max_tokens = 1;
  bool has_max_tokens = false;  // the request names it
  int64_t min_tokens = 0;       // before these, nothing ends the sequence
  std::vector<Token> stop_tokens;
  std::vector<std::string> stops;  // texts that end the sequence
  bool include_stop = false;       // such a text is part of the answer
  bool ignore_end = false;         // the network's own end tokens do not end the sequence
  SamplingParameters sampling;
  std::optional<uint64_t> seed;
  std::optional<int64_t> logprobs;  // of each new token, and so many of the most probable
  bool stream = false;              // a response for each token
  int64_t priority = 0;             // 1 comes first; 0: the model's default
  std::string tenant;               // gets as many tokens as others of the same priority
  uint64_t timeout_ns = 0;          // ends the request so long after it came; 0: never
};

// What a network allows.
struct GenerationLimits {
  int64_t vocabulary = 0;  // tokens are below it; 0: unknown
  int64_t context = 0;     // prompt and new tokens together; 0: unknown
  int64_t memory = 0;      // tokens for which there are blocks
  int64_t default_max_tokens = 512;
  int64_t default_priority = 1;
  bool one_choice = false;  // the configuration has outputs for a single one
};

// Reads the object of the input sampling_parameters. INVALID_ARG for names and values that are
// unknown.
Error ReadSamplingParameters(std::string_view json, Generation* generation);

// INVALID_ARG with the numbers if `generation` is beyond `limits`.
Error CheckGeneration(const Generation& generation, const GenerationLimits& limits);

// Without max_tokens, the default holds, or as many as there is room for if those are fewer.
void ChooseMaxTokens(const GenerationLimits& limits, Generation* generation);

// Reads the inputs of `request`, and checks them. `tokenizer`: null if the model has none.
Result<Generation> ReadGeneration(TRITONBACKEND_Request* request, const GenerationLimits& limits,
                                  Tokenizer* tokenizer);

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_GENERATIVE_LOOP_GENERATION_H_
