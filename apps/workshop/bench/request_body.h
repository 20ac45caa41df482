// SPDX-License-Identifier: Apache-2.0
// The bytes of inference requests in both protocols. Pure functions.
#ifndef NEREID_APPS_WORKSHOP_BENCH_REQUEST_BODY_H_
#define NEREID_APPS_WORKSHOP_BENCH_REQUEST_BODY_H_

#include <absl/status/statusor.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/model_inputs.h"

namespace nereid::bench {

// Where a tensor lies in a region of shared memory.
struct MemoryPlace {
  std::string region;
  size_t offset = 0;
  size_t bytes = 0;
};

// Places of all tensors of a request; empty: they come with the request and its answer.
struct RequestPlaces {
  std::vector<MemoryPlace> inputs;   // in the order of the inputs
  std::vector<MemoryPlace> outputs;  // in the order of the model's outputs
};

// What a request says besides its tensors.
struct RequestParameters {
  // Of a request that is part of a sequence: one of the two ids.
  uint64_t sequence = 0;
  std::string sequence_text;
  bool sequence_start = false;
  bool sequence_end = false;
  uint64_t priority = 0;     // 0: the model's default
  uint64_t timeout_us = 0;   // 0: none
  bool until_final = false;  // gRPC: the server is asked to mark the last response

  bool in_sequence() const { return sequence != 0 || !sequence_text.empty(); }
};

struct HttpBody {
  std::string bytes;
  int64_t header_length = -1;  // of the JSON in front of binary tensors; negative: no binary ones
};

// `json_tensors`: values as JSON, in both directions. INVALID_ARGUMENT for a data type without JSON
// form.
absl::StatusOr<HttpBody> MakeHttpBody(const ModelDescription& model, const RequestInputs& inputs,
                                      const RequestPlaces& places, bool json_tensors,
                                      const RequestParameters& parameters = {});

// The body of generate_stream: the inputs by their names, and nothing else. INVALID_ARGUMENT for a
// data type without JSON form, and for a shape that the server would not make of the number of
// elements.
absl::StatusOr<std::string> MakeGenerateBody(const ModelDescription& model,
                                             const RequestInputs& inputs);

// A serialized ModelInferRequest.
std::string MakeGrpcMessage(const std::string& model_name, const std::string& version,
                            const ModelDescription& model, const RequestInputs& inputs,
                            const RequestPlaces& places, const RequestParameters& parameters);

}  // namespace nereid::bench

#endif  // NEREID_APPS_WORKSHOP_BENCH_REQUEST_BODY_H_
