// SPDX-License-Identifier: Apache-2.0
// Generation: what a request asks for: a prompt, how tokens are chosen, and when they end. A value.
#ifndef NEREID_BACKENDS_GENERATIVE_LOOP_GENERATION_H_
#define NEREID_BACKENDS_GENERATIVE_LOOP_GENERATION_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "backends/generative/scheduler/block_pool.h"
#include "backends/generative/text/sampler.h"
#include "backends/sdk/error.h"
#include "triton/core/tritonbackend.h"

namespace nereid_backend {

inline constexpr const char* kInputIds = "input_ids";
inline constexpr const char* kMaxTokens = "max_tokens";
inline constexpr const char* kSamplingParameters = "sampling_parameters";
inline constexpr const char* kStream = "stream";
inline constexpr const char* kOutputIds = "output_ids";

struct Generation {
  std::vector<Token> prompt;
  int64_t max_tokens = 16;
  int64_t min_tokens = 0;  // before these, no token ends the sequence
  std::vector<Token> stop_tokens;
  bool ignore_end = false;  // the network's own end tokens do not end the sequence
  SamplingParameters sampling;
  std::optional<uint64_t> seed;
  bool stream = false;  // a response for each token
};

// What a network allows.
struct GenerationLimits {
  int64_t vocabulary = 0;  // tokens are below it; 0: unknown
  int64_t context = 0;     // prompt and new tokens together; 0: unknown
};

// Reads the object of the input sampling_parameters. INVALID_ARG for names and values that are
// unknown.
Error ReadSamplingParameters(std::string_view json, Generation* generation);

// INVALID_ARG with the numbers if `generation` is beyond `limits`.
Error CheckGeneration(const Generation& generation, const GenerationLimits& limits);

// Reads the inputs of `request`, and checks them.
Result<Generation> ReadGeneration(TRITONBACKEND_Request* request, const GenerationLimits& limits);

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_GENERATIVE_LOOP_GENERATION_H_
